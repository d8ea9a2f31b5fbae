/** From a seed to a case. Every rate is drawn too, many of them zero: a swarm of worlds finds more than one average world. */
import { type CopyRule, DEFAULT_POLICY, type TaskPolicy } from '#protocol/bundle/policy'
import { drawOf, REGION_MIX } from '../population/availability.ts'
import { type AccessLine, drawAccessLine, drawAccessNetwork, drawLatencyMs } from '../population/network.ts'
import { COMPARATOR } from '../protocol/comparators.ts'
import { RELAYS } from '../protocol/homes.ts'
import type { Role } from '../protocol/service.ts'
import { MORE_MEMORY_BYTES, type TaskKind } from '../protocol/truth.ts'
import { Random } from '../random.ts'
import {
  type BatchCase,
  type Case,
  CPUS,
  type Fault,
  type FaultKind,
  FLOOD_ACTS,
  HOSTILE_ACTS,
  NODE_FAULTS,
  type NodeCase,
  OWNER_ACTS,
  RELAY_FAULTS,
  SERVER_FAULTS,
  TAG,
  type TaskCase
} from './case.ts'

/** Of the kinds of fault, each seed has about this share; the others do not occur in it. */
const KINDS_SHARE = 0.35
/** A kind that occurs does so this often in a small world, at most. */
const TIMES_MAX = 5

/** How much a way from home varies. */
const JITTER_MS = 5

const POLICIES: readonly Partial<TaskPolicy>[] = [
  {},
  {},
  { minQuorum: 1, targetResults: 1 },
  { minQuorum: 2, targetResults: 3 },
  { minQuorum: 3, targetResults: 3, maxSuccessResults: 5, maxTotalResults: 6 },
  { maxErrorResults: 1, maxTotalResults: 3, priority: 1 },
  { maxSuccessResults: 3, maxTotalResults: 4 },
  { minQuorum: 1, targetResults: 2, maxErrorResults: 8, priority: -3 }
]

const KINDS: readonly TaskKind[] = ['plain', 'silent', 'broken', 'chatty', 'dice']
/** Most worlds are so small that no more than one task is among the last of its batch. */
const COPIES: readonly CopyRule[] = ['tail', 'tail', 'idle', 'never']

interface Size {
  readonly nodesMax: number
  readonly tasksMax: number
  readonly faultsMsMax: number
}

const SMALL: Size = { nodesMax: 9, tasksMax: 14, faultsMsMax: 150_000 }
const MEDIUM: Size = { nodesMax: 25, tasksMax: 60, faultsMsMax: 400_000 }
const LARGE: Size = { nodesMax: 80, tasksMax: 200, faultsMsMax: 900_000 }

/** Most worlds are small: they fail for the same reasons, sooner, and can be read. */
export function drawCase(seed: number, size?: Size): Case {
  const dice = new Random('protocol', seed)
  const draw = dice.float()
  return drawSized(seed, dice, size ?? (draw < 0.85 ? SMALL : draw < 0.97 ? MEDIUM : LARGE))
}

function drawSized(seed: number, dice: Random, size: Size): Case {
  const faultsMs = 20_000 + dice.below(size.faultsMsMax - 20_000)
  const classes = dice.fork('classes')
  const alike = classes.chance(0.25)
  const drawn = drawHomes(dice.fork('homes'), drawNodes(dice.fork('nodes'), size))
  const unruly = drawUnruly(dice.fork('unruly'), drawn)
  const nodes = alike ? unruly.map((node) => (classes.chance(0.9) ? { ...node, cpu: classes.pick(CPUS) } : node)) : unruly
  const plain = drawNoise(dice.fork('noise'), drawBatches(dice.fork('batches'), { ...size, faultsMs }))
  const snapped = drawSnapshots(dice.fork('snapshots'), plain)
  const noisy = drawHunger(dice.fork('hunger'), drawHangs(dice.fork('hangs'), snapped))
  const batches = alike ? noisy.map((batch) => (classes.chance(0.6) ? { ...batch, policy: { ...batch.policy, sameClass: 'cpu' as const } } : batch)) : noisy
  const hostile = dice.chance(0.35) ? 1 + dice.below(2) : 0
  const away = drawAway(dice.fork('away'), { faultsMs, nodes: nodes.length })
  return {
    seed,
    ...(away.neighbours === 0 ? {} : { neighbours: away.neighbours }),
    ...drawTrust(
      dice.fork('trust'),
      drawTags(
        dice.fork('tags'),
        drawOrigins(dice.fork('origins'), {
          nodes,
          batches: drawClients(dice.fork('clients'), drawSeals(dice.fork('seals'), drawGraphs(dice.fork('graphs'), batches)))
        })
      )
    ),
    hostile,
    faults: inOrder(
      away.faults,
      drawFaults(dice.fork('faults'), {
        relays: nodes.some(({ home }) => home !== undefined) ? RELAYS : 0,
        timesMax: Math.ceil((TIMES_MAX * size.nodesMax) / SMALL.nodesMax),
        faultsMs,
        nodes: nodes.length,
        batches: batches.length,
        hostile
      })
    ),
    faultsMs
  }
}

