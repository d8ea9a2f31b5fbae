/** A stack case: computers, work and faults of a run, as data; and how a seed is drawn into one. */
import type { BatchCase, NodeCase } from '../faults/case.ts'
import { drawCase } from '../faults/draw.ts'
import { Random } from '../random.ts'

/** Keepers that new hosts begin with. */
export const BOOTSTRAPS = 3
/** Fewer cannot hold the bootstrap peers, the project and a volunteer or two. */
export const COMPUTERS_MIN = 8

export const STACK_FAULTS = [
  'cut',
  'cut_unheard',
  'block',
  'block_up',
  'block_down',
  'slow_path',
  'crash',
  'power_loss',
  'wipe',
  'stop',
  'leave',
  'keeper_crash',
  'keeper_stop',
  'keeper_leave',
  'bootstrap_dies',
  'server_crash',
  'server_power_loss',
  'server_stop',
  'server_restart',
  'server_moves',
  'split',
  'kill_batch'
] as const

export type StackFaultKind = (typeof STACK_FAULTS)[number]

export interface StackFault {
  readonly atMs: number
  readonly kind: StackFaultKind
  /** Index of a computer of its kind. */
  readonly target: number
  readonly forMs: number
  readonly amount: number
}

export interface StackCase {
  readonly seed: number
  /** Lines of the hosts that keep the DHT; the first three are known to all others. One that joins before the beginning never comes, as of the nodes. */
  readonly keepers: readonly NodeCase[]
  readonly server: NodeCase
  readonly nodes: readonly NodeCase[]
  /** Which nodes were given the project's first address; the others find it in the DHT. */
  readonly pinned: readonly number[]
  readonly batches: readonly BatchCase[]
  readonly faults: readonly StackFault[]
  readonly faultsMs: number
}

/** Of the kinds of fault, each seed has about this share. */
const KINDS_SHARE = 0.6
const TASKS_MAX = 40
const FAULTS_MS_MIN = 60_000
const FAULTS_MS_MAX = 180_000
/** Records of the DHT are not believed an hour before their time. */
const CLOCK_OFFSET_MS_MAX = 20 * 60_000

/** `computers` in all: the project's, an eighth of the others keep the DHT (three at least), the rest are volunteers. */
export function drawStackCase(seed: number, computers: number): StackCase {
  const dice = new Random('stack', seed)
  const keepers = Math.max(BOOTSTRAPS, Math.floor(computers / 8))
  const nodes = computers - 1 - keepers
  const { batches, faultsMs } = drawCase(seed, { nodesMax: nodes, tasksMax: TASKS_MAX, faultsMsMax: FAULTS_MS_MAX })
  const endMs = Math.max(FAULTS_MS_MIN, faultsMs)
  const lines = drawLines(dice.fork('lines'))
  return {
    seed,
    keepers: Array.from({ length: keepers }, (_, index) => lines(`keeper ${index}`)),
    server: lines('the server'),
    nodes: Array.from({ length: nodes }, (_, index) => lines(`node ${index}`)),
    pinned: Array.from({ length: nodes }, (_, index) => index).filter((index) => dice.fork('pinned', index).chance(0.25)),
    // Classes of processors and tags are the protocol level's: no node has any here, and tasks that ask for them would wait for ever.
    batches: batches.map((batch) => ({ ...batch, policy: { ...batch.policy, sameClass: 'no', tags: [] } })),
    faults: drawFaults(dice.fork('faults'), { faultsMs: endMs, computers, keepers, nodes, batches: batches.length }),
    faultsMs: endMs
  }
}

function drawLines(dice: Random): (name: string) => NodeCase {
  const far = dice.chance(0.3) ? 150 : 40
  const loss = dice.chance(0.5) ? 0 : dice.float() * 0.03
  const skewed = dice.chance(0.4)
  return (name) => {
    const own = dice.fork(name)
    return {
      name,
      role: 'honest',
      slots: 1 + own.below(3),
      delayMs: 1 + own.below(far),
      jitterMs: own.below(far),
      loss,
      patienceMs: 10_000 + own.below(50_000),
      clockOffsetMs: skewed ? Math.round((own.float() - 0.5) * 2 * CLOCK_OFFSET_MS_MAX) : 0,
      clockPerMille: skewed ? 995 + own.below(11) : 1000,
      joinsMs: own.below(own.chance(0.7) ? 3_000 : 40_000)
    }
  }
}

interface Field {
  readonly faultsMs: number
  readonly computers: number
  readonly keepers: number
  readonly nodes: number
  readonly batches: number
}

function drawFaults(dice: Random, { faultsMs, computers, keepers, nodes, batches }: Field): StackFault[] {
  const share = dice.float() * 2 * KINDS_SHARE
  const faults = STACK_FAULTS.flatMap((kind): StackFault[] => {
    const own = dice.fork(kind)
    if (!own.chance(share)) return []
    const few = kind.startsWith('server') || kind === 'split' || kind === 'bootstrap_dies' || kind === 'kill_batch'
    const times = 1 + own.below(few ? 2 : Math.max(2, Math.ceil(computers / 6)))
    const targets = kind === 'bootstrap_dies' ? BOOTSTRAPS : kind.startsWith('keeper') ? keepers : kind === 'kill_batch' ? batches : nodes
    return Array.from({ length: times }, () => ({
      atMs: 5_000 + own.below(faultsMs - 5_000),
      kind,
      target: own.below(Math.max(1, targets)),
      forMs: Math.round(own.pick([500, 5_000, 20_000, 60_000]) * (0.2 + own.float())),
      amount: own.below(1_000_000)
    }))
  })
  return faults.sort((a, b) => a.atMs - b.atMs)
}

/** A fault in words, for the story of a failure. */
export function describe({ kind, target, forMs, amount }: StackFault): string {
  const lasts = `for ${(forMs / 1000).toFixed(1)} s`
  const words: Readonly<Record<StackFaultKind, string>> = {
    cut: `a connection of node ${target} breaks`,
    cut_unheard: `a connection of node ${target} breaks, and one end is not told`,
    block: `node ${target} is cut off ${lasts}`,
    block_up: `nothing leaves node ${target} ${lasts}`,
    block_down: `nothing reaches node ${target} ${lasts}`,
    slow_path: `all to and from node ${target} takes ${amount % 2_000} ms longer ${lasts}`,
    crash: `node ${target} is killed and started again`,
    power_loss: `the computer of node ${target} loses power ${lasts}`,
    wipe: `node ${target} comes back with an empty disk`,
    stop: `node ${target} is stopped ${lasts}`,
    leave: `node ${target} leaves in order and comes back ${lasts} later`,
    keeper_crash: `keeper ${target} is killed and started again`,
    keeper_stop: `keeper ${target} is stopped ${lasts}`,
    keeper_leave: `keeper ${target} leaves in order and comes back`,
    bootstrap_dies: `the bootstrap peer ${target} is gone until the faults stop`,
    server_crash: 'the server is killed and started again',
    server_power_loss: `the server's computer loses power ${lasts}`,
    server_stop: `the server is stopped ${lasts}`,
    server_restart: 'the server ends in order and is started again',
    server_moves: 'the server moves to another address, and only its record says where',
    split: `the internet falls apart ${lasts}`,
    kill_batch: `the owner kills batch ${target}`
  }
  return words[kind]
}
