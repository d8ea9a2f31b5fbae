/**
 * Placing by where the data is. A task goes to the free node that lacks the fewest bytes of it. It waits a while for a busy
 * node that has all of it, when that is likely free before the bytes would have moved (delay scheduling, Zaharia et al.,
 * EuroSys 2010); a node that becomes free takes, of the first that wait, one whose data it has. Both are bounded, in time and
 * in how many may go before.
 */
import { HOLDING_BYTES_MIN } from '#protocol/control/messages'
import { isHere, missingBytes } from './holders.ts'
import type { DataNeed, Group, Node, Replica, Task } from './model.ts'
import { lackOf } from './needs.ts'
import { HELD_BACK_AT_ONCE_MAX, HELD_BACK_MS_MAX, HOLDERS_AWAITED_MAX, HOLDERS_TRIED_MAX, LINE_BYTES_PER_MS, PASSED_MAX, RUNS_AWAITED_MAX } from './policy.ts'
import { isBarred } from './replicas.ts'
import type { State } from './state.ts'

/** What placing else goes by. */
export interface Rules {
  readonly fits: (node: Node, group: Group) => boolean
  /** The task is not for the node, whatever room that has. */
  readonly refuses: (state: State, task: Task, node: Node, nowMs: number) => boolean
  /** A whole number that decides between equal nodes. */
  readonly draw: (task: Task) => number
}

/** Whether anything of placing depends on where data is. */
export function isByData({ holders }: State, { byData }: Group): boolean {
  return byData && holders.size > 0
}

/** What the task needs is at the node, or so little of it is not that moving it is not worth a choice. */
export function isLocal(node: Node, { bundle }: Task): boolean {
  return bundle.data === null || missingBytes(node, bundle.data) < HOLDING_BYTES_MIN
}

/** Whose task it is, his node it is. */
export function isOwn({ offer }: Node, { group }: Task): boolean {
  return offer.owner === group.client.id
}

/** Of the free nodes with data of the task, its client's own before all others, the one that lacks the fewest bytes, then the one with the most free slots, then by the draw. */
export function nearest(state: State, task: Task, { fits, refuses, draw }: Rules, nowMs: number): Node | undefined {
  const { data } = task.bundle
  let best: Node | undefined
  let bestMissing = Number.POSITIVE_INFINITY
  if (data === null) return undefined
  for (const node of holdersOf(state, task, draw(task), HOLDERS_TRIED_MAX)) {
    if (node.free === 0 || !fits(node, task.group) || refuses(state, task, node, nowMs)) continue
    const missing = missingBytes(node, data)
    if (best !== undefined && isOwn(best, task) !== isOwn(node, task)) {
      if (isOwn(best, task)) continue
    } else if (missing > bestMissing || (missing === bestMissing && best !== undefined && node.free <= best.free)) continue
    best = node
    bestMissing = missing
  }
  return best
}

/**
 * Whether the task should wait for a node that has its data rather than go to this one; to its client's own node it goes before any other's. `before`:
 * tasks with the same data that wait already. Never longer than moving the bytes would take, nor HELD_BACK_MS_MAX, nor once
 * PASSED_MAX later ones went before it.
 */
export function shouldWait(state: State, task: Task, { node: here, before }: { readonly node: Node; readonly before: number }, nowMs: number): boolean {
  const { data } = task.bundle
  const missing = data === null ? 0 : missingBytes(here, data)
  const moveMs = missing / LINE_BYTES_PER_MS
  const waitedMs = nowMs - (task.heldBackMs ?? nowMs)
  // By a clock that was set back nobody waits longer.
  if (data === null || missing < HOLDING_BYTES_MIN || isDue(task) || waitedMs < 0 || waitedMs >= Math.min(moveMs, HELD_BACK_MS_MAX)) return false
  let soonestMs = Number.POSITIVE_INFINITY
  let meanMs = 0
  let runs = 0
  for (const node of holdersOf(state, task, 0, HOLDERS_AWAITED_MAX)) {
    if (!node.connected || node.state !== 'online' || node.asideUntilMs > 0 || !couldRun(node, task.group) || isBarred(task, node)) continue
    if (missingBytes(node, data) >= missing || (isOwn(here, task) && !isOwn(node, task))) continue
    // What is brought there ahead is nothing to wait for before it has come.
    if (task.nextAt?.includes(node) === true && !isHere(node, data)) continue
    for (const replica of node.held.slice(0, RUNS_AWAITED_MAX)) {
      const mean = meanMsOf(state, replica)
      if (mean === undefined) continue
      const passedMs = Math.max(0, nowMs - replica.atMs)
      soonestMs = Math.min(soonestMs, passedMs < mean ? mean - passedMs : mean)
      meanMs += mean
      runs++
    }
  }
  return runs > 0 && soonestMs + (before * meanMs) / (runs * runs) < moveMs
}

