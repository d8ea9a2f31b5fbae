/** Nodes come, fall silent, leave and come back; what they held follows. */
import { Link } from '#protocol/control/link'
import type { ReplicaId } from '#protocol/ids'
import { comesBack, failed, isDueBack } from './aside.ts'
import { observe } from './availability.ts'
import { banMessage, banOf } from './bans.ts'
import { isPast } from './clock.ts'
import type { Event } from './events.ts'
import { silence } from './failing.ts'
import { type Holding, note } from './holders.ts'
import { outKey } from './keys.ts'
import type { Waiting } from './link-records.ts'
import type { Node } from './model.ts'
import { beginNext } from './next.ts'
import { newNode } from './node.ts'
import { CLOSING_MS_MAX, FORGOTTEN_MS, NODES_MAX, OUTBOX_FRAMES_MAX, RETURNING_MS } from './policy.ts'
import { retryPull } from './pulls.ts'
import { askAgain, forgetRemains, sweepRemains } from './remains.ts'
import { close, closeAll, countPresent, deadlineMs, giveBack, isFull, lose, overdue, refile, revive } from './replicas.ts'
import type { State } from './state.ts'
import { isLive } from './states.ts'
import { gradeTrust } from './trust.ts'

type Hello = Extract<Event, { kind: 'hello' }>

/** A node's stream began: welcome, then replays of what it does not have yet, then new work. */
export function hello(state: State, event: Hello, nowMs: number): void {
  const ban = banOf(state, { id: event.node, offer: event.offer })
  if (ban !== undefined) {
    state.out.effect({ kind: 'disconnect', node: event.node, code: 'banned', message: banMessage(ban) })
    return
  }
  const known = state.nodes.get(event.node)
  if (known === undefined && state.nodes.size >= NODES_MAX) {
    state.out.effect({ kind: 'disconnect', node: event.node, code: 'full', message: `this project takes no more than ${NODES_MAX} nodes` })
    return
  }
  const node = known ?? newNode(state.nodeLists, event.node, event.offer, nowMs)
  if (known === undefined) state.nodes.add(node)
  observe(node, nowMs)
  if (nowMs - node.lastSeenMs > RETURNING_MS) node.row = node.accepted = 0
  const was = node.offer.owner
  countPresent(state, node, false)
  node.offer = event.offer
  // It was of a banned network, and is of another now.
  node.ban = null
  gradeTrust(state, node)
  state.free.file(node, was)
  node.slots = event.offer.slots
  node.state = 'online'
  node.connected = true
  node.lastSeenMs = nowMs
  state.out.node(node)
  state.out.journal.node(node.id, 'online')
  const { link } = node
  // A node that has less than it once acknowledged, or more than was ever sent, is not at the other end of this link.
  const resumed = link !== null && link.id === event.link && link.resumable(event.received) && acknowledge(state, node, event.received)
  if (!resumed) startLink(state, node, event.spare, nowMs)
  const unknown = resumed ? reconcile(state, node, event, nowMs) : [...event.replicas]
  state.out.replay(node)
  state.out.effect({ kind: 'welcome', node: node.id, resumed, received: node.link?.received ?? 0, unknown })
  state.nodesChanged.add(node)
  watch(state, node, nowMs)
  tellAll(state, node, event.holdings ?? [])
  beginNext(state, node, event.next ?? 0)
  refile(state, node)
  for (const task of state.waitingPulls) if (task.replicas.some((replica) => replica.node === node)) retryPull(state, task, nowMs)
  askAgain(state, node, nowMs)
}

/** Data that lies at the node now, and what does no more. */
export function holdings(state: State, node: Node, { got, dropped }: Extract<Event, { kind: 'holdings' }>): void {
  for (const root of dropped) state.holders.drop(node, root)
  for (const holding of got) note(state, node, holding, true)
}

/** All that it has; what its leases bring there comes besides. */
function tellAll(state: State, node: Node, held: readonly Holding[]): void {
  state.holders.clear(node)
  for (const holding of held) state.holders.add(node, holding, true)
  for (const { task } of node.held) for (const need of task.bundle.data ?? []) state.holders.add(node, need, false)
}

