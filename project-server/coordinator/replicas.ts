/** One replica's life: leased, moved, cancelled, lost and found. Each change marks its task to be settled. */
import { type ReplicaId, replicaId } from '#protocol/ids'
import { withOne, withoutAt } from '#protocol/lists'
import { failed, wasWrong, worked } from './aside.ts'
import { standingFrom, startFor } from './checkpoints.ts'
import { leftSlot, runBegan, runEnded } from './clients.ts'
import { encodeClosingRecord } from './closing-records.ts'
import { handsOf, isIn } from './hands.ts'
import { forgetComing, note } from './holders.ts'
import { isCrowd } from './independence.ts'
import { closingKey } from './keys.ts'
import type { CancelReason } from './link-records.ts'
import { type Closing, closingOf, enclose, type Fault, type Node, type Occupant, type Replica, type Task } from './model.ts'
import { occupy, pickGpus, vacate } from './needs.ts'
import { madeRoom } from './next.ts'
import { measure } from './pace.ts'
import {
  CLOCKS_DIFFER_SHARE,
  CLOSING_MS_MAX,
  MESSAGE_CHARS_MAX,
  MOVING_MS_MAX,
  NODE_SLOTS_MAX,
  PREPARE_MS_MAX,
  REPORT_SLACK_MS,
  RUN_SLACK_MS,
  SILENT_LEASE_MS_MAX
} from './policy.ts'
import { newReplica } from './replica.ts'
import { mixes } from './same-class.ts'
import type { State } from './state.ts'
import { assertReplicaMove, type BANNED, hasVoice, isLive, isUnharmed, type ReplicaState, TOO_LITTLE_MEMORY } from './states.ts'
import { refute, standingOf } from './trust.ts'

/** -> leased, or running when nothing has to be fetched (a `copy`: see copies.ts): a new attempt of the task goes to the node with the next take. */
export function lease(state: State, task: Task, node: Node, nowMs: number, copy = false): Replica {
  const attempt = task.replicas.length + 1
  const from = copy ? null : startFor(state, task, node)
  // Its checkpoint has to be fetched first.
  const atOnce = task.bundle.atOnce && from === null
  const replica = newReplica({
    id: replicaId(task.id, attempt),
    task,
    attempt,
    node,
    state: atOnce ? 'running' : 'leased',
    atMs: nowMs,
    signMs: nowMs,
    epoch: state.epoch,
    gpus: pickGpus(node, task.needs),
    needs: task.needs,
    granted: atOnce,
    standing: standingFrom(task, from, standingOf(state, task, node)),
    assignSeq: -1,
    copy,
    from
  })
  task.replicas = withOne(task.replicas, replica)
  task.startedAtMs ??= nowMs
  hold(state, replica)
  for (const need of task.bundle.data ?? []) note(state, node, need, false)
  if (atOnce) began(state, replica)
  if (atOnce && node.next !== null) state.nextDue.add(node)
  state.watch.at(node, deadlineMs(replica))
  enclose(node, 'assign', replica)
  state.out.speak(node)
  state.out.task(task)
  tell(state, replica)
  return replica
}

/** The one place where a replica changes its state; its node's room follows. */
export function moveReplica(state: State, replica: Replica, to: ReplicaState, nowMs: number): void {
  const { straggles } = replica
  const { doubtPpm } = replica.task.batch.policy
  const was = isLive(replica.state)
  assertReplicaMove(replica.state, to, replica.id)
  if (replica.state === 'running' || replica.state === 'uploading') ended(state, replica, to, nowMs)
  replica.state = to
  replica.atMs = nowMs
  replica.signMs = nowMs
  replica.tells = false
  replica.figure = null
  if (to === 'running') {
    replica.straggles = false
    began(state, replica)
    if (replica.node.next !== null) state.nextDue.add(replica.node)
  }
  // Of what is only committed to it is not known yet whether it will be said.
  if (to === 'reported' && replica.commitment === null) worked(state, replica.node)
  if (was && !isLive(to)) {
    release(state, replica)
    // Who had to stay away for its sake, while the task waits for one more, need not any more.
    if (replica.task.queue !== null && !hasVoice(replica)) state.groupsChanged.add(replica.task.group)
  } else if (to === 'reported') refile(state, replica.node)
  if (!was && isLive(to)) hold(state, replica)
  if (isLive(to)) state.watch.at(replica.node, deadlineMs(replica))
  state.out.task(replica.task)
  // That one of its runs goes on changes nothing for its task, but where who it went to decides how many more are wanted.
  if (!was || !isLive(to) || straggles || replica.copy || doubtPpm > 0) state.touched.add(replica.task)
  tell(state, replica)
}

