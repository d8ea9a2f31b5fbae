/**
 * Placing: which waiting task goes to which node. By event: a group that gained tasks looks for nodes, a node that gained
 * room looks for tasks; nothing else is looked at. The client comes first whose turn it is by its share (fair-share.ts); of
 * its tasks those of the highest priority, and of these the first that came; on local nodes the shortest (DCS's hybrid mode). A task that no node can take now holds up nobody.
 */

import { NONE } from '#protocol/lists'
import { isInTime } from './availability.ts'
import { blockOf, type Client } from './clients.ts'
import { belongsElsewhere, regroup } from './groups.ts'
import { mustWait } from './independence.ts'
import { choose, holdBack, isByData, isDue, isHeldBack, isLocal, isNowhere, isOwn, nearest, type Rules, sameDataIn, shouldWait } from './locality.ts'
import { type Group, isHeld, type Node, type Replica, type Task } from './model.ts'
import { kindLack, occupy, roomLack, vacate } from './needs.ts'
import { endNext, limitNext, passedBy } from './next.ts'
import { isSpare } from './outlook.ts'
import { COPY_NODES_LOOKED_MAX, HYBRID_NODES_MAX, HYBRID_WAIT_MS_MAX, LOOK_AHEAD_MAX, REFUSED_LOOKED_MAX } from './policy.ts'
import type { OrderedQueue } from './queue.ts'
import { bars, cancel, isBarred, lease, roomOf } from './replicas.ts'
import type { State } from './state.ts'
import { isTail } from './stragglers.ts'
import { moveTask } from './task-moves.ts'

const RULES: Rules = { fits, refuses, draw }

/** Sets how many more replicas the task waits for. */
export function want(state: State, task: Task, count: number): void {
  const grew = count > task.wanted
  if (task.nextAt !== null && task.nextAt.length > count) limitNext(state, task, count)
  task.wanted = count
  const moved = count > 0 && belongsElsewhere(state, task)
  if (moved) move(state, task)
  const { group } = task
  const queue = count === 0 || isHeld(task) ? null : queueOf(task)
  if (queue === null && task.nextAt !== null) limitNext(state, task, 0)
  if (task.queue !== queue) {
    if ((task.queue === null) !== (queue === null)) state.fair.wait(group.client, queue === null ? -1 : 1)
    task.queue?.remove(task)
    queue?.add(task)
    if (!waiting(group)) group.stuck = false
  } else if (!grew && !moved) return
  if (queue === group.partial) group.cursors.setBack(task.order)
  group.nextFrom = Math.min(group.nextFrom, task.order)
  if (queue !== null && (grew || moved)) state.groupsChanged.add(group)
}

/** Its needs have changed: it waits among those that need as much. */
export function moveToNeeds(state: State, task: Task): void {
  move(state, task)
  want(state, task, task.wanted)
  if (task.queue !== null) state.groupsChanged.add(task.group)
}

/** Out of the group where it waits, if it does, into the one that it belongs to now. */
function move(state: State, task: Task): void {
  const { group, queue } = task
  if (task.nextAt !== null) limitNext(state, task, 0)
  if (queue !== null) {
    queue.remove(task)
    state.fair.wait(group.client, -1)
    if (!waiting(group)) group.stuck = false
  }
  regroup(state, task)
}

/** Their holds changed: those that wait leave their queues, or find their places in them again. `tasks` is in their order. */
export function requeue(state: State, tasks: readonly Task[]): void {
  const joining = new Map<OrderedQueue, Task[]>()
  for (const task of tasks) {
    if (isHeld(task) || task.wanted === 0 || task.queue !== null) {
      want(state, task, task.wanted)
      continue
    }
    const { group } = task
    const queue = queueOf(task)
    const joined = joining.get(queue)
    if (joined === undefined) joining.set(queue, [task])
    else joined.push(task)
    state.fair.wait(group.client, 1)
    if (queue === group.partial) group.cursors.setBack(task.order)
    group.nextFrom = Math.min(group.nextFrom, task.order)
    state.groupsChanged.add(group)
  }
  for (const [queue, joined] of joining) queue.addAll(joined)
}

/** Where it waits: apart, once some node is barred from it. */
function queueOf({ replicas, batch, group }: Task): OrderedQueue {
  return batch.rechecks !== null || replicas.some(bars) ? group.partial : group.fresh
}

