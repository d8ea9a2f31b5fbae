/**
 * The node's agent: what it holds, what it may run, and what it owes the coordinator. It reads no clock, draws nothing and
 * waits for nothing: events go in with `apply`, and `take` answers everything they caused, coalesced. The shell makes the
 * changes durable before it carries out the effects, so what the agent says outlives its own `kill -9`. Each event is answered
 * by a function of its part: contact, admission, ending, saving, reporting, custody, availability, recovery.
 */
import { Frame } from '#protocol/control/messages'
import type { ReplicaId } from '#protocol/ids'
import { accept, askNext, grant, prepared, refuse } from './admission.ts'
import { drain, engine, leave, pause, quit, resume } from './availability.ts'
import { demandOf, disconnected, hello, isNew, tellProgress, welcome } from './contact.ts'
import { answered, collected, meet, offered, park, uncollected, unkeep } from './custody.ts'
import { cancel, ended, failed, hinted } from './ending.ts'
import type { AgentEvent, AgentView, Change, CheckedLease, Prompt, Replica, Step } from './events.ts'
import { setNext } from './next.ts'
import { inHand, recovered, restore, restored, unrecovered } from './recovery.ts'
import { published, release, reveal } from './reporting.ts'
import type { Safekeeping } from './safekeeping.ts'
import { giveUpSaving, offerSnapshot, taken, unsaved } from './saving.ts'
import { type AgentOptions, type AgentSigner, State } from './state.ts'
import type { Evicted } from './stock.ts'

export class Agent {
  readonly #state: State

  /** `link`: 16 random bytes, the link's id if the store has none yet. */
  constructor(options: AgentOptions, signer: AgentSigner, link: Uint8Array) {
    this.#state = new State(options, signer, link)
  }