/** What its replica has become, to whoever reads the events. */
export function tell(state: State, { task, attempt, node, state: to, fault }: Replica): void {
  state.out.journal.replica(task.batch.id, task.index, attempt, node.id, to, fault === null || fault.message === '' ? null : fault.message)
}

/** A run goes on from `atMs`. */
function began(state: State, replica: Replica): void {
  state.begun.add(replica)
  runBegan(replica, replica.atMs)
}

/** What a run took that ended with a result is what others are measured by. */
function ended(state: State, replica: Replica, to: ReplicaState, nowMs: number): void {
  const { task, node, atMs } = replica
  if (to === 'reported') replica.tookMs = Math.max(0, nowMs - atMs)
  // Who went on from a checkpoint did a part of it.
  const ms = to === 'reported' && replica.from === null ? replica.tookMs : undefined
  if (ms !== undefined) {
    state.pace.ran(ms)
    const { longMs, meanMs } = task.batch.runs
    if (longMs !== undefined) measure(node, ms, meanMs)
    task.group.pace.ran(ms)
  }
  task.batch.runs.ended(ms)
  runEnded(state, replica, nowMs)
}

/** live -> cancelled: the node is told, and a run that has to be ended keeps its slot until it is. */
export function cancel(state: State, replica: Replica, reason: CancelReason, nowMs: number): void {
  moveReplica(state, replica, 'cancelled', nowMs)
  tellCancelled(state, replica, reason, nowMs)
}

/** live -> lost. `class`: see failing.ts. `cancelled` when the node is there and may still run it. */
export function lose(
  state: State,
  replica: Replica,
  why: { readonly message: string; readonly tell?: boolean; readonly class?: 'death' },
  nowMs: number
): void {
  replica.fault = lossOf(state, why.class ?? 'lost', why.message)
  lookPastAgain(replica)
  replica.node.lost++
  state.out.node(replica.node)
  moveReplica(state, replica, 'lost', nowMs)
  if (why.tell === true) tellCancelled(state, replica, 'lost', nowMs)
}

/** Most are lost as the last one was, and share it: millions may be kept. */
function lossOf(state: State, name: string, message: string): Fault {
  if (state.lastLoss?.class !== name || state.lastLoss.message !== message) state.lastLoss = { class: name, message }
  return state.lastLoss
}

/** It was not lost after all: nobody is blamed for it any more. */
export function unlose(state: State, replica: Replica): void {
  replica.fault = null
  replica.node.lost--
  state.out.node(replica.node)
}

/** lost -> leased | running: the node is back with it in hand and no other run has taken its place. */
export function revive(state: State, replica: Replica, nowMs: number): boolean {
  const { task, node } = replica
  if (replica.state !== 'lost' || task.decision !== null || task.wanted === 0 || !mayReturn(state, replica, nowMs)) return false
  if (replica.gpus.some((uuid) => node.gpusTaken?.has(uuid))) return false
  unlose(state, replica)
  task.wanted--
  moveReplica(state, replica, replica.granted ? 'running' : 'leased', nowMs)
  return true
}

/** live -> returned. `fault.class`: node | task | input | owner. What hung is the task's fault until another node runs it to an end: see `blame`. */
export function giveBack(state: State, replica: Replica, fault: Fault, nowMs: number): void {
  replica.fault = { class: fault.class, message: fault.message.slice(0, MESSAGE_CHARS_MAX) }
  lookPastAgain(replica)
  if (fault.class === 'node') {
    replica.node.errors++
    state.out.node(replica.node)
    failed(state, replica.node, nowMs)
  }
  moveReplica(state, replica, 'returned', nowMs)
}

/** Others ran the task to an end, or it said another result than it was bound to: what came of the run was its node's fault. */
export function blame(state: State, node: Node, nowMs: number): void {
  node.errors++
  failed(state, node, nowMs)
  refile(state, node)
  state.out.node(node)
}

/** Others agree on something else than the node's result. */
export function contradict(state: State, node: Node, nowMs: number): void {
  refute(state, node)
  wasWrong(state, node, nowMs)
  refile(state, node)
}

/** Its node may be given the task again, or one of another class may, and they have perhaps looked past it. */
export function lookPastAgain({ task }: Replica): void {
  task.group.cursors.setBack(task.order)
}