/** Leases what can be leased now. */
export function place(state: State, nowMs: number): void {
  if (state.groupsChanged.size > 0 && state.locals.size > 0 && state.policy.hybrid) wakeLocals(state)
  if (state.nodesChanged.items.length > 0) placeOnNodes(state, nowMs)
  if (state.copiesChanged) for (const group of state.groups.values()) if (waiting(group)) state.groupsChanged.add(group)
  state.copiesChanged = false
  if (state.groupsChanged.size > 0) placeGroups(state, nowMs)
}

/** What came is looked at by local nodes, which choose the shortest of all that waits, before it looks for a node itself. */
function wakeLocals(state: State): void {
  let woken = 0
  for (const node of state.locals) {
    if (woken++ === HYBRID_NODES_MAX) return
    state.nodesChanged.add(node)
  }
}

/** For the slow sweep: everything that waits against everything that is free. */
export function lookAtAll(state: State): void {
  for (const group of state.groups.values()) {
    if (!waiting(group)) continue
    group.stuck = false
    state.groupsChanged.add(group)
  }
  if (state.groupsChanged.size === 0) return
  for (const node of state.free.inOrder(0)) state.nodesChanged.add(node)
}

/** The node's offer, less what its replicas take, covers the group's needs, and it should be done in time. */
export function fits(node: Node, group: Group): boolean {
  if (group.nodes !== null && !group.nodes.has(node.id)) return false
  return kindLack(node, group) === undefined && hasRoom(node, group)
}

/** What is free at the node now covers them, whatever kind it is of. */
function hasRoom(node: Node, group: Group): boolean {
  return roomLack(node, group.needs) === undefined && isInTime(node, group)
}

/** Of the nodes that gained room, the one with the most of it takes the first task it can, again and again. */
function placeOnNodes(state: State, nowMs: number): void {
  const { items } = state.nodesChanged
  const [only] = items
  if (only !== undefined && items.length === 1) {
    state.nodesChanged.clear()
    for (let free = only.free; free > 0; free--) if (!placeOn(state, only, nowMs)) return
    return
  }
  const nodes = state.nodesChanged.items.filter((node) => node.free > 0)
  if (nodes.length > 1) nodes.sort((a, b) => b.free - a.free)
  state.nodesChanged.clear()
  let level: Node[] = []
  let next = 0
  for (let free = nodes[0]?.free ?? 0; free > 0; free--) {
    for (let node = nodes[next]; node !== undefined && node.free >= free; node = nodes[++next]) level.push(node)
    level = level.filter((node) => placeOn(state, node, nowMs))
  }
}

/** The node takes the first task that it can; false when there is none. */
function placeOn(state: State, node: Node, nowMs: number): boolean {
  for (let task = firstTaskFor(state, node, nowMs); task !== undefined; task = firstTaskFor(state, node, nowMs)) {
    const own = ownNodeFor(state, task, node, nowMs)
    issue(state, task, own ?? node, nowMs)
    if (own === undefined) return true
  }
  return false
}

/** A free node of the task's own client, which comes before a stranger's. */
function ownNodeFor(state: State, task: Task, stranger: Node, nowMs: number): Node | undefined {
  if (!state.free.hasOwn(task.group.client) || stranger.offer.owner === task.group.client.id) return undefined
  for (const node of state.free.ownFor(task.group, draw(task))) if (fits(node, task.group) && !refuses(state, task, node, nowMs)) return node
  return undefined
}