/** Its stream ended: nothing new is leased to it, and silence will tell whether it is lost. */
export function gone(state: State, node: Node): void {
  if (node.connected) state.out.journal.node(node.id, 'gone')
  node.connected = false
  refile(state, node)
}

/** It leaves on purpose: what it held goes back to the queue at once. */
export function bye(state: State, node: Node, nowMs: number): void {
  for (const replica of [...node.held]) giveBack(state, replica, { class: 'owner', message: 'the node left' }, nowMs)
  node.state = 'left'
  node.slots = 0
  state.out.journal.node(node.id, 'left')
  closeAll(state, node)
  state.holders.clear(node)
  state.out.node(node)
  refile(state, node)
}

/** Forgets what the node made durable; false when it names a number that was never used. */
export function acknowledge(state: State, node: Node, seq: number): boolean {
  const { link } = node
  if (link === null || seq > link.sent) return false
  for (const { seq: number, payload } of link.acknowledge(seq)) if (payload.filed) state.out.delete(outKey(node.id, number))
  return true
}

export function disconnect(state: State, node: Node, code: string, message: string): void {
  state.out.effect({ kind: 'disconnect', node: node.id, code, message })
  gone(state, node)
}

/** The slow sweep: silence, deadlines, runs that should have ended, what killed ones left, outboxes that nobody empties. Looks only at nodes that are due. */
export function sweepNodes(state: State, nowMs: number): void {
  const silenceMs = state.policy.heartbeatMs * state.policy.missedMax
  const setBack = state.watch.isBefore(nowMs)
  if (setBack) state.graceUntilMs = Math.min(state.graceUntilMs, nowMs + state.policy.restartGraceMs)
  for (const node of state.watch.take(nowMs)) {
    // By a clock that was set back, nobody was heard of later than now.
    if (setBack && node.lastSeenMs > nowMs) node.lastSeenMs = nowMs
    if (node.state === 'online' && nowMs - node.lastSeenMs > silenceMs && nowMs >= state.graceUntilMs) nodeLost(state, node, silenceMs, nowMs)
    observe(node, nowMs)
    if (isDueBack(state, node, nowMs)) {
      comesBack(state, node)
      refile(state, node)
    }
    if (node.closing !== null) for (const [id, { untilMs }] of node.closing) if (isPast(untilMs, CLOSING_MS_MAX, nowMs)) close(state, node, id)
    if (node.forgotten !== null && isPast(node.forgotten.atMs, FORGOTTEN_MS, nowMs)) forgetReplicas(state, node, nowMs)
    loseOverdue(state, node, nowMs)
    watch(state, node, nowMs)
  }
  for (const node of state.out.overrun) if (overruns(node)) cutOff(state, node, nowMs)
  state.out.overrun.clear()
  sweepRemains(state, nowMs)
}

/** What its node should have begun, moved on or ended by now. */
function loseOverdue(state: State, node: Node, nowMs: number): void {
  if (isFull(node)) for (const replica of node.held) if (!replica.granted) replica.signMs = nowMs
  if (!node.held.some((held) => nowMs >= deadlineMs(held))) return
  const late = node.held.filter((held) => nowMs >= deadlineMs(held))
  // Once, however many those are.
  failed(state, node, nowMs)
  for (const replica of late) lose(state, replica, { message: overdue(replica, nowMs), tell: true }, nowMs)
}

/** Both sides number from 1; what the node held under another link, or before it lost its own records, is lost. */
function startLink(state: State, node: Node, id: string, nowMs: number): void {
  if (node.held.length > 0) failed(state, node, nowMs)
  for (const replica of [...node.held]) lose(state, replica, { message: 'the node started anew without it' }, nowMs)
  forgetRemains(state, node)
  dropLink(state, node)
  node.link = new Link<Waiting>({ id, sent: 0, received: 0 })
  state.out.link(node)
}

/** It is shut out: nothing that it has, or is to be told, is waited for. */
export function closeLink(state: State, node: Node): void {
  node.connected = false
  forgetRemains(state, node)
  dropLink(state, node)
  state.out.link(node)
  refile(state, node)
}

function dropLink(state: State, node: Node): void {
  for (const { seq, payload } of node.link?.pending() ?? []) if (payload.filed) state.out.delete(outKey(node.id, seq))
  closeAll(state, node)
  node.link = null
  node.forgotten = null
  node.outgoing = null
}