/** live -> returned, unharmed, and its node told to end it: the coordinator wants it back. It may be given to that node again. */
export function takeBack(state: State, replica: Replica, fault: { readonly class: 'owner' | typeof BANNED; readonly message: string }, nowMs: number): void {
  giveBack(state, replica, fault, nowMs)
  tellCancelled(state, replica, 'held', nowMs)
}

/** True when the task may not be leased to the node (again): it had it, or another goes on from what it did, or its result could not stand beside others. */
export function isBarred(task: Task, node: Node): boolean {
  return hadIt(task, node) || mixes(task, node)
}

/** It has or had a replica of the task, or decided alone what is looked at again. What an owner gave back unharmed does not count, nor a copy that yielded, nor, on a node that was named, what failed or a vote when only a lost output is computed again. */
export function hadIt(task: Task, node: Node): boolean {
  for (const replica of task.replicas) if (replica.node === node && bars(replica)) return true
  if (isIn(task, node)) return true
  return task.batch.rechecks?.get(task.index)?.node === node.id
}

export function bars({ copy, state, fault, task, atMs }: Replica): boolean {
  // It yielded. Of one that the decision ended a result may come yet, which is paid for.
  if (copy && state === 'cancelled') return atMs === task.decision?.atMs
  // It said nothing but that it had too little memory.
  if (fault?.class === TOO_LITTLE_MEMORY) return false
  // Who names nodes has no others: a fault, or a loss, is tried again there while its budget lasts. A vote is one vote; once it is
  // decided what is agreed, whoever makes the lost output again votes no more.
  if (task.batch.policy.nodes.length > 0) {
    if (state === 'lost' || (state === 'returned' && (fault?.class === 'node' || fault?.class === 'task'))) return false
    if (task.decision !== null && (state === 'reported' || state === 'cancelled')) return false
  }
  return state !== 'returned' || !isUnharmed(fault)
}

/** Its node runs the task once more, or has done so: what was lost comes too late to be a vote of its own. */
export function isFollowed(replica: Replica): boolean {
  const { task, node } = replica
  return task.replicas.some((other) => other !== replica && other.node === node && (isLive(other.state) || other.state === 'reported'))
}

/** What was lost may have a voice after all: its node has no other, nobody through whose hands it went was banned, and it can stand beside those that came meanwhile. */
export function mayReturn(state: State, replica: Replica, nowMs: number): boolean {
  const { task, node } = replica
  return !isFollowed(replica) && handsOf(replica).every(({ ban }) => ban === null) && !mixes(task, node) && !isCrowd(state, replica, nowMs)
}

/** A cancelled run has ended, or is assumed to have. */
export function close(state: State, node: Node, id: ReplicaId): void {
  const closing = node.closing?.get(id)
  if (closing === undefined) return
  node.closing?.delete(id)
  endClosing(state, node, id, closing.occupant)
  // A newcomer may have no slot more by it, and yet the memory that a task lacked.
  state.nodesChanged.add(node)
  refile(state, node)
}

/** The node is gone, and with it what ran there. It is to be filed anew. */
export function closeAll(state: State, node: Node): void {
  for (const [id, { occupant }] of node.closing ?? []) endClosing(state, node, id, occupant)
  node.closing = null
}

/** A cancelled run keeps what it has of its node. */
export function keepClosing(node: Node, id: ReplicaId, closing: Closing): void {
  closingOf(node).set(id, closing)
  occupy(node, closing.occupant)
}

function endClosing(state: State, node: Node, id: ReplicaId, occupant: Occupant): void {
  vacate(node, occupant)
  if (occupant.gpus.length > 0) state.out.delete(closingKey(node.id, id))
}

/** Files the node under the slots that it has free now and may use; one that is set aside has none. */
export function refile(state: State, node: Node): void {
  countPresent(state, node, node.connected && node.state === 'online')
  if (node.copies > 0) state.copiesChanged = true
  const free = state.newcomers.allow(node, Math.max(0, roomOf(node)))
  if (free > node.free) state.nodesChanged.add(node)
  state.free.set(node, free)
  if (node.next !== null && node.next.tasks.length > 0) state.nextDue.add(node)
  if (free > 0 && node.isLocal) state.locals.add(node)
  else if (state.locals.size > 0) state.locals.delete(node)
}