function firstTaskFor(state: State, node: Node, nowMs: number): Task | undefined {
  const { heads, free } = state
  const shortestFirst = takesShortest(state, node)
  const isFirst = (a: Task, b: Task): boolean => (shortestFirst ? isShorter(a, b, nowMs) : isBefore(state, a, b))
  for (const client of state.fair.line) {
    if (blockOf(client, nowMs) !== undefined) continue
    let first: Task | undefined
    let skipped: Task[] | undefined
    const look = (group: Group, suits: boolean): void => {
      const head = headOf(group)
      if (head === undefined || (first !== undefined && !isFirst(head, first)) || !(suits ? hasRoom(node, group) : fits(node, group))) return
      group.stuck = false
      let task = firstOfGroup(state, group, node, nowMs)
      if (task !== undefined && isByData(state, group)) {
        const passed: Task[] = []
        const from = task.queue === group.partial ? task.order : group.cursors.get(node.id)
        task = choose(state, tasksFor(state, group, node, { from, nowMs }), node, { rules: RULES, nowMs, skipped: passed })
        skipped = skipped === undefined ? passed : [...skipped, ...passed]
      }
      if (task !== undefined && (first === undefined || isFirst(task, first))) first = task
    }
    const { groups, places } = free.groupsOf(node, client)
    const best = shortestFirst ? -1 : heads.firstOf(places)
    const next = node.next === null || node.next.tasks.length === 0 ? undefined : nextHere(state, node, client, nowMs)
    if (next !== undefined) return next
    // All of a kind suit; of nodes of many kinds together each is another.
    const suits = node.kind?.offer !== null
    if (best !== -1) look(groups[best] as Group, suits)
    for (let at = 0; at < places.length; at++) {
      // Of most groups no more than a number is looked at.
      const comes = shortestFirst || first === undefined || heads.isBefore(places[at] as number, first.order, first.group.priority)
      if (comes && at !== best) look(groups[at] as Group, suits)
    }
    for (const group of free.namedFor(node, client)) look(group, false)
    if (first !== undefined && skipped !== undefined) pass(state, skipped, first)
    if (first !== undefined) return first
  }
  return undefined
}

/** Local nodes do, by the hybrid rule. */
export function takesShortest({ policy }: State, { isLocal }: Node): boolean {
  return policy.hybrid && isLocal
}

/**
 * What is next at the node, where it is the client's turn: it goes before those that came earlier, most of which are next
 * elsewhere, but for those of a higher priority and, where the shortest go first, shorter ones.
 */
function nextHere(state: State, node: Node, client: Client, nowMs: number): Task | undefined {
  const next = node.next?.tasks.find(({ task }) => task.group.client === client && fits(node, task.group) && !refuses(state, task, node, nowMs))?.task
  if (next === undefined) return undefined
  const shortestFirst = takesShortest(state, node)
  let before: Task | undefined
  for (const group of [...state.free.groupsOf(node, client).groups, ...state.free.namedFor(node, client)]) {
    const head = headOf(group)
    if (head === undefined || head === next) continue
    const outranks = group.priority > next.group.priority || (shortestFirst && group !== next.group && isShorter(head, next, nowMs))
    if (outranks && fits(node, group)) return undefined
    if (head.nextAt !== null && isBefore(state, head, before ?? next)) before = head
  }
  if (before !== undefined) passedBy(state, before)
  return next
}

/** The group's first tasks that the node may take; of those that some node had, from an order on. */
function* tasksFor(
  state: State,
  group: Group,
  node: Node,
  { from, nowMs }: { readonly from: number; readonly nowMs: number }
): Generator<Task, void, undefined> {
  for (const task of inOrder(group, { partial: from })) if (!refuses(state, task, node, nowMs)) yield task
}

/** The group's first tasks, of each of its queues from an order on. */
export function* inOrder(group: Group, from: { readonly partial?: number; readonly fresh?: number } = {}): Generator<Task, void, undefined> {
  const partial = group.partial.from(from.partial ?? 0, LOOK_AHEAD_MAX)
  let next = partial.next()
  for (const task of group.fresh.from(from.fresh ?? 0, LOOK_AHEAD_MAX)) {
    for (; !next.done && next.value.order < task.order; next = partial.next()) yield next.value
    yield task
  }
  for (; !next.done; next = partial.next()) yield next.value
}

/** A later task of the same client goes before these for its data. Whoever must not be passed any more is looked at at once. */
function pass(state: State, tasks: Iterable<Task>, chosen: Task): void {
  for (const task of tasks) {
    if (task === chosen || task.queue === null || task.group.client !== chosen.group.client || !isBefore(state, task, chosen)) continue
    task.passed++
    if (isDue(task)) state.groupsChanged.add(task.group)
  }
}

/** The task is not for this node, for now or for ever, whatever room it has. */
export function refuses(state: State, task: Task, node: Node, nowMs: number): boolean {
  return isBarred(task, node) || mustWait(state, task, node, nowMs)
}

