/**
 * What the runs of a killed task leave (X09). Their nodes end them and report them like any other; the first result that
 * comes is taken, and its output and logs are fetched and kept for the owner to look at. It is no vote: the task is over,
 * nothing is decided or counted by it. Best effort, bounded in number and time: what cannot be had is missing, no more.
 *
 * ```
 * kill ──> awaited ──(first result)──> taken ──(fetched)──> left
 *             └── returned, a new link, 10 min ─┴── 3 failures, a new link, 10 min ──> nothing
 * ```
 */
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import type { ReplicaId } from '#protocol/ids'
import type { Result } from '#protocol/result/result'
import { clientOf, keptOutput } from './clients.ts'
import { isPast } from './clock.ts'
import type { Event } from './events.ts'
import { enclose, type Leftover, type Node, owedOf, type Remains, type Replica, type Task } from './model.ts'
import { PULL_LOG_BYTES_MAX, PULL_RETRY_MS, PULL_ROUNDS_MAX, REMAINS_MAX, REMAINS_MS_MAX } from './policy.ts'
import { encodeLeftRecord, encodeOwedRecord, type LeftRecord, leftKey, type OwedRecord, owedKey } from './remains-records.ts'
import type { State } from './state.ts'
import { isLive } from './states.ts'

/** The task is about to be killed: its runs are waited for; what one has reported already is taken at once. */
export function keepRemains(state: State, task: Task, nowMs: number): void {
  const running = task.replicas.filter((replica) => replica.granted && isLive(replica.state))
  const reported = reportedOf(task)
  if (running.length === 0 && reported === undefined) return
  const { id, bundle } = task
  const bytesMax = bundle.needs.diskBytes + PULL_LOG_BYTES_MAX
  const remains: Remains = {
    task: id,
    client: task.batch.client,
    batch: task.batch.id,
    bundle: bundle.cid,
    bytesMax,
    sinceMs: nowMs,
    awaited: new Map(),
    ...NOT_TAKEN
  }
  for (const replica of running) awaitFrom(remains, replica.id, replica.node)
  state.remains.set(id, remains)
  if (reported !== undefined) {
    // What a decided task was fetching already is not asked for twice.
    const taken = leftoverOf(reported)
    if ((task.pull?.asked.length ?? 0) > 0) remains.asking = taken
    take(state, remains, taken)
  } else save(state, remains)
  if (state.remains.size <= REMAINS_MAX) return
  const [, oldest] = state.remains.takeOldest() ?? []
  if (oldest !== undefined) discard(state, oldest)
}

/** A result of a replica of no live task: taken when it is the first of a killed one, else its node may drop what it keeps. */
export function takeRemains(state: State, node: Node, result: Result): void {
  const { replica: id } = result
  const remains = node.owed?.get(id)
  if (remains?.taken?.replica === id) return
  if (remains?.awaited.delete(id) === true) {
    if (remains.taken === null && result.bundle.toString() === remains.bundle) {
      const { exitCode, reason, output, stdout, stderr, bytes } = result
      take(state, remains, { replica: id, node, exitCode, reason, output: String(output), stdout: String(stdout), stderr: String(stderr), bytes })
      return
    }
    node.owed?.delete(id)
    settle(state, remains)
  }
  release(state, node, id)
}

/** Its node will not report this run. */
export function dropAwaited(state: State, node: Node, id: ReplicaId): void {
  const remains = node.owed?.get(id)
  if (remains?.awaited.delete(id) !== true) return
  node.owed?.delete(id)
  settle(state, remains)
}

/** The node began anew: it has nothing any more of what it ran. */
export function forgetRemains(state: State, node: Node): void {
  for (const [id, remains] of [...(node.owed ?? [])]) {
    node.owed?.delete(id)
    remains.awaited.delete(id)
    if (remains.taken?.replica === id) remains.taken = null
    settle(state, remains)
  }
}

/** Answer to a `pull` of a task that is over. */
export function pulledRemains(state: State, { task, ok, bytes }: Extract<Event, { kind: 'pulled' }>, nowMs: number): void {
  const remains = state.remains.get(task)
  if (remains === undefined) return
  const { asking, taken } = remains
  remains.asking = null
  if (taken === null || asking !== taken) {
    ask(state, remains, nowMs)
    return
  }
  if (ok) {
    keep(state, remains, taken, bytes)
    return
  }
  remains.retryAtMs = nowMs + PULL_RETRY_MS
  if (++remains.tries < PULL_ROUNDS_MAX) return
  remains.taken = null
  remains.tries = 0
  taken.node.owed?.delete(taken.replica)
  release(state, taken.node, taken.replica)
  settle(state, remains)
}

/** A node is back: what is to be had from it is asked for at once. */
export function askAgain(state: State, node: Node, nowMs: number): void {
  for (const remains of node.owed?.values() ?? []) {
    if (remains.taken?.node !== node) continue
    remains.retryAtMs = nowMs
    ask(state, remains, nowMs)
  }
}