/** By what it offers: to be called before that changes, too. */
export function countPresent({ presence }: State, node: Node, present: boolean): void {
  if (node.present === present) return
  node.present = present
  presence.add(node.offer, present ? 1 : -1)
}

/** Slots that the node has free now; below 0 when it holds more than it takes. */
export function roomOf(node: Node): number {
  const { connected, state, asideUntilMs, slots, held, closing } = node
  const takes = connected && state === 'online' && asideUntilMs === 0 ? Math.min(slots, NODE_SLOTS_MAX) : 0
  return takes - held.length - (closing?.size ?? 0)
}

function tellCancelled(state: State, replica: Replica, reason: CancelReason, nowMs: number): void {
  const { node } = replica
  if (replica.assignSeq === -1) return
  enclose(node, 'cancel', { replica: replica.id, reason })
  state.out.speak(node)
  // Who yields makes room at once: its node starts what comes next when the run is gone, a second later. A GPU is not shared for a moment.
  if (!replica.granted || (reason === 'yield' && replica.gpus.length === 0)) return
  const closing = { occupant: replica, untilMs: nowMs + CLOSING_MS_MAX }
  keepClosing(node, replica.id, closing)
  if (replica.gpus.length > 0) state.out.put(closingKey(node.id, replica.id), encodeClosingRecord(closing))
  state.watch.at(node, nowMs + CLOSING_MS_MAX)
  refile(state, node)
}

/** Its node has it, and what it needs is taken there. */
export function take(state: State, replica: Replica): void {
  const { node, task } = replica
  state.fair.hold(task.batch.client, 1)
  replica.place = node.held.length
  node.held = withOne(node.held, replica)
  occupy(node, replica)
}

/** A copy among what runs. */
export function noteCopy(state: State, replica: Replica): void {
  if (!replica.copy) return
  state.copies.add(replica)
  replica.node.copies++
}

function hold(state: State, replica: Replica): void {
  take(state, replica)
  noteCopy(state, replica)
  refile(state, replica.node)
}

function release(state: State, replica: Replica): void {
  const { node, task } = replica
  if (!replica.granted) forgetComing(state, node, task.bundle.data)
  madeRoom(state, node)
  node.held = withoutAt(node.held, replica.place)
  const moved = node.held[replica.place]
  if (moved !== undefined) moved.place = replica.place
  leftSlot(state, task.batch.client)
  vacate(node, replica)
  if (state.copies.delete(replica)) node.copies--
  state.nodesChanged.add(node)
  refile(state, node)
}

/** When it counts as lost, by what its node should have said by then, in the state that it is in (F12): see `overdue`. */
export function deadlineMs(replica: Replica): number {
  const { atMs, task } = replica
  const asked = task.batch.policy.deadlineMs
  const byState = deadlineOf(replica)
  return asked === 0 ? byState : Math.min(byState, atMs + asked)
}

function deadlineOf({ state, atMs, signMs, tells, granted, task }: Replica): number {
  const { timeMs } = task.bundle
  const silentMs = signMs + SILENT_LEASE_MS_MAX
  if (state === 'uploading') return tells ? silentMs : atMs + timeMs + REPORT_SLACK_MS
  // Right after a restart of the coordinator it may have been uploading for long.
  if (granted) return Math.max(silentMs, atMs + timeMs * (1 + CLOCKS_DIFFER_SHARE) + RUN_SLACK_MS)
  if (tells) return Math.min(atMs + MOVING_MS_MAX, silentMs)
  return Math.min(atMs + PREPARE_MS_MAX, state === 'leased' ? silentMs : Number.POSITIVE_INFINITY)
}

/** All its slots are in use by what runs, or may still run: of a lease that waits for one nothing is to be said. */
export function isFull({ held, closing, slots }: Node): boolean {
  let running = closing?.size ?? 0
  for (const { granted } of held) if (granted) running++
  return running >= slots
}

/** What its node failed to do in its time. */
export function overdue({ state, granted, task, signMs }: Replica, nowMs: number): string {
  if (task.batch.policy.deadlineMs > 0 && nowMs - signMs < SILENT_LEASE_MS_MAX) return 'not done within its deadline'
  const minutes = SILENT_LEASE_MS_MAX / 60_000
  if (state === 'uploading') return `nothing of its output moved for ${minutes} min`
  if (granted) return 'it had not ended long after its time limit'
  return state === 'preparing' ? `nothing of its inputs came for ${minutes} min` : `nothing was said of it for ${minutes} min`
}