/** So many went before it that nothing may any more. */
export function isDue(task: Task): boolean {
  return task.passed >= PASSED_MAX
}

/** It waits for a node with its data: not for longer than anything does, though nobody may have looked at it since. */
export function isHeldBack(task: Task, nowMs: number): boolean {
  const { heldBackMs } = task
  return heldBackMs !== null && !isDue(task) && nowMs >= heldBackMs && nowMs - heldBackMs < HELD_BACK_MS_MAX
}

/** Notes that the task waits for its data. */
export function holdBack(task: Task, nowMs: number): void {
  task.heldBackMs ??= nowMs
}

/** Tasks of those held back that need first what this one needs first. */
export function sameDataIn(tasks: Iterable<Task>, { bundle }: Task): number {
  let count = 0
  for (const other of tasks) if (other.bundle.data?.[0]?.root === bundle.data?.[0]?.root) count++
  return count
}

/**
 * Of tasks in their order, all of which the node may take, the one that it should: the first whose data it has, unless one
 * before it is due; else the first whose data is nowhere, so that no second copy is made before each has a first; else the first
 * that does not wait for another node. Those that it was not given are added to `skipped`.
 */
export function choose(
  state: State,
  tasks: Iterable<Task>,
  node: Node,
  { rules, nowMs, skipped }: { readonly rules: Rules; readonly nowMs: number; readonly skipped: Task[] }
): Task | undefined {
  return chooseOf(state, tasks, node, { leavesIt: (task, data) => leavesIt(state, task, node, { data, rules, nowMs, skipped }), skipped })
}

/** The same, `leavesIt` saying which of them are for other nodes. */
export function chooseOf(
  state: State,
  tasks: Iterable<Task>,
  node: Node,
  { leavesIt, skipped }: { readonly leavesIt: (task: Task, data: readonly DataNeed[]) => boolean; readonly skipped: Task[] }
): Task | undefined {
  let first: Task | undefined
  let nowhere: Task | undefined
  for (const task of tasks) {
    if (isDue(task)) return first ?? task
    const { data } = task.bundle
    if (data === null ? first === undefined : isLocal(node, task)) return task
    if (nowhere === undefined && isNowhere(state, task)) nowhere = task
    if (data !== null && first === undefined && !leavesIt(task, data)) first = task
    skipped.push(task)
  }
  return nowhere ?? first
}

/** It needs data, and no node has any of it: somebody has to be brought it. */
export function isNowhere({ holders }: State, { bundle }: Task): boolean {
  return bundle.data?.every(({ root, within }) => holders.of(root).length === 0 && (within === null || holders.of(within).length === 0)) === true
}

/** The task is for another node: one that is free and has more of its data, or one that soon will be. */
function leavesIt(
  state: State,
  task: Task,
  node: Node,
  { data, rules, nowMs, skipped }: { readonly data: readonly DataNeed[]; readonly rules: Rules; readonly nowMs: number; readonly skipped: readonly Task[] }
): boolean {
  const nearer = nearest(state, task, rules, nowMs)
  if (nearer !== undefined && missingBytes(nearer, data) < missingBytes(node, data) && (isOwn(nearer, task) || !isOwn(node, task))) {
    // Its group is looked at when the nodes have been.
    state.groupsChanged.add(task.group)
    return true
  }
  if (skipped.length >= HELD_BACK_AT_ONCE_MAX || !shouldWait(state, task, { node, before: sameDataIn(skipped, task) }, nowMs)) return false
  holdBack(task, nowMs)
  return true
}

/** Nodes with some of the task's data, at most so many for each tree, beginning at a drawn one. A node may come twice. */
function* holdersOf({ holders }: State, { bundle }: Task, draw: number, max: number): Generator<Node, void, undefined> {
  for (const { root, within } of bundle.data ?? [])
    for (const name of within === null ? [root] : [root, within]) {
      const nodes = holders.of(name)
      for (let step = 0; step < Math.min(nodes.length, max); step++) yield nodes[(draw + step) % nodes.length] as Node
    }
}

/** It runs, and as long as such runs take; what is still being prepared is not waited for. */
function meanMsOf({ pace }: State, { state, task }: Replica): number | undefined {
  return state === 'running' || state === 'uploading' ? (task.batch.runs.meanMs ?? pace.meanMs(0)) : undefined
}

/** The node could run the group's tasks, did it run nothing else. */
export function couldRun(node: Node, group: Group): boolean {
  return node.slots > 0 && (group.nodes === null || group.nodes.has(node.id)) && lackOf(node, group) === undefined
}