/** The group's first task that the node is not barred from. What it is barred from is not looked at again; what it must leave to others for now is. */
function firstOfGroup(state: State, group: Group, node: Node, nowMs: number): Task | undefined {
  const fresh = group.fresh.first
  if (group.partial.size === 0) return fresh
  const start = group.cursors.get(node.id)
  let cursor = start
  let found: Task | undefined
  let passed = true
  let looked = 0
  let behind = start
  for (const task of group.partial.from(start, LOOK_AHEAD_MAX)) {
    looked++
    behind = task.order + 1
    // A class that becomes free is a replica that is lost, and whatever is wanted anew is looked at again.
    if (isBarred(task, node)) {
      if (passed) cursor = task.order + 1
      continue
    }
    passed = false
    if (mustWait(state, task, node, nowMs)) continue
    found = task
    break
  }
  if (cursor !== start) group.cursors.set(node.id, cursor)
  if (found === undefined && fresh === undefined && !passed && looked === LOOK_AHEAD_MAX) return firstFurtherOn(state, group, node, { behind, nowMs })
  return found === undefined || (fresh !== undefined && fresh.order < found.order) ? fresh : found
}

/** So many tasks at the front must be left to others, perhaps for ever (`require`): each time the node looks at as many behind these, from where it stopped, and in the end at the first ones again. */
function firstFurtherOn(state: State, group: Group, node: Node, { behind, nowMs }: { readonly behind: number; readonly nowMs: number }): Task | undefined {
  let from = Math.max(behind, group.cursors.further(node.id))
  let looked = 0
  let found: Task | undefined
  for (const task of group.partial.from(from, LOOK_AHEAD_MAX)) {
    looked++
    from = task.order
    if (refuses(state, task, node, nowMs)) continue
    found = task
    break
  }
  group.cursors.lookFurther(node.id, found !== undefined || looked === LOOK_AHEAD_MAX ? from : 0)
  return found
}

/** Of the groups that gained tasks, the one with the first task takes the best node, again and again. */
function placeGroups(state: State, nowMs: number): void {
  const { groupsChanged, free, copies } = state
  while (groupsChanged.size > 0 && free.size + copies.size > 0) {
    const first = firstChanged(state, nowMs)
    if (first === undefined) break
    if (placeOne(state, first, nowMs)) continue
    groupsChanged.delete(first)
    // Many may fit nowhere: the order of the others is looked for once, until something changes it.
    if (groupsChanged.size > 1) placeInTurn(state, nowMs)
  }
  // Nobody is free, and nobody runs a copy: whoever becomes it will look for tasks itself.
  groupsChanged.clear()
  state.heldBack = null
}

/** The one with the first task. Those with nothing that may run are left out from now on. */
function firstChanged(state: State, nowMs: number): Group | undefined {
  let group: Group | undefined
  let first: Task | undefined
  for (const candidate of state.groupsChanged) {
    const head = headOf(candidate)
    if (head === undefined || blockOf(candidate.client, nowMs) !== undefined) state.groupsChanged.delete(candidate)
    else if (first === undefined || isBefore(state, head, first)) {
      group = candidate
      first = head
    }
  }
  return group
}

/** Each in its turn, until a task was placed or a copy yielded: then it may be another's turn. */
function placeInTurn(state: State, nowMs: number): void {
  const { groupsChanged, copies } = state
  const running = copies.size
  const inTurn = [...groupsChanged].flatMap((group) => {
    const head = headOf(group)
    return head === undefined || blockOf(group.client, nowMs) !== undefined ? [] : [{ group, head }]
  })
  inTurn.sort((a, b) => (isBefore(state, a.head, b.head) ? -1 : 1))
  for (const { group } of inTurn) {
    if (placeOne(state, group, nowMs)) return
    groupsChanged.delete(group)
    if (copies.size !== running) return
  }
}

/** Places the first task of the group that can be placed; false when none can. */
function placeOne(state: State, group: Group, nowMs: number): boolean {
  if (!group.stuck && (isByData(state, group) ? placeByData(state, group, nowMs) : placeInOrder(state, group, nowMs))) return true
  return state.copies.size > 0 && yieldTo(state, group, nowMs)
}

function placeInOrder(state: State, group: Group, nowMs: number): boolean {
  const fresh = group.fresh.first
  for (const task of group.partial.from(0, LOOK_AHEAD_MAX)) {
    if (fresh !== undefined && fresh.order < task.order) break
    const node = nodeFor(state, task, nowMs)
    if (node === 'none') return false
    if (node === 'barred') continue
    issue(state, task, node, nowMs)
    return true
  }
  if (fresh === undefined) return false
  const node = nodeFor(state, fresh, nowMs)
  if (node === 'none' || node === 'barred') return false
  issue(state, fresh, node, nowMs)
  return true
}

