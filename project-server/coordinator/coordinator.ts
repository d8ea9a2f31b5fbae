/**
 * The coordinator of one project in one epoch: events in, changes, effects and receipts to sign out. It mutates its own state
 * in place and has no hidden inputs: the same events at the same times give the same output. README.md has the diagram.
 *
 * The shell applies any number of events, then calls `take` once, commits the changes (with the signed receipts) and only
 * then carries out the effects.
 */
import type { BatchId, PeerIdString, TaskId } from '#protocol/ids'
import type { BanAnswer, BanTarget, BanView } from '#protocol/owner/bans'
import type { CreditRow } from '#protocol/owner/credit'
import type { NodeView, Resolved, RunProgress, WhyView } from '#protocol/owner/messages'
import type { Store } from '../ports.ts'
import { banEvent, banned } from './bans.ts'
import type { BatchRecord } from './batch-records.ts'
import { killEvent, type SubmitRefusal, submit, submitRefusal } from './batches.ts'
import { offered, saved } from './checkpoints.ts'
import { brought, clientOf, clientView, roomOf, setClient } from './clients.ts'
import { commits, endReveals } from './commitments.ts'
import { compared, retryComparisons } from './comparisons.ts'
import { copyToIdle } from './copies.ts'
import { nodeCredits, ownerCredits } from './credit-views.ts'
import { again, completed, releaseDependents } from './dependents.ts'
import type { Event } from './events.ts'
import { progressOf } from './figures.ts'
import { holdEvent, releaseEvent } from './holds.ts'
import { type Cause, isCause } from './journal.ts'
import { crashed } from './last-words.ts'
import { lookAhead, lookAheadAgain } from './look-ahead.ts'
import { inputsLooked } from './lost-inputs.ts'
import type { Node } from './model.ts'
import { acknowledge, bye, disconnect, gone, hello, holdings, sweepNodes } from './nodes.ts'
import type { LeaseSigner, Taken } from './output.ts'
import { parked } from './parked.ts'
import { type CoordinatorPolicy, DEFAULT_COORDINATOR_POLICY, FOUND_MAX } from './policy.ts'
import { pullFailed, retryPull } from './pulls.ts'
import { endWaiting } from './queue-limits.ts'
import { recheckEvent } from './recheck-batches.ts'
import { load } from './recovery.ts'
import { pulledRemains } from './remains.ts'
import { refile } from './replicas.ts'
import { progress, reports, returned, start } from './reports.ts'
import { lookAtAll, place } from './scheduler.ts'
import { batchRecord, taskRecord } from './snapshots.ts'
import { expects } from './sources.ts'
import { State } from './state.ts'
import { findStragglers } from './stragglers.ts'
import { looked, makeAhead, totalOf } from './sweeps.ts'
import type { TaskRecord } from './task-records.ts'
import { finish, settle } from './tasks.ts'
import { nodeView } from './views.ts'
import { firstWaiting, why, whyUnmade } from './why.ts'

export interface CoordinatorOptions {
  /** Peer id of the project's key. */
  readonly project: PeerIdString
  /** As `Store.beginEpoch` gave it. */
  readonly epoch: number
  readonly policy?: CoordinatorPolicy
  /** The project's key. */
  readonly signer: LeaseSigner
}

export class Coordinator {
  readonly #state: State
  #nowMs = 0

  constructor({ project, epoch, policy = DEFAULT_COORDINATOR_POLICY, signer }: CoordinatorOptions) {
    this.#state = new State({ project, epoch, policy, signer })
  }