  /** Takes back one durable record, before the first event; followed by `restored()`. Throws when the record is damaged. */
  restore(key: string, value: Uint8Array, nowMs: number): void {
    restore(this.#state, key, value, nowMs)
  }

  /** All records were given. */
  restored(): void {
    restored(this.#state)
  }

  /** The machine was started again since what is held began: nobody may be asked what came of it. */
  get isAnotherBoot(): boolean {
    return this.#state.isAnotherBoot
  }

  /** Leases that were running (or being killed) when the node went down: the executors look for them. Before another start of the machine, those that were being published too. */
  unrecovered(): CheckedLease[] {
    return unrecovered(this.#state)
  }

  /** What the node went down with: held and neither reported nor given back, what had begun first. Before the first event. */
  inHand(): ReplicaId[] {
    return inHand(this.#state)
  }

  /** Data that lies here for later runs. */
  *stocked(): Generator<Evicted & { readonly bytes: number }, void, undefined> {
    if (this.#state.stock !== undefined) yield* this.#state.stock.all()
  }

  /** What is kept for others, with what it names. */
  *keeping(): ReturnType<Safekeeping['all']> {
    if (this.#state.kept !== undefined) yield* this.#state.kept.all()
  }

  isStocked(root: string): boolean {
    return this.#state.stock?.has(root) === true
  }

  /** What is kept until it is released: CIDs as text. */
  *reported(): Generator<readonly [ReplicaId, readonly string[]]> {
    for (const [id, { replica }] of this.#state.held.entries()) if (replica.phase === 'reported') yield [id, replica.content]
  }

  phaseOf(replica: ReplicaId): Replica['phase'] | undefined {
    return this.#state.phaseOf(replica)
  }

  view(): AgentView {
    const { mode, welcomed, engineUp, options, outbox, stock, kept, keep, parking, coming, held } = this.#state
    return {
      mode,
      connected: welcomed,
      engineUp,
      slots: options.slots,
      unacknowledged: outbox.unacknowledged,
      stock: stock?.view() ?? { trees: 0, bytes: 0, bytesMax: options.stockBytesMax, fetchedTrees: 0, fetchedBytes: 0 },
      keeping: kept?.view() ?? { results: 0, bytes: 0, bytesMax: keep.bytesMax },
      parked: parking?.parked ?? 0,
      next: coming?.size ?? 0,
      replicas: [...held.entries()].map(([id, { replica, sinceMs }]) => ({ replica: id, phase: replica.phase, sinceMs }))
    }
  }

  apply(event: AgentEvent, nowMs: number): void {
    const state = this.#state
    switch (event.kind) {
      case 'connected':
        hello(state, event.spare)
        break
      case 'disconnected':
        disconnected(state)
        break
      case 'welcome':
        welcome(state, event, nowMs)
        break
      case 'acked':
        state.outbox.acknowledged(event.seq)
        break
      case 'assign':
        if (isNew(state, event.seq)) for (const lease of event.leases) accept(state, lease, nowMs)
        break
      case 'grant':
        if (!isNew(state, event.seq)) break
        for (const id of event.granted) grant(state, id, nowMs)
        for (const id of event.refused) refuse(state, id)
        break
      case 'cancel':
        if (isNew(state, event.seq)) for (const id of event.replicas) cancel(state, id, event.reason, nowMs)
        break
      case 'release':
        if (isNew(state, event.seq)) for (const id of event.replicas) release(state, id)
        break
      case 'reveal':
        if (isNew(state, event.seq)) for (const id of event.replicas) reveal(state, id, nowMs)
        break
      case 'next':
        if (state.welcomed) setNext(state, state.mode === 'active' && state.engineUp ? event.bundles : [])
        break
      case 'skipped':
        isNew(state, event.seq)
        break
      case 'using':
        state.stocking.use(event.replica, event, event.fetched, nowMs)
        if (!mayRead(state, event.replica)) state.stocking.unused(event.replica)
        break
      case 'kept':
        state.stocking.keep(event.replica, event, nowMs)
        break
      case 'missing':
        state.stock?.forget(event.root)
        break
      case 'hinted':
        // Who is connected is told by the control stream.
        if (!state.welcomed) for (const id of event.replicas) hinted(state, id, event.what, nowMs)
        break
      case 'crashed':
        state.crash.add(event.words)
        break
      case 'neighbours':
        meet(state, event.neighbours)
        break
      case 'answered':
        answered(state, event, event.code, nowMs)
        break
      case 'offered':
        offered(state, event.parcel, nowMs)
        break
      case 'collected':
        collected(state, event.replica)
        break
      case 'uncollected':
        uncollected(state, event.replica)
        break
      case 'prepared':
        prepared(state, event.replica, nowMs)
        break
      case 'ended':
        ended(state, event.replica, event.ended, nowMs)
        break
      case 'published':
        published(state, event.replica, event.published, nowMs)
        break
      case 'failed':
        failed(state, event.replica, event.fault, nowMs)
        break
      case 'recovered':
        recovered(state, event.found, nowMs)
        break
      case 'engine':
        engine(state, event.up)
        break
      case 'snapshot':
        offerSnapshot(state, event.replica, event)
        break
      case 'unsaved':
        unsaved(state, event.replica, nowMs)
        break
      case 'taken':
        for (const { replica, root } of event.replicas) taken(state, replica, root)
        break
      case 'pause':
        pause(state, event.now === true, nowMs)
        break
      case 'resume':
        resume(state)
        break
      case 'drain':
        drain(state)
        break
      case 'quit':
        quit(state, nowMs)
        break
      case 'tick':
        tick(state, event, nowMs)
        break
    }
    for (const { root, replica } of state.stock?.evict() ?? []) state.prompt({ kind: 'evict', root, replica })
    askNext(state, nowMs)
    if (!state.welcomed) park(state, nowMs)
    leave(state, nowMs)
  }

  /** The prompts gathered since the last call: their answers can still join what `take` gives. */
  takePrompts(): readonly Prompt[] {
    return this.#state.gathered?.takePrompts() ?? []
  }

  /** Everything gathered since the last call. */
  take(): Step {
    const state = this.#state
    const { outbox, welcomed } = state
    const gathered = state.takeGathered()
    const sends: Uint8Array[] = []
    for (const frame of gathered?.outgoing?.take() ?? []) {
      const bytes = outbox.add(frame)
      if (frame.bye !== undefined) state.leaving?.said()
      if (welcomed) sends.push(bytes)
    }
    if (welcomed) sends.push(...news(state))
    const changes = changesOf(state)
    const effects = gathered?.effects ?? []
    for (const frame of sends) effects.push({ kind: 'send', frame })
    if (gathered?.owesAck === true && welcomed) effects.push({ kind: 'ack', seq: outbox.received })
    return { changes, prompts: gathered?.takePrompts() ?? [], effects }
  }
}

/** About once a second. */
function tick(state: State, { moved = [], figures = [] }: Extract<AgentEvent, { kind: 'tick' }>, nowMs: number): void {
  state.lastWords?.tick(nowMs)
  for (const replica of moved) state.held.moved(replica)
  for (const figure of figures) state.held.figure(figure.replica, figure)
  tellProgress(state, nowMs)
  for (const replica of state.kept?.old(nowMs) ?? []) unkeep(state, replica)
  giveUpSaving(state, nowMs)
}

/** It is held and has not ended; or it is next, which makes the stock no larger than it may be. */
function mayRead(state: State, id: ReplicaId): boolean {
  if (state.coming?.isUser(id) === true) return state.stock?.isOver !== true
  const phase = state.phaseOf(id)
  return phase !== undefined && phase !== 'reported'
}

/** What has changed and is told without a number. */
function news(state: State): Uint8Array[] {
  const frames: Uint8Array[] = []
  const holdings = state.stock?.takeNews()
  if (holdings !== undefined) frames.push(Frame.encode({ holdings }))
  const slots = demandOf(state)
  if (slots !== state.demandTold) {
    state.demandTold = slots
    frames.push(Frame.encode({ demand: { slots } }))
  }
  return frames
}

/** What is to be made durable. */
function changesOf(state: State): Change[] {
  const { held, paused, lastWords, kept, stock, outbox } = state
  const changes = held.takeChanges()
  if (state.begun) changes.push(...(state.boot?.begin() ?? []))
  if (paused !== undefined) changes.push(...paused.take())
  if (lastWords !== undefined) changes.push(...lastWords.take())
  if (kept !== undefined) changes.push(...kept.takeChanges())
  if (stock !== undefined) changes.push(...stock.takeChanges())
  changes.push(...outbox.take(changes.length > 0))
  return changes
}