function inOrder(...faults: readonly (readonly Fault[])[]): Fault[] {
  return faults.flat().sort((a, b) => a.atMs - b.atMs)
}

/** In some worlds nodes may leave results with others, and in most of those the project is away for long and nodes leave meanwhile. */
function drawAway(dice: Random, { faultsMs, nodes }: Pick<Field, 'faultsMs' | 'nodes'>): { readonly neighbours: number; readonly faults: readonly Fault[] } {
  if (!dice.chance(0.4)) return { neighbours: 0, faults: [] }
  const neighbours = 2 + dice.below(3)
  if (!dice.chance(0.7)) return { neighbours, faults: [] }
  const awayMs = 1_000 + dice.below(faultsMs >> 1)
  const forMs = 15_000 + dice.below(90_000)
  const faults: Fault[] = [{ atMs: awayMs, kind: 'server_away', target: 0, forMs, amount: 0 }]
  for (let target = 0; target < nodes; target++) {
    const own = dice.fork(target)
    if (!own.chance(0.4)) continue
    faults.push({ atMs: awayMs + own.below(forMs), kind: 'leave', target, forMs: 1_000 + own.below(60_000), amount: own.below(1_000_000) })
  }
  return { neighbours, faults }
}

type Drawn = Pick<Case, 'nodes' | 'batches' | 'project'>

/** In some worlds nodes share networks, and some batches ask for independent ones; most let few in that nothing is known of. */
function drawOrigins(dice: Random, { nodes, batches }: Drawn): Drawn {
  if (!dice.chance(0.3)) return { nodes, batches }
  const networks = 1 + dice.below(4)
  return {
    nodes: nodes.map((node) => (dice.chance(0.7) ? { ...node, network: dice.below(networks) } : node)),
    batches: batches.map((batch) => (dice.chance(0.5) ? { ...batch, policy: { ...batch.policy, independence: 'require' } } : batch)),
    ...(dice.chance(0.7) ? { project: { newcomersMax: 1 + dice.below(4) } } : {})
  }
}

/** In some worlds some nodes have a tag, some of them keep away all that do not ask for it, and some batches do. */
function drawTags(dice: Random, { nodes, batches, ...rest }: Drawn): Drawn {
  if (!dice.chance(0.25)) return { nodes, batches, ...rest }
  return {
    ...rest,
    nodes: nodes.map((node) => (dice.chance(0.5) ? { ...node, tag: dice.chance(0.4) ? 'exclusive' : 'plain' } : node)),
    batches: batches.map((batch) => (dice.chance(0.5) ? { ...batch, policy: { ...batch.policy, tags: [TAG] } } : batch))
  }
}

/** In some worlds several clients share the project, and in some of theirs tasks must be done in a time that most nodes can keep. */
function drawClients(dice: Random, batches: readonly BatchCase[]): readonly BatchCase[] {
  const clients = dice.chance(0.4) ? 2 + dice.below(2) : 1
  const due = dice.chance(0.3)
  return batches.map((batch, index) => {
    const own = dice.fork(index)
    const client = own.below(clients)
    const policy = due && own.chance(0.6) ? { ...batch.policy, deadlineMs: 150_000 + own.below(1_000_000) } : batch.policy
    return { ...batch, policy, ...(client === 0 ? {} : { client }) }
  })
}

/** In some worlds tasks take what others leave. */
function drawGraphs(dice: Random, batches: readonly BatchCase[]): readonly BatchCase[] {
  const share = dice.chance(0.25) ? 0.2 + 0.6 * dice.float() : 0
  if (share === 0) return batches
  return batches.map((batch, index) => {
    const own = dice.fork(index)
    const tasks = batch.tasks.map((task) => {
      if (!own.chance(share)) return task
      const takes = [...new Set(Array.from({ length: 1 + own.below(3) }, () => 1 + own.below(4)))]
      return { ...task, takes, allowFailed: own.chance(0.3) }
    })
    return { ...batch, tasks }
  })
}

