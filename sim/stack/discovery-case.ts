/**
 * Nodes that know nothing of a project but its id and three bootstrap peers, one of which is gone, come to an internet of
 * public hosts that keep the DHT, of which some vanish and come back all the time.
 */
import { type NodeCase, nodeCase } from '../faults/case.ts'
import { Random } from '../random.ts'
import { BOOTSTRAPS, type StackCase, type StackFault } from './case.ts'

/** Of all hosts so many have a public address of their own, and keep the DHT: the others only dial, whatever their routers are. */
const PUBLIC_SHARE = 0.08
/** With fewer there is no DHT to speak of. */
const KEEPERS_MIN = 5
/** From a computer to the backbone, one way: its region and its own line. Two of them are 6 to 140 ms, and what the lines add. */
const REGIONS_MS: readonly number[] = [3, 20, 45, 70]
const LINE_MS = { median: 8, sigma: 0.7 }
/** Wired, and over the air. */
const LOSS = { wired: 0.001, radio: 0.01, radioShare: 0.4 }
/** The hosts of the DHT are all there by then, and one bootstrap peer is gone for good. */
const WARM_MS = 60_000
const DIES_AT_MS = 40_000
/** Nodes come one after the other, so far apart. */
const APART_MS = 60
/** A host of the DHT is there so long, and away so long, on average: an eighth of them is away, half of those without a word. Far faster than life, so that tables hold the dead. */
const UP_MS = 280_000
const AWAY_MS = 40_000
/** After the last has come. */
const PATIENCE_MS = 60_000

export interface Discovery {
  readonly case: StackCase
  /** Until then it is looked at. */
  readonly endMs: number
}

export function drawDiscovery(seed: number, computers: number): Discovery {
  const dice = new Random('discovery', seed)
  const keepers = Math.max(KEEPERS_MIN, Math.round(computers * PUBLIC_SHARE))
  const nodes = computers - 1 - keepers
  const endMs = WARM_MS + nodes * APART_MS + PATIENCE_MS
  const line = (name: string, joinsMs: number): NodeCase => drawLine(dice.fork('line', name), name, joinsMs)
  return {
    endMs,
    case: {
      seed,
      keepers: Array.from({ length: keepers }, (_, index) => line(`keeper ${index}`, 0)),
      server: line('the server', 5_000),
      nodes: Array.from({ length: nodes }, (_, index) => line(`node ${index}`, WARM_MS + index * APART_MS)),
      pinned: [],
      batches: [],
      faults: drawFaults(dice.fork('faults'), keepers, endMs),
      faultsMs: endMs
    }
  }
}

function drawLine(dice: Random, name: string, joinsMs: number): NodeCase {
  const delayMs = Math.round(dice.pick(REGIONS_MS) + dice.logNormal(Math.log(LINE_MS.median), LINE_MS.sigma))
  const loss = dice.chance(LOSS.radioShare) ? LOSS.radio : LOSS.wired
  return nodeCase(name, { delayMs, jitterMs: 5, loss, joinsMs })
}

function drawFaults(dice: Random, keepers: number, endMs: number): StackFault[] {
  const fault = (atMs: number, rest: Pick<StackFault, 'kind' | 'target' | 'forMs' | 'amount'>): StackFault => ({ atMs: Math.round(atMs), ...rest })
  const dies = fault(DIES_AT_MS, { kind: 'bootstrap_dies', target: dice.below(BOOTSTRAPS), forMs: 0, amount: 0 })
  const churn: StackFault[] = []
  for (let target = BOOTSTRAPS; target < keepers; target++) {
    const own = dice.fork('churn', target)
    const lasts = (ms: number): number => -ms * Math.log(1 - own.float())
    for (let atMs = own.chance(AWAY_MS / UP_MS) ? DIES_AT_MS : DIES_AT_MS + lasts(UP_MS); atMs < endMs; ) {
      const forMs = Math.round(lasts(AWAY_MS))
      churn.push(fault(atMs, { kind: 'keeper_crash', target, forMs, amount: own.below(2) }))
      atMs += forMs + lasts(UP_MS)
    }
  }
  return [dies, ...churn].sort((a, b) => a.atMs - b.atMs)
}
