/** What cases of every level can do with less of: time, nodes, batches, faults, tasks, and what is the matter with the nodes that are left. */
import { type Failure, type Judged, type Pass, type Smaller, shrink } from '../shrink.ts'
import { type BatchCase, comes, type NodeCase } from './case.ts'

interface Parts {
  readonly nodes: readonly NodeCase[]
  readonly batches: readonly BatchCase[]
  readonly faults: readonly { readonly atMs: number }[]
  readonly faultsMs: number
}

/** What of a run is looked at: virtual milliseconds, and events. */
export type Looked = Judged & { readonly ms: number; readonly events: number }

export interface CasePorts<One, Ran> {
  readonly run: (one: One) => Promise<Ran>
  /** Attempts in all. */
  readonly runsMax: number
  readonly stopped: () => boolean
}

/** In all, in events: half a minute's at the protocol level, two minutes' at the stack level. More, where the failing run was long itself. */
const EVENTS_MAX = 1_000_000
const EVENTS_TIMES_MAX = 6
const TIME_SHARES = [0.25, 0.5, 0.75]
const NEVER = -1

/** The smallest case found that fails alike, and what it does. `first` leaves out what only its level has. */
export function shrinkParts<One extends Parts, Ran extends Looked>(
  failure: Failure<One, Ran>,
  ports: CasePorts<One, Ran>,
  first: Pass<One, Ran>
): Promise<Failure<One, Ran>> {
  const costMax = Math.max(EVENTS_MAX, EVENTS_TIMES_MAX * failure.ran.events)
  const bounded = { ...ports, costMax, costOf: ({ events }: Ran) => events, keyOf: (one: One) => JSON.stringify(one) }
  return shrink(failure, bounded, async (smaller) => {
    await first(smaller)
    await leaveOut(smaller)
  })
}

/** What makes further attempts cheap comes first. */
async function leaveOut<One extends Parts, Ran extends Looked>(smaller: Smaller<One, Ran>): Promise<void> {
  const now = (): One => smaller.failure.world
  const { ms } = smaller.failure.ran
  if (ms < now().faultsMs) await smaller.take(until(now(), ms))
  await smaller.fewer(present(now().nodes), (kept) => ({ ...now(), nodes: only(now().nodes, kept) }))
  const batches = now().batches.flatMap(({ tasks }, index) => (tasks.length === 0 ? [] : [index]))
  await smaller.fewer(batches, (kept) => ({ ...now(), batches: now().batches.map((batch, index) => (kept.includes(index) ? batch : { ...batch, tasks: [] })) }))
  await smaller.fewer(now().faults, (faults) => ({ ...now(), faults }))
  for (const [index, { tasks }] of now().batches.entries())
    await smaller.fewer(tasks, (kept) => ({ ...now(), batches: now().batches.map((batch, at) => (at === index ? { ...batch, tasks: kept } : batch)) }))
  await smaller.first(TIME_SHARES.map((share) => ({ ...now(), faultsMs: Math.round(now().faultsMs * share) })))
  for (const plainer of PLAINER) await smaller.take({ ...now(), nodes: now().nodes.map(plainer) })
}

/** The names of those that come. */
export function present(nodes: readonly NodeCase[]): readonly string[] {
  return nodes.filter(comes).map(({ name }) => name)
}

/** The others never come. They keep their places: what is drawn for one does not depend on who else is there. */
export function only(nodes: readonly NodeCase[], names: readonly string[]): readonly NodeCase[] {
  return nodes.map((node) => (names.includes(node.name) ? node : { ...node, joinsMs: NEVER }))
}

/** Nodes with which less is the matter. */
const PLAINER: readonly ((node: NodeCase) => NodeCase)[] = [
  ({ unruly: _, ...node }) => node,
  (node) => ({ ...node, role: 'honest' }),
  ({ home: _home, upBytesPerMs: _up, downBytesPerMs: _down, ...node }) => node,
  (node) => ({ ...node, clockOffsetMs: 0, clockPerMille: 1000, loss: 0 })
]

/** Without what would come later than it failed: up to there all is as it was. */
function until<One extends Parts>(one: One, ms: number): One {
  return {
    ...one,
    nodes: one.nodes.map((node) => (node.joinsMs > ms ? { ...node, joinsMs: NEVER } : node)),
    batches: one.batches.map((batch) => (batch.atMs > ms ? { ...batch, tasks: [] } : batch)),
    faults: one.faults.filter(({ atMs }) => atMs <= ms),
    faultsMs: ms
  }
}