/** In some worlds outputs differ a little, and mostly that is allowed. */
function drawNoise(dice: Random, batches: readonly BatchCase[]): BatchCase[] {
  const noise = dice.chance(0.3) ? dice.float() : 0
  return batches.map((batch, index) => {
    const own = dice.fork(index)
    if (!own.chance(noise)) return batch
    const tasks = batch.tasks.map((task) => (own.chance(0.7) ? { ...task, kind: 'noisy' as const } : task))
    return { ...batch, tasks, policy: { ...batch.policy, compare: own.chance(0.8) ? (own.chance(0.4) ? COMPARATOR : TOLERANT) : null } }
  })
}

/** In some worlds runs take long and leave snapshots, from which others go on. */
function drawSnapshots(dice: Random, batches: readonly BatchCase[]): readonly BatchCase[] {
  if (!dice.chance(0.3)) return batches
  return batches.map((batch, index) => {
    const own = dice.fork(index)
    if (!own.chance(0.7)) return batch
    const tasks = batch.tasks.map((task) => (own.chance(0.6) ? { ...task, runMs: 4_000 + own.below(40_000) } : task))
    return { ...batch, tasks, policy: { ...batch.policy, checkpointMs: 1_000 + own.below(4_000) } }
  })
}

/** In some worlds there are tasks of which most runs hang. */
function drawHangs(dice: Random, batches: readonly BatchCase[]): BatchCase[] {
  const share = dice.chance(0.2) ? 0.1 + 0.5 * dice.float() : 0
  return batches.map((batch, index) => {
    const own = dice.fork(index)
    return share === 0 ? batch : { ...batch, tasks: batch.tasks.map((task) => (own.chance(share) ? { ...task, kind: 'fragile' as const } : task)) }
  })
}

/** In some worlds there are tasks that need more memory than they ask for, and mostly may have more. */
function drawHunger(dice: Random, batches: readonly BatchCase[]): BatchCase[] {
  const share = dice.chance(0.2) ? 0.2 + 0.8 * dice.float() : 0
  return batches.map((batch, index) => {
    const own = dice.fork(index)
    if (share === 0) return batch
    const tasks = batch.tasks.map((task) =>
      own.chance(share) ? { ...task, kind: 'hungry' as const, name: `h${own.chance(0.8) ? 1 : 0}`, runMs: 1_000 } : task
    )
    // What is submitted again may ask for one more.
    const maxTotalResults = Math.max(batch.policy.maxTotalResults, 3 * (batch.policy.targetResults + 1))
    const more = own.chance(0.8) ? { retryMemoryBytes: MORE_MEMORY_BYTES } : {}
    return { ...batch, tasks, policy: { ...batch.policy, maxTotalResults, ...more, guessMemory: own.chance(0.7), force: own.chance(0.8) } }
  })
}

const TOLERANT = { kind: 'tolerance' as const, rules: { abs: 4, rel: 0, files: [] } }

/** In some worlds nodes commit themselves to what they say, first. */
function drawSeals(dice: Random, batches: readonly BatchCase[]): readonly BatchCase[] {
  if (!dice.chance(0.3)) return batches
  return batches.map((batch) => (dice.chance(0.7) ? { ...batch, policy: { ...batch.policy, commit: true } } : batch))
}

/** In some worlds nodes are soon believed, or votes are weighed. */
function drawTrust(dice: Random, { nodes, batches, project }: Drawn): Drawn {
  if (!dice.chance(0.3)) return { nodes, batches, ...(project === undefined ? {} : { project }) }
  const weighed = { doubtPpm: 10_000, maxTotalResults: 12, maxSuccessResults: 10 }
  const trusting = batches.map((batch) => {
    const adaptive = dice.chance(0.7)
    const weighs = dice.chance(0.3)
    // Weighed votes need many nodes, and those of one class are too few here.
    if (batch.policy.compare !== null || batch.policy.sameClass !== 'no') return batch
    return { ...batch, policy: { ...batch.policy, adaptive, ...(weighs ? weighed : {}) } }
  })
  return { nodes, batches: trusting, project: { ...project, trustedAfter: 1 + dice.below(3) } }
}

function drawNodes(dice: Random, { nodesMax }: Size): NodeCase[] {
  const count = 3 + dice.below(nodesMax - 2)
  const liars = dice.chance(0.5) ? 0 : dice.float() * 0.5
  const far = dice.chance(0.3) ? 300 : 60
  const loss = dice.chance(0.5) ? 0 : dice.float() * 0.1
  const skewed = dice.chance(0.4)
  const lines = dice.chance(0.3)
  return Array.from({ length: count }, (_, index) => {
    const own = dice.fork(index)
    const role: Role = own.chance(liars) ? own.pick(['wrong', 'colluding', 'copying'] as const) : 'honest'
    return {
      name: `node ${index}`,
      role,
      slots: 1 + own.below(3),
      delayMs: 1 + own.below(far),
      jitterMs: own.below(far),
      loss,
      patienceMs: 5_000 + own.below(55_000),
      clockOffsetMs: skewed ? Math.round((own.float() - 0.5) * 172_800_000) : 0,
      clockPerMille: skewed ? 990 + own.below(21) : 1000,
      joinsMs: own.chance(0.7) ? 0 : own.below(30_000),
      ...(lines ? linesOf(drawAccessLine(own.fork('line'))) : {})
    }
  })
}

