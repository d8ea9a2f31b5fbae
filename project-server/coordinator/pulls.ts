/** Fetching the output of a decided task from those that agreed: who is asked, when again, and when it counts as lost. */
import type { PeerIdString } from '#protocol/ids'
import { isPast } from './clock.ts'
import type { Node, Replica, Task } from './model.ts'
import { PULL_LOG_BYTES_MAX, PULL_RETRY_MS, PULL_ROUNDS_MAX, PULL_WAIT_MS_MAX } from './policy.ts'
import type { State } from './state.ts'

/** Asks the agreeing nodes that are here; waits when none is. */
export function startPull(state: State, task: Task, nowMs: number): void {
  task.pull = { asked: [], tried: new Set(), round: 1, sinceMs: nowMs, retryAtMs: Number.POSITIVE_INFINITY }
  if (!ask(state, task, isHere)) state.waitingPulls.add(task)
}

/** After a restart: everyone is asked, connected or not, since the output may be here already. */
export function resumePull(state: State, task: Task, nowMs: number): void {
  task.pull = { asked: [], tried: new Set(), round: 1, sinceMs: nowMs, retryAtMs: nowMs + PULL_RETRY_MS }
  if (!ask(state, task, () => true)) state.waitingPulls.add(task)
}

/** Those asked could not give it: others are, then all again, then it is lost. */
export function pullFailed(state: State, task: Task, nowMs: number): void {
  const { pull } = task
  if (pull === null || pull.asked.length === 0) return
  for (const replica of pull.asked) pull.tried.add(replica)
  pull.asked = []
  if (ask(state, task, isHere)) return
  pull.retryAtMs = nowMs + PULL_RETRY_MS
  state.waitingPulls.add(task)
}

/** For the sweep, and when one of the agreeing nodes came back. */
export function retryPull(state: State, task: Task, nowMs: number): void {
  const { pull } = task
  if (pull === null || pull.asked.length > 0) return
  if (ask(state, task, isHere)) return
  // By a clock that was set back it is given up no later.
  pull.sinceMs = Math.min(pull.sinceMs, nowMs)
  if (nowMs - pull.sinceMs >= PULL_WAIT_MS_MAX) {
    outputLost(state, task)
    return
  }
  if (!isPast(pull.retryAtMs, PULL_RETRY_MS, nowMs)) return
  const away = sources(task).some((replica) => holdersOf(state, replica).some((node) => !node.connected))
  if (pull.round >= PULL_ROUNDS_MAX && !away) {
    outputLost(state, task)
    return
  }
  pull.round++
  pull.tried.clear()
  pull.retryAtMs = nowMs + PULL_RETRY_MS
  ask(state, task, isHere)
}

/** Whoever has what the replica left, as far as is known: its node, and those that keep it for that. */
export function holdersOf({ keepers }: State, { id, node }: Replica): readonly Node[] {
  return [node, ...(keepers.get(id) ?? [])]
}

/** Those that are here first. */
export function inOrder(nodes: readonly Node[]): PeerIdString[] {
  const [only] = nodes
  if (only !== undefined && nodes.length === 1) return [only.id]
  const ids = new Set<PeerIdString>()
  for (const node of nodes) if (node.connected) ids.add(node.id)
  for (const node of nodes) if (!node.connected) ids.add(node.id)
  return [...ids]
}

function isHere(state: State, replica: Replica): boolean {
  return holdersOf(state, replica).some((node) => node.connected)
}

/** Results that agree, whose nodes have not failed to hand over what they computed. */
function sources(task: Task): Replica[] {
  return task.replicas.filter(hasOutput)
}

/** It agreed, and its node has not failed to hand over what came out. */
export function hasOutput({ verdict, spent }: Replica): boolean {
  return verdict === 'valid' && !spent
}

/**
 * Emits the pull for the largest set of agreeing nodes with the same three ids that was not tried in this round (stderr may
 * differ among those that agree, and everything among runs that agree to have failed); false when there is none.
 */
function ask(state: State, task: Task, mayGive: (state: State, replica: Replica) => boolean): boolean {
  const { pull, decision } = task
  if (pull === null || decision === null) return false
  const sets: Replica[][] = []
  for (const replica of task.replicas) {
    if (!hasOutput(replica) || replica.report === null || pull.tried.has(replica) || !mayGive(state, replica)) continue
    const set = sets.find(([first]) => first !== undefined && leftAlike(first, replica))
    if (set === undefined) sets.push([replica])
    else set.push(replica)
  }
  let best: Replica[] = []
  // Of outputs that agree without being equal, the canonical one when it can be had.
  const rank = (set: readonly Replica[]): number => (set[0]?.report?.vote === decision.vote ? task.replicas.length : 0) + set.length
  for (const set of sets) if (best.length === 0 || rank(set) > rank(best)) best = set
  const report = best[0]?.report
  if (report === undefined || report === null) return false
  pull.asked = best
  state.waitingPulls.delete(task)
  const { output, stdout, stderr, bytes, exitCode } = report
  task.decision = { ...decision, output, stdout, stderr, bytes, exitCode }
  state.out.task(task)
  const nodes = inOrder(best.flatMap((replica) => holdersOf(state, replica)))
  state.out.effect({ kind: 'pull', task: task.id, nodes, output, stdout, stderr, bytesMax: task.bundle.needs.diskBytes + PULL_LOG_BYTES_MAX })
  return true
}

function leftAlike({ report: a }: Replica, { report: b }: Replica): boolean {
  return a !== null && b !== null && a.output === b.output && a.stdout === b.stdout && a.stderr === b.stderr
}

function outputLost(state: State, task: Task): void {
  for (const replica of sources(task)) replica.spent = true
  task.outputLosses++
  task.pull = null
  if (task.comparison !== null) task.comparison.lost = false
  state.waitingPulls.delete(task)
  state.out.task(task)
  state.touched.add(task)
}