/** Compares what the node holds with what it should: found ones go on, those it does not list are lost soon, the rest is unknown. */
function reconcile(state: State, node: Node, { replicas: listed }: Hello, nowMs: number): ReplicaId[] {
  const names = new Set(listed)
  const unknown: ReplicaId[] = []
  const dropped = toldToDrop(node)
  for (const id of names) {
    if (node.owed?.has(id) === true) continue
    const replica = state.replica(id)
    if (replica === undefined || replica.node !== node) unknown.push(id)
    // Its output may still be wanted: the release says when not.
    else if (!isLive(replica.state) && replica.state !== 'reported' && (dropped.has(id) || !revive(state, replica, nowMs))) unknown.push(id)
  }
  const acked = node.link?.acked ?? 0
  const missing = node.held.filter(({ id, assignSeq }) => assignSeq !== -1 && assignSeq <= acked && !names.has(id))
  node.forgotten = missing.length === 0 ? null : { replicas: missing, atMs: nowMs + FORGOTTEN_MS }
  for (const id of node.closing?.keys() ?? []) if (!names.has(id)) close(state, node, id)
  return unknown
}

/** Replicas that a message which the node does not have yet tells it to drop: found again, they would be dropped all the same. */
function toldToDrop({ link, outgoing }: Node): ReadonlySet<ReplicaId> {
  const dropped = new Set([...(outgoing?.refused ?? []), ...(outgoing?.cancel.map(({ replica }) => replica) ?? [])])
  for (const { payload } of link?.pending() ?? []) {
    const { said } = payload
    if (said.kind === 'cancel') for (const id of said.replicas) dropped.add(id)
    if (said.kind === 'grant') for (const id of said.refused) dropped.add(id)
  }
  return dropped
}

function forgetReplicas(state: State, node: Node, nowMs: number): void {
  for (const replica of node.forgotten?.replicas ?? [])
    if (isLive(replica.state)) lose(state, replica, { message: 'the node came back without it', tell: true }, nowMs)
  node.forgotten = null
}

/** online -> lost, with everything that it held. */
function nodeLost(state: State, node: Node, silenceMs: number, nowMs: number): void {
  node.state = 'lost'
  state.out.node(node)
  state.out.journal.node(node.id, 'lost', `nothing was heard for ${silenceMs / 1000} s`)
  if (node.connected) disconnect(state, node, 'silent', `nothing was heard for ${silenceMs / 1000} s`)
  if (node.held.length > 0) failed(state, node, nowMs)
  for (const replica of [...node.held]) lose(state, replica, silence(replica, nowMs), nowMs)
  closeAll(state, node)
  node.forgotten = null
  state.holders.clear(node)
  refile(state, node)
}

/** More waits for its acknowledgement than may. */
export function overruns({ link }: Node): boolean {
  return link !== null && link.waiting > OUTBOX_FRAMES_MAX
}

/** Its link is given up; with the next hello both sides start anew. */
function cutOff(state: State, node: Node, nowMs: number): void {
  if (node.connected) disconnect(state, node, 'overrun', `more than ${OUTBOX_FRAMES_MAX} messages wait for an acknowledgement`)
  for (const replica of [...node.held]) lose(state, replica, { message: 'the node did not take its messages' }, nowMs)
  dropLink(state, node)
}

/** Files the node under the earliest time at which something of it can be over. Hearing of it does not: it is filed anew when it is looked at. */
export function watch(state: State, node: Node, nowMs: number): void {
  const { heartbeatMs, missedMax } = state.policy
  let atMs = node.state === 'online' ? Math.max(nowMs, node.lastSeenMs + heartbeatMs * missedMax, state.graceUntilMs) + 1 : Number.POSITIVE_INFINITY
  if (node.closing !== null) for (const { untilMs } of node.closing.values()) atMs = Math.min(atMs, untilMs)
  if (node.asideUntilMs > 0) atMs = Math.min(atMs, node.asideUntilMs)
  if (node.forgotten !== null) atMs = Math.min(atMs, node.forgotten.atMs)
  for (const replica of node.held) atMs = Math.min(atMs, deadlineMs(replica))
  state.watch.at(node, atMs)
}