/** After a restart: everybody is asked, connected or not, since the content may be here already. */
export function resumeRemains(state: State, { task, client, bundle, bytesMax, awaited, taken }: OwedRecord, nowMs: number): void {
  const remains: Remains = {
    task,
    client: clientOf(state, client),
    batch: task.slice(0, task.indexOf('.')),
    bundle,
    bytesMax,
    sinceMs: nowMs,
    awaited: new Map(),
    ...NOT_TAKEN
  }
  state.remains.set(task, remains)
  for (const [id, peer] of awaited) {
    const node = state.nodes.get(peer)
    if (node !== undefined) awaitFrom(remains, id, node)
  }
  const node = taken === null ? undefined : state.nodes.get(taken.node)
  if (taken === null || node === undefined) return
  remains.taken = { ...taken, node }
  owedOf(node).set(taken.replica, remains)
  emit(state, remains, remains.taken)
}

/** The slow sweep: what did not come in its time is given up, what could not be fetched is asked for again. */
export function sweepRemains(state: State, nowMs: number): void {
  for (const remains of [...state.remains.values()]) {
    // By a clock that was set back it is given up no later.
    remains.sinceMs = Math.min(remains.sinceMs, nowMs)
    if (nowMs - remains.sinceMs >= REMAINS_MS_MAX) discard(state, remains)
    else ask(state, remains, nowMs)
  }
}

const NOT_TAKEN = { taken: null, asking: null, tries: 0, retryAtMs: 0 }

/** One whose fetching is under way first, then one that agrees with what was decided, then any. */
function reportedOf(task: Task): Replica | undefined {
  const usable = task.replicas.filter(({ report, spent }) => report !== null && !spent)
  return task.pull?.asked[0] ?? usable.find(({ verdict }) => verdict === 'valid') ?? usable[0]
}

function leftoverOf({ id, node, report }: Replica): Leftover {
  if (report === null) throw new Error(`replica ${id} has not reported`)
  const { exitCode, reason, output, stdout, stderr, bytes } = report
  return { replica: id, node, exitCode, reason, output, stdout, stderr, bytes }
}

function awaitFrom(remains: Remains, id: ReplicaId, node: Node): void {
  remains.awaited.set(id, node)
  owedOf(node).set(id, remains)
}

function take(state: State, remains: Remains, taken: Leftover): void {
  remains.taken = taken
  remains.tries = 0
  remains.retryAtMs = 0
  owedOf(taken.node).set(taken.replica, remains)
  if (taken.output === EMPTY_DIRECTORY && taken.stdout === EMPTY_FILE && taken.stderr === EMPTY_FILE) {
    keep(state, remains, taken, 0)
    return
  }
  save(state, remains)
  ask(state, remains, 0)
}

function ask(state: State, remains: Remains, nowMs: number): void {
  const { taken, asking, retryAtMs } = remains
  if (taken !== null && asking === null && taken.node.connected && isPast(retryAtMs, PULL_RETRY_MS, nowMs)) emit(state, remains, taken)
}

function emit(state: State, remains: Remains, taken: Leftover): void {
  remains.asking = taken
  const { task, bytesMax } = remains
  const { node, output, stdout, stderr } = taken
  state.out.effect({ kind: 'pull', task, nodes: [node.id], output, stdout, stderr, bytesMax })
}

/** It is here: the owner is shown it from now on, and the other runs need not be waited for. */
function keep(state: State, remains: Remains, taken: Leftover, bytes = taken.bytes): void {
  const { task, client, batch } = remains
  keptOutput(state, client, bytes)
  state.out.put(leftKey(task), encodeLeftRecord(recordOf(taken)))
  discard(state, remains)
  state.out.effect({ kind: 'changed', batch, task })
}

function settle(state: State, remains: Remains): void {
  if (remains.taken === null && remains.awaited.size === 0) discard(state, remains)
  else save(state, remains)
}

/** Nothing more is waited for. Those that report later are told then that they may drop theirs. */
function discard(state: State, { task, awaited, taken }: Remains): void {
  for (const [id, node] of awaited) node.owed?.delete(id)
  if (taken !== null) {
    taken.node.owed?.delete(taken.replica)
    release(state, taken.node, taken.replica)
  }
  state.remains.delete(task)
  state.out.delete(owedKey(task))
}

function save(state: State, { task, client, bundle, bytesMax, awaited, taken }: Remains): void {
  const record: OwedRecord = {
    task,
    client: client.id,
    bundle,
    bytesMax,
    awaited: Array.from(awaited, ([id, node]) => [id, node.id] as const),
    taken: taken === null ? null : recordOf(taken)
  }
  state.out.put(owedKey(task), encodeOwedRecord(record))
}

function recordOf(left: Leftover): LeftRecord {
  return { ...left, node: left.node.id }
}

/** Nothing of it is wanted: its node may drop what it has, and so may those that keep it for that node. */
export function release(state: State, node: Node, id: ReplicaId): void {
  const keepers = state.keepers.size === 0 ? undefined : state.keepers.get(id)
  state.keepers.delete(id)
  for (const one of keepers === undefined ? [node] : [node, ...keepers]) {
    enclose(one, 'release', id)
    state.out.speak(one)
  }
}
