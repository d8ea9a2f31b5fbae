/**
 * Which tasks are next at a node whose room is taken. The node is looked at as if it had room: the client comes first whose
 * turn it is, of its tasks the first by their order that are next nowhere else, with what placing says of data (locality.ts).
 * Content is brought where a node has too little of it (a MiB, a tenth of a second of a volunteer's line): less is brought
 * sooner than a second goes by, and so is a lease without any.
 */
import { isInTime } from './availability.ts'
import { blockOf, type Client } from './clients.ts'
import { chooseOf, couldRun, isLocal, sameDataIn, shouldWait } from './locality.ts'
import type { Group, Node, Task } from './model.ts'
import { endNext, putNext } from './next.ts'
import { HELD_BACK_AT_ONCE_MAX, LOOK_AHEAD_MAX, NEXT_NODES_LOOKED_MAX } from './policy.ts'
import { fits, headOf, inOrder, isBefore, isShorter, refuses, takesShortest } from './scheduler.ts'
import type { State } from './state.ts'

/** For the end of an event: nodes where a run began or ended, or something of what was next went away. */
export function lookAhead(state: State, nowMs: number): void {
  for (const node of state.nextDue.items) fill(state, node, nowMs)
  state.nextDue.clear()
}

/** For the slow sweep: what has come meanwhile may be next where there was too little, or is so no more. */
export function lookAheadAgain(state: State): void {
  let looked = 0
  for (const node of state.nextWanting) {
    if (looked++ === NEXT_NODES_LOOKED_MAX) return
    // The others come first the next time.
    state.nextWanting.delete(node)
    state.nextDue.add(node)
  }
}

function fill(state: State, node: Node, nowMs: number): void {
  const { next } = node
  if (next === null) return
  const places = placesOf(state, node)
  for (let last = next.tasks[places]; last !== undefined; last = next.tasks[places]) endNext(state, node, last.task, false)
  while (next.tasks.length < places && state.dataGroups > 0) {
    const task = nextFor(state, node, nowMs)
    if (task === undefined) break
    putNext(state, node, task, !isLocal(node, task))
  }
  if (next.tasks.length < places) state.nextWanting.add(node)
  else state.nextWanting.delete(node)
}

/** As many as runs may end there: one that takes far longer than others may not for long. */
function placesOf({ policy }: State, { connected, state, asideUntilMs, slots, held, next }: Node): number {
  if (next === null || next.slow || !connected || state !== 'online' || asideUntilMs > 0 || slots === 0) return 0
  let going = 0
  for (const { granted, straggles } of held) if (granted && !straggles) going++
  return Math.min(next.max, policy.nextMax, going)
}

/** Who has as many slots as it may have gets none more; but one that ends makes room for its next. */
function mayBeNext(client: Client, node: Node, nowMs: number): boolean {
  const block = blockOf(client, nowMs)
  return block === undefined || (block.limit === 'parallel' && node.held.some(({ task }) => task.batch.client === client))
}

/** As placing finds it, of what is next nowhere. */
function nextFor(state: State, node: Node, nowMs: number): Task | undefined {
  const { heads, free } = state
  const shortestFirst = takesShortest(state, node)
  const isFirst = (a: Task, b: Task): boolean => (shortestFirst ? isShorter(a, b, nowMs) : isBefore(state, a, b))
  for (const client of state.fair.line) {
    if (!mayBeNext(client, node, nowMs)) continue
    let first: Task | undefined
    const look = (group: Group): void => {
      if (headOf(group) === undefined) return
      const task = nextOf(state, group, node, nowMs)
      if (task !== undefined && (first === undefined || isFirst(task, first))) first = task
    }
    const { groups, places } = free.groupsOf(node, client)
    const best = shortestFirst ? -1 : heads.firstOf(places)
    if (best !== -1) look(groups[best] as Group)
    for (let at = 0; at < places.length; at++) {
      const comes = shortestFirst || first === undefined || heads.isBefore(places[at] as number, first.order, first.group.priority)
      if (comes && at !== best) look(groups[at] as Group)
    }
    for (const group of free.namedFor(node, client)) look(group)
    if (first !== undefined) return first
  }
  return undefined
}

function nextOf(state: State, group: Group, node: Node, nowMs: number): Task | undefined {
  // What it has room for now and was not given waits for another node.
  if (!couldRun(node, group) || !isInTime(node, group) || (node.free > 0 && fits(node, group))) return undefined
  const skipped: Task[] = []
  const leavesIt = (task: Task): boolean =>
    skipped.length < HELD_BACK_AT_ONCE_MAX && shouldWait(state, task, { node, before: sameDataIn(skipped, task) }, nowMs)
  return chooseOf(state, candidates(state, group, node, nowMs), node, { leavesIt, skipped })
}

/** The group's first tasks that wait for more nodes than they are next at, and that the node may take. */
function* candidates(state: State, group: Group, node: Node, nowMs: number): Generator<Task, void, undefined> {
  skipTaken(group)
  for (const task of inOrder(group, { partial: group.nextFrom, fresh: group.nextFrom }))
    if (!isTaken(task) && task.nextAt?.includes(node) !== true && !refuses(state, task, node, nowMs)) yield task
}

/** Those at the front that are next at as many nodes as they wait for are not looked at again until one of them is so no more. */
function skipTaken(group: Group): void {
  for (let from = -1; from < group.nextFrom; ) {
    from = group.nextFrom
    let [fresh, partial] = [0, 0]
    for (const task of inOrder(group, { partial: from, fresh: from })) {
      if (!isTaken(task)) return
      group.nextFrom = task.order + 1
      // Of the other queue nothing behind it was seen.
      if ((task.queue === group.fresh ? ++fresh : ++partial) === LOOK_AHEAD_MAX) break
    }
  }
}

function isTaken({ nextAt, wanted }: Task): boolean {
  return nextAt !== null && nextAt.length >= wanted
}