/** As `placeOne`, of the tasks that `choose` would choose: one that waits for a node with its data lets others go first, and so does one whose data some node has for one whose data is nowhere. */
function placeByData(state: State, group: Group, nowMs: number): boolean {
  const behind: Task[] = []
  let first: { readonly task: Task; readonly node: Node } | undefined
  for (const task of inOrder(group)) {
    if (first !== undefined && isDue(task)) break
    if (first === undefined || isNowhere(state, task)) {
      const node = nodeByData(state, task, nowMs)
      if (node === 'none') break
      if (node === 'barred') continue
      if (isDue(task) || isNowhere(state, task) || isLocal(node, task)) {
        first = { task, node }
        break
      }
      if (shouldWait(state, task, { node, before: sameDataIn(behind, task) }, nowMs)) holdBack(task, nowMs)
      else first = { task, node }
    }
    behind.push(task)
  }
  state.heldBack ??= new Set()
  for (const task of behind) state.heldBack.add(task)
  if (first === undefined) return false
  pass(state, state.heldBack, first.task)
  issue(state, first.task, first.node, nowMs)
  return true
}

/** As `nodeFor`; of the client's own nodes, or of all others where none of those is free, the one that lacks the fewest bytes. */
function nodeByData(state: State, task: Task, nowMs: number): Node | 'none' | 'barred' {
  const near = nearest(state, task, RULES, nowMs)
  if (near !== undefined && isOwn(near, task)) return near
  const node = nodeFor(state, task, nowMs)
  return near === undefined || (typeof node === 'object' && isOwn(node, task)) ? node : near
}

/** As `freeNodeFor`; where no node fits, the group is not looked at again until one gains room. */
function nodeFor(state: State, task: Task, nowMs: number): Node | 'none' | 'barred' {
  const node = freeNodeFor(state, task, nowMs)
  task.group.stuck = node === 'none'
  return node
}

/** A copy gives its place to the first task of the group that could have it; false when none does. What waits for a node with its data goes on waiting. */
function yieldTo(state: State, group: Group, nowMs: number): boolean {
  const yielding = new Yielding(state.copies, group)
  for (const task of inOrder(group)) {
    const copy = isHeldBack(task, nowMs) || hasPlaces(state, task) ? undefined : copyFor(state, task, yielding, nowMs)
    if (copy === undefined) continue
    cancel(state, copy, 'yield', nowMs)
    // GPUs are free when the run has ended.
    if (copy.gpus.length > 0) {
      state.yielded.set(task, [...endingFor(state, task), copy])
      continue
    }
    issue(state, task, copy.node, nowMs)
    return true
  }
  return false
}

/** The fitting node with the most free slots, equal ones by a draw from the batch's seed; for the last tasks of a batch the fastest of those; the client's own nodes before all others. Of nodes that it is not for, so many are looked at: the next sweep lets every free node look for tasks itself. */
export function freeNodeFor(state: State, task: Task, nowMs: number): Node | 'none' | 'barred' {
  let outcome: 'none' | 'barred' = 'none'
  const isLast = isTail(task.batch)
  let best: Node | undefined
  let looked = 0
  let refused = 0
  for (const node of state.free.inOrderFor(task.group, draw(task))) {
    if (!fits(node, task.group)) continue
    if (refuses(state, task, node, nowMs)) {
      outcome = 'barred'
      if (++refused >= REFUSED_LOOKED_MAX) break
      continue
    }
    if (!isLast) return node
    if (best !== undefined && isOwn(best, task) && !isOwn(node, task)) break
    if (best === undefined || handicap(node) < handicap(best)) best = node
    if (++looked >= COPY_NODES_LOOKED_MAX) break
  }
  return best ?? outcome
}

/** The more the slower it is, and the more it failed lately. */
function handicap({ slowness, failures }: Node): number {
  return slowness * (1 + failures)
}

/** The node runs a copy whose place the task could have. */
export function hasCopyFor(state: State, task: Task, node: Node, nowMs: number): boolean {
  return (
    node.copies > 0 &&
    !hasPlaces(state, task) &&
    !refuses(state, task, node, nowMs) &&
    node.held.some((one) => one.copy && one.task !== task && mayYield(one, task.group))
  )
}