  /** Rebuilds the live state: what is not terminal, and every node. `nowMs` is the time of the restart: nodes get a full grace period from it. Throws when the records contradict each other. */
  async load(store: Pick<Store, 'get' | 'range'>, nowMs: number): Promise<void> {
    this.#state.fair.forward(nowMs)
    await load(this.#state, store, nowMs)
    this.#follow(nowMs)
  }

  /** Why this submit would be refused; undefined when `apply` will accept it (or has already: repeating is harmless). */
  refusal(event: Extract<Event, { kind: 'submit' }>): SubmitRefusal | undefined {
    return submitRefusal(this.#state, event)
  }

  /** Applies one event completely: what follows for tasks is settled, and what can be leased is. A refused submit changes nothing. */
  apply(event: Event, nowMs: number): void {
    const state = this.#state
    state.fair.forward(nowMs)
    state.out.journal.because(causeOf(event), actorOf(event), nowMs)
    switch (event.kind) {
      case 'submit':
        submit(state, event, nowMs)
        break
      case 'kill':
        killEvent(state, event, nowMs)
        break
      case 'hold':
        holdEvent(state, event, nowMs)
        break
      case 'release':
        releaseEvent(state, event, nowMs)
        break
      case 'client':
        setClient(state, event)
        break
      case 'ban':
        banEvent(state, event, nowMs)
        break
      case 'brought':
        brought(state, event)
        break
      case 'recheck':
        recheckEvent(state, event, nowMs)
        break
      case 'hello':
        hello(state, event, nowMs)
        break
      case 'pulled':
        this.#pulled(event, nowMs)
        break
      case 'saved':
        saved(state, event, nowMs)
        break
      case 'compared': {
        const task = state.task(event.task)
        if (task !== undefined) compared(state, task, event, nowMs)
        break
      }
      case 'completed':
        completed(state, event, nowMs)
        break
      case 'looked':
        looked(state, event)
        break
      case 'again':
        again(state, event, nowMs)
        break
      case 'inputs':
        inputsLooked(state, event)
        break
      case 'tick':
        sweepNodes(state, nowMs)
        for (const task of state.waitingPulls) retryPull(state, task, nowMs)
        retryComparisons(state, nowMs)
        endReveals(state, nowMs)
        findStragglers(state, nowMs)
        endWaiting(state, nowMs)
        state.fair.refresh()
        lookAtAll(state)
        if (state.dataGroups > 0) lookAheadAgain(state)
        if (state.groupsChanged.size > 0) state.newcomers.rotate((node) => refile(state, node))
        break
      default:
        this.#fromNode(event, nowMs)
    }
    this.#follow(nowMs)
    if (event.kind !== 'tick') return
    copyToIdle(state, nowMs)
    if (state.copiesChanged) this.#follow(nowMs)
  }

  /**
   * Whether tasks, nodes, links, clients and results are written down, and what happens for those who look on: on, but for a
   * large simulation that has no store, for which a part of it is enough. Nothing is decided by it. Switched after a take.
   */
  set recording(on: boolean) {
    this.#state.out.recording = on
  }

  /** Whether what is sent to nodes is encoded: on, but for a large simulation without streams, whose nodes are told `said`. */
  set framing(on: boolean) {
    this.#state.out.framing = on
  }

  /** Everything gathered since the last call, for one group commit. */
  take(): Taken {
    return this.#state.out.take()
  }

  /** A task or a batch that is not over: others can wait for it. */
  expects(of: TaskId | BatchId): boolean {
    return expects(this.#state, of)
  }

  /** A batch that has tasks which are not terminal; others are read with `decodeBatchRecord` from `batch/<id>`. */
  batch(id: BatchId): BatchRecord | undefined {
    const batch = this.#state.batches.get(id)
    return batch === undefined ? undefined : batchRecord(batch)
  }

  /** A task of such a batch that is not terminal; others are read as stored-tasks.ts does. */
  task(id: TaskId): TaskRecord | undefined {
    const task = this.#state.task(id)
    return task === undefined ? undefined : taskRecord(task)
  }

  /** How far the runs of a task say that they are, by attempt; of those that say it. */
  progress(id: TaskId): ReadonlyMap<number, RunProgress> {
    const found = new Map<number, RunProgress>()
    for (const replica of this.#state.task(id)?.replicas ?? []) {
      const progress = progressOf(replica, this.#nowMs)
      if (progress !== undefined) found.set(replica.attempt, progress)
    }
    return found
  }

  /** What a task that is not terminal waits for; of a batch, its first task that waits for a node. */
  why(id: TaskId | BatchId): WhyView | undefined {
    const batch = this.#state.batches.get(id)
    const task = batch === undefined ? this.#state.task(id) : firstWaiting(batch)
    return task === undefined ? whyUnmade(this.#state, id, this.#nowMs) : why(this.#state, task, this.#nowMs)
  }

  /** Whether it was added to the project or removed; undefined when only the project's file knows. */
  isMember(client: PeerIdString): boolean | undefined {
    return this.#state.clients.get(client)?.member ?? undefined
  }

  /** Those that were ever heard of. */
  clients(): readonly PeerIdString[] {
    return [...this.#state.clients.keys()]
  }

  /** What it is granted and used; of one that was never heard of, what anybody is granted. */
  client(id: PeerIdString): ReturnType<typeof clientView> {
    return clientView(this.#state.clients.get(id) ?? clientOf({ clients: new Map() }, id), this.#nowMs)
  }

  /** Bytes that may still be kept for it; null without a limit. */
  room(id: PeerIdString): number | null {
    const client = this.#state.clients.get(id)
    return client === undefined ? null : roomOf(client)
  }

  /** A manifest that a live task needs; others are read as stored-tasks.ts does. */
  bundle(cid: string): Uint8Array | undefined {
    return this.#state.bundles.get(cid)?.bytes
  }

  /** Whether it is a node that is there. */
  isOnline(id: PeerIdString): boolean {
    return this.#state.nodes.get(id)?.state === 'online'
  }

  /** How many nodes have the tree, or are to have it, as far as is known. */
  crowdAt(root: string): number {
    return this.#state.holders.of(root).length
  }

  /** Bytes of a tree that the node needs and does not have, as far as is known; undefined when it has it, or need not. */
  comingTo(id: PeerIdString, root: string): number | undefined {
    const node = this.#state.nodes.get(id)
    const data = node?.state === 'online' ? node.holds?.get(root) : undefined
    return data?.here === false ? data.bytes : undefined
  }

  /** It is a checkpoint of a task that is not over. */
  keepsCheckpoint(root: string): boolean {
    return this.#state.checkpoints.has(root)
  }

  /** Those that are there and have the tree, of at most `max` nodes that ever said so, beginning with the one drawn. */
  holdersOf(root: string, draw: number, max: number): readonly PeerIdString[] {
    const nodes = this.#state.holders.of(root)
    const found: PeerIdString[] = []
    for (let step = 0; step < Math.min(nodes.length, max); step += 1) {
      const node = nodes[(draw + step) % nodes.length]
      if (node?.state === 'online' && node.holds?.get(root)?.here === true) found.push(node.id)
    }
    return found
  }

  /** Of all nodes that it knows, in the order they came. */
  nodeIds(): Iterable<PeerIdString> {
    return this.#state.nodes.keys()
  }

  /** Every node of the project, the present ones first. */
  nodes(): readonly NodeView[] {
    const silentBeforeMs = this.#nowMs - 2 * this.#state.policy.heartbeatMs
    const views = [...this.#state.nodes.values()].map((node) => nodeView(node, silentBeforeMs))
    return views.sort((a, b) => Number(b.state === 'online') - Number(a.state === 'online'))
  }

  /** Whom its administrator lets in no more, the latest last. */
  bans(): readonly BanView[] {
    return this.#state.bans.views()
  }

  /** Nodes with most credit. */
  nodeCredits(limit: number): readonly CreditRow[] {
    return nodeCredits(this.#state, limit)
  }

  /** Owners with most credit. */
  ownerCredits(limit: number): readonly CreditRow[] {
    return ownerCredits(this.#state, limit)
  }

  /** The nodes that such a ban means, with what they would lose by it. */
  banned(target: BanTarget): BanAnswer['nodes'] {
    return banned(this.#state, target)
  }

  /** What an id, a unique prefix of one or a batch's name can mean among live batches, at most 16; finished ones are found by the shell with `batch/<prefix>` and `name/<name>/`. */
  find(text: string): readonly Resolved[] {
    const [stem = '', index] = text.split('.')
    const found: Resolved[] = []
    for (const batch of this.#state.batches.values()) {
      const { id, name } = batch
      if (found.length >= FOUND_MAX) break
      if (stem === '' || !(id.startsWith(stem) || name === text)) continue
      if (index === undefined || name === text) found.push({ kind: 'batch', id, name })
      else if (Number(index) < totalOf(batch)) found.push({ kind: 'task', id: `${id}.${Number(index)}`, name })
    }
    return found
  }

  /** What a node said. Nothing is believed before its hello; numbered messages are applied once each, in order. */
  #fromNode(
    event: Exclude<
      Event,
      {
        kind:
          | 'submit'
          | 'kill'
          | 'hold'
          | 'release'
          | 'client'
          | 'brought'
          | 'ban'
          | 'hello'
          | 'pulled'
          | 'saved'
          | 'compared'
          | 'completed'
          | 'looked'
          | 'again'
          | 'inputs'
          | 'recheck'
          | 'tick'
      }
    >,
    nowMs: number
  ): void {
    const state = this.#state
    const node = state.nodes.get(event.node)
    if (event.kind === 'gone') {
      if (node !== undefined) gone(state, node)
      return
    }
    if (node?.connected !== true) {
      state.out.effect({ kind: 'disconnect', node: event.node, code: 'no_hello', message: 'the first message of a stream is a hello' })
      return
    }
    node.lastSeenMs = Math.max(node.lastSeenMs, nowMs)
    switch (event.kind) {
      case 'heartbeat':
        return
      case 'demand':
        node.slots = node.state === 'left' ? 0 : event.slots
        refile(state, node)
        return
      case 'holdings':
        holdings(state, node, event)
        return
      case 'parked':
        parked(state, node, event, nowMs)
        return
      case 'checkpoints':
        offered(state, node, event, nowMs)
        return
      case 'crashed':
        crashed(state, node, event, nowMs)
        return
      case 'ack':
        if (!acknowledge(state, node, event.seq)) disconnect(state, node, 'bad_ack', `message ${event.seq} was never sent`)
        return
      default:
        if (this.#accept(node, event.seq)) this.#numbered(node, event, nowMs)
    }
  }

  #accept(node: Node, seq: number): boolean {
    const state = this.#state
    const { link } = node
    const arrival = link?.accept(seq)
    if (arrival === 'gap') {
      disconnect(state, node, 'gap', `message ${seq} came after ${link?.received}: something was lost on the way`)
      return false
    }
    state.out.ack(node)
    if (arrival !== 'new') return false
    state.out.link(node)
    return true
  }

  #numbered(node: Node, event: Extract<Event, { seq: number }>, nowMs: number): void {
    switch (event.kind) {
      case 'start':
        start(this.#state, node, event, nowMs)
        return
      case 'progress':
        progress(this.#state, node, event, nowMs)
        return
      case 'reports':
        reports(this.#state, node, event, nowMs)
        return
      case 'returned':
        returned(this.#state, node, event, nowMs)
        return
      case 'bye':
        bye(this.#state, node, nowMs)
        return
      case 'commits':
        commits(this.#state, node, event, nowMs)
        return
      case 'ack':
        return
    }
  }

  #pulled(event: Extract<Event, { kind: 'pulled' }>, nowMs: number): void {
    const { task: id, ok, bytes } = event
    const task = this.#state.task(id)
    if (task === undefined) pulledRemains(this.#state, event, nowMs)
    if (task === undefined || task.pull === null || task.decision === null) return
    if (ok) finish(this.#state, task, bytes ?? task.decision.bytes, nowMs)
    else pullFailed(this.#state, task, nowMs)
  }

  /** Settles the tasks that the event touched, looks at who waited for those that are over, then leases. */
  #follow(nowMs: number): void {
    const state = this.#state
    this.#nowMs = nowMs
    // Placing makes copies yield, which may let others of their tasks yield, too; it brings data to nodes, for which others wait; what is made of a sweep may be placed at once, and then more is wanted.
    do {
      state.out.journal.because('settle', null, nowMs)
      for (const task of state.touched.items) settle(state, task, nowMs)
      state.touched.clear()
      releaseDependents(state, nowMs)
      if (state.newcomers.pending) state.newcomers.drain((node) => refile(state, node))
      state.out.journal.because('place', null, nowMs)
      place(state, nowMs)
      if (state.nextDue.items.length > 0) lookAhead(state, nowMs)
    } while (
      state.touched.items.length > 0 ||
      state.nodesChanged.items.length > 0 ||
      state.copiesChanged ||
      state.newcomers.pending ||
      (state.sweeps.size > 0 && makeAhead(state, nowMs))
    )
  }
}

/** What moves while the event itself is applied; what follows from it is the coordinator's. */
function causeOf({ kind }: Event): Cause {
  if (kind === 'tick') return 'sweep'
  if (kind === 'progress') return 'reports'
  return isCause(kind) ? kind : 'other'
}

/** A client or a node; null for the coordinator itself. */
function actorOf(event: Event): PeerIdString | null {
  if ('by' in event) return event.by
  return 'node' in event && event.kind !== 'pulled' && event.kind !== 'saved' ? event.node : null
}