/** In some worlds the frames of control streams do not all come once and in order. */
function drawUnruly(dice: Random, nodes: NodeCase[]): NodeCase[] {
  if (!dice.chance(0.15)) return nodes
  const rate = (): number => (dice.chance(0.3) ? 0 : 0.2 * dice.float())
  const unruly = { lost: rate(), doubled: rate(), late: rate() }
  return nodes.map((node) => (dice.chance(0.7) ? { ...node, unruly } : node))
}

/** In half of the worlds nodes are at homes as there are: with their lines, their routers, and their distance to a project in Europe. */
function drawHomes(dice: Random, nodes: NodeCase[]): NodeCase[] {
  if (!dice.chance(0.5)) return nodes
  return nodes.map((node, index) => {
    const own = dice.fork(index)
    const region = drawOf(own, REGION_MIX)
    const line = drawAccessLine(own.fork('line'))
    const delayMs = Math.round(drawLatencyMs(own, region, 'europe'))
    return { ...node, delayMs, jitterMs: JITTER_MS, loss: line.loss, ...linesOf(line), home: { region, ...drawAccessNetwork(own.fork('network')) } }
  })
}

function linesOf({ upBytesPerS, downBytesPerS }: AccessLine): { readonly upBytesPerMs: number; readonly downBytesPerMs: number } {
  return { upBytesPerMs: upBytesPerS / 1000, downBytesPerMs: downBytesPerS / 1000 }
}

function drawBatches(dice: Random, { tasksMax, faultsMs }: Size & { readonly faultsMs: number }): BatchCase[] {
  const names = dice.chance(0.3) ? 2 : 1000
  const longest = dice.pick([300, 3_000, 30_000])
  return Array.from({ length: 1 + dice.below(3) }, (_, index) => {
    const own = dice.fork(index)
    const mix: readonly TaskKind[] = own.chance(0.4) ? ['plain'] : KINDS
    const tasks: TaskCase[] = Array.from({ length: 1 + own.below(tasksMax) }, (_task, at) => {
      const late = own.chance(0.02) ? 90_000 : own.below(longest)
      return { kind: own.pick(mix), name: `${index}/${at % names}`, runMs: late, needsInput: own.chance(0.2) }
    })
    return {
      atMs: index === 0 ? 100 : own.below(faultsMs),
      parts: own.chance(0.7) ? 1 : 1 + own.below(4),
      tasks,
      policy: { ...DEFAULT_POLICY, ...own.pick(POLICIES), copies: own.fork('copies').pick(COPIES) }
    }
  })
}

interface Field {
  readonly faultsMs: number
  readonly nodes: number
  readonly batches: number
  readonly hostile: number
  readonly relays: number
  readonly timesMax: number
}

function drawFaults(dice: Random, { timesMax, faultsMs, nodes, batches, hostile, relays }: Field): Fault[] {
  const faults: Fault[] = []
  const share = dice.float() * 2 * KINDS_SHARE
  const add = (kind: FaultKind, targets: number): void => {
    const own = dice.fork(kind)
    if (!own.chance(share)) return
    const times = 1 + own.below(timesMax)
    for (let time = 0; time < times; time++)
      faults.push({ atMs: 500 + own.below(faultsMs), kind, target: own.below(Math.max(1, targets)), forMs: lasting(own), amount: own.below(1_000_000) })
  }
  for (const kind of NODE_FAULTS) add(kind, nodes)
  for (const kind of SERVER_FAULTS) add(kind, 1)
  for (const kind of OWNER_ACTS) add(kind, kind === 'ban_node' ? nodes : batches)
  if (relays > 0) for (const kind of RELAY_FAULTS) add(kind, relays)
  if (hostile > 0) for (const kind of [...HOSTILE_ACTS, ...FLOOD_ACTS]) add(kind, hostile)
  return faults.sort((a, b) => a.atMs - b.atMs)
}

/** Most are short, some outlast every time limit. */
function lasting(dice: Random): number {
  return Math.round(dice.pick([200, 2_000, 10_000, 40_000]) * (0.2 + dice.float()))
}