/** So many copies with GPUs as it wants places have yielded to it, and are still ending: no others need to. */
function hasPlaces(state: State, task: Task): boolean {
  return endingFor(state, task).length >= task.wanted
}

function endingFor({ yielded }: State, task: Task): readonly Replica[] {
  return yielded.get(task)?.filter(({ id, node }) => node.closing?.has(id)) ?? NONE
}

function mayYield(copy: Replica, group: Group): boolean {
  return roomOf(copy.node) >= 0 && fitsWithout(copy, group) && isSpare(copy)
}

/** Copies that may yield to tasks of the group, the last made first; each is looked at when it is first asked for, and once. */
class Yielding {
  readonly #copies: readonly Replica[]
  readonly #group: Group
  readonly #found: Replica[] = []
  #left: number

  constructor(copies: ReadonlySet<Replica>, group: Group) {
    this.#copies = [...copies]
    this.#group = group
    this.#left = this.#copies.length
  }

  at(place: number): Replica | undefined {
    while (this.#found.length <= place && this.#left > 0) {
      const copy = this.#copies[--this.#left] as Replica
      if (mayYield(copy, this.#group)) this.#found.push(copy)
    }
    return this.#found[place]
  }
}

/** The first of them whose place the task could have. */
function copyFor(state: State, task: Task, yielding: Yielding, nowMs: number): Replica | undefined {
  for (let place = 0; ; place++) {
    const copy = yielding.at(place)
    if (copy === undefined || (copy.task !== task && !refuses(state, task, copy.node, nowMs))) return copy
  }
}

/** The node would cover the group's needs if it did not run the copy. */
function fitsWithout(copy: Replica, group: Group): boolean {
  const { node } = copy
  vacate(node, copy)
  const would = fits(node, group)
  occupy(node, copy)
  return would
}

/** staged | validating -> running, with one replica more. */
function issue(state: State, task: Task, node: Node, nowMs: number): void {
  if (task.nextAt !== null) endNext(state, node, task, true)
  const { standing } = lease(state, task, node, nowMs)
  if (task.decision === null && task.state !== 'running') moveTask(state, task, 'running')
  want(state, task, standing.alone ? 0 : task.wanted - 1)
  if (task.wanted > 0) return
  task.heldBackMs = null
  task.passed = 0
}

export function headOf(group: Group): Task | undefined {
  const fresh = group.fresh.first
  const partial = group.partial.first
  if (fresh === undefined || partial === undefined) return fresh ?? partial
  return fresh.order < partial.order ? fresh : partial
}

export function isBefore(state: State, a: Task, b: Task): boolean {
  if (a.group.client !== b.group.client) return state.fair.compare(a.group.client, b.group.client) < 0
  return a.group.priority === b.group.priority ? a.order < b.order : a.group.priority > b.group.priority
}

/** Of one client's tasks: by priority, then by what a run of them takes, then by when they came. Runs of a group are expected to take alike, so that groups are the index: within one the first that came is the shortest. */
export function isShorter(a: Task, b: Task, nowMs: number): boolean {
  if (a.group === b.group) return a.order < b.order
  if (a.group.priority !== b.group.priority) return a.group.priority > b.group.priority
  const [aMs, bMs] = [expectedMs(a, nowMs), expectedMs(b, nowMs)]
  return aMs === bMs ? a.order < b.order : aMs < bMs
}

/** Unknown is long; what waited too long is as if it were short. */
function expectedMs({ group, createdAtMs }: Task, nowMs: number): number {
  if (nowMs - createdAtMs >= HYBRID_WAIT_MS_MAX) return 0
  return group.estimateMs > 0 ? group.estimateMs : (group.pace.meanMs(0) ?? Number.POSITIVE_INFINITY)
}

function waiting(group: Group): boolean {
  return group.fresh.size > 0 || group.partial.size > 0
}

/** A whole number that looks drawn: the same for the same batch seed, task and attempt. */
function draw({ batch, index, replicas }: Task): number {
  let mixed = (batch.seed ^ Math.imul(index + 1, 0x9e3779b1) ^ Math.imul(replicas.length + 1, 0x85ebca6b)) >>> 0
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d)
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x846ca68b)
  return (mixed ^ (mixed >>> 16)) >>> 0
}
