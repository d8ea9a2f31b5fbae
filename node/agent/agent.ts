/**
 * The node's agent: what it holds, what it may run, and what it owes the coordinator. It reads no clock, draws nothing and
 * waits for nothing: events go in with `apply`, and `take` answers everything they caused, coalesced. The shell makes the
 * changes durable before it carries out the effects, so what the agent says outlives its own `kill -9`.
 */
import { decodeFrame, Frame, NEXT_MAX, PARKED_PER_FRAME_MAX } from '#protocol/control/messages'
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import type { ParkedResult } from '#protocol/parking/messages'
import { commitmentOf, saltOf } from '#protocol/result/commitment'
import type { Signer } from '#protocol/signing/keys'
import type { Ended } from '../ports.ts'
import { BOOT_KEY, Boot } from './boot.ts'
import { CRASH_KEY, Crash } from './crash.ts'
import type { AgentEvent, AgentView, CheckedLease, Effect, Fault, NextBundle, OfferedLease, Prompt, Published, Replica, Step } from './events.ts'
import { CHECKPOINT_EXIT, CHECKPOINTED, cancelled, ENGINE_DOWN, FULL, isToGoOn, LEAVING, LOST, OUTSIDE, PAUSED, PAUSED_NOW } from './faults.ts'
import { Holdings } from './holdings.ts'
import { type Affairs, Leaving } from './leaving.ts'
import { Next, nextUser } from './next.ts'
import { Outbox } from './outbox.ts'
import { Outgoing, own } from './outgoing.ts'
import { Parking } from './parking.ts'
import { PAUSED_KEY, Pause } from './pause.ts'
import { KILL_GRACE_MS, PARK_AFTER_MS, QUIT_GRACE_MS, REPLICAS_HELD_MAX, SAVE_MS_MAX, SAVE_QUIT_MS_MAX, YIELD_GRACE_MS } from './policy.ts'
import { resultOf } from './report.ts'
import { KEPT_PREFIX, type Parcel, Safekeeping, type SafekeepingOptions, taskOf } from './safekeeping.ts'
import { Snapshots } from './snapshots.ts'
import { type Evicted, Stock } from './stock.ts'

export interface AgentOptions {
  readonly project: PeerIdString
  /** Replicas run at once. */
  readonly slots: number
  /** Of data kept for later runs. */
  readonly stockBytesMax: number
  /** What may be kept for others; left out for nothing. */
  readonly keep?: SafekeepingOptions
  /** How long the project may be away before results are left with others. */
  readonly parkAfterMs?: number
  readonly signer: Pick<Signer, 'sign' | 'peerId'>
  /** 16 random bytes: the link's id if the store has none yet. */
  readonly link: Uint8Array
  /** Which start of the machine this is; left out or empty where the system does not tell. */
  readonly boot?: string
}

/** What few nodes ever need is made when it is needed. */
export class Agent {
  readonly #project: PeerIdString
  readonly #slots: number
  readonly #signer: AgentOptions['signer']
  readonly #outbox: Outbox
  /** What is to be said with the next step. */
  #outgoing: Outgoing | undefined
  readonly #held = new Holdings()
  readonly #stock: Stock
  #prompts: Prompt[] | undefined
  #effects: Effect[] | undefined
  #mode: AgentView['mode'] = 'active'
  /** As its owner said last, also over restarts; a node that is being stopped keeps it for its next start. Undefined while nothing was said. */
  #wish: Pause | undefined
  /** Undefined while there are none. */
  #lastWords: Crash | undefined
  /** Undefined while no run left anything. */
  #snapshots: Snapshots | undefined
  readonly #boot: Boot | undefined
  /** What begins now, or was looked for, belongs to this start of the machine. */
  #begun = false
  /** Undefined while it knows nobody to leave results with. */
  #parking: Parking | undefined
  readonly #parkAfterMs: number
  #awaySinceMs: number | undefined
  /** Undefined while nothing was offered. */
  #kept: Safekeeping | undefined
  readonly #keep: SafekeepingOptions
  /** Undefined while the project has named nothing. */
  #coming: Next | undefined
  #engineUp = false
  /** What the last hello named, until it is answered: a new link's id. */
  #spare: Uint8Array | undefined
  #welcomed = false
  /** As last told on this stream. */
  #demandTold = 0
  #ackDue = false
  #leaving: Leaving | undefined

  constructor({ project, slots, stockBytesMax, keep = NOTHING_KEPT, parkAfterMs = PARK_AFTER_MS, signer, link, boot = '' }: AgentOptions) {
    this.#project = project
    this.#slots = slots
    this.#signer = signer
    this.#outbox = new Outbox(link)
    if (boot !== '') this.#boot = new Boot(boot)
    this.#stock = new Stock(stockBytesMax)
    this.#keep = keep
    this.#parkAfterMs = parkAfterMs
  }

  get #say(): Outgoing {
    this.#outgoing ??= new Outgoing(this.#signer)
    return this.#outgoing
  }

  get #pause(): Pause {
    this.#wish ??= new Pause()
    return this.#wish
  }

  get #crash(): Crash {
    this.#lastWords ??= new Crash()
    return this.#lastWords
  }

  get #keeping(): Safekeeping {
    this.#kept ??= new Safekeeping(this.#keep)
    return this.#kept
  }

  /** Takes back one durable record, before the first event; followed by `restored()`. Throws when the record is damaged. */
  restore(key: string, value: Uint8Array, nowMs: number): void {
    if (this.#stock.restore(key, value) || (key.startsWith(KEPT_PREFIX) && this.#keeping.restore(key, value))) return
    if (key === CRASH_KEY) {
      this.#crash.restore(value)
      return
    }
    if (key === BOOT_KEY) {
      this.#boot?.restore(value)
      return
    }
    if (key === PAUSED_KEY) {
      this.#pause.restore()
      this.#mode = 'paused'
      return
    }
    const restored = this.#held.restore(key, value, nowMs)
    if (restored === undefined) {
      this.#outbox.restore(key, value)
      return
    }
    const { id, replica } = restored
    if (replica.phase === 'killing') this.#prompt({ kind: 'kill', replica: id, graceMs: KILL_GRACE_MS })
  }

  /** All records were given. */
  restored(): void {
    this.#outbox.restored()
    this.#stock.restored()
    if (!this.isAnotherBoot)
      for (const [replica, { replica: at }] of this.#held.entries())
        if (at.phase === 'publishing') this.#prompt({ kind: 'publish', replica, manifest: at.lease.manifest })
    for (const { replica } of this.#kept?.restored() ?? []) this.#unkeep(replica)
    for (const frame of this.#outbox.pending()) for (const body of decodeFrame(frame)?.reports?.results ?? []) this.#held.said(body)
  }

  /** The machine was started again since what is held began: nobody may be asked what came of it. */
  get isAnotherBoot(): boolean {
    return this.#boot?.again === true
  }

  /** Leases that were running (or being killed) when the node went down: the executors look for them. Before another start of the machine, those that were being published too. */
  unrecovered(): CheckedLease[] {
    const leases: CheckedLease[] = []
    for (const [, { replica }] of this.#held.entries())
      if (replica.phase === 'running' || replica.phase === 'killing' || (replica.phase === 'publishing' && this.isAnotherBoot)) leases.push(replica.lease)
    return leases
  }

  /** What the node went down with: held and neither reported nor given back, what had begun first. Before the first event. */
  inHand(): ReplicaId[] {
    const ids = this.#held.ids().filter((id) => this.phaseOf(id) !== 'reported')
    return ids.sort((a, b) => Number(this.#hasNotBegun(a)) - Number(this.#hasNotBegun(b)))
  }

  /** Data that lies here for later runs. */
  stocked(): Generator<Evicted & { readonly bytes: number }, void, undefined> {
    return this.#stock.all()
  }

  /** What is kept for others, with what it names. */
  *keeping(): ReturnType<Safekeeping['all']> {
    if (this.#kept !== undefined) yield* this.#kept.all()
  }

  isStocked(root: string): boolean {
    return this.#stock.has(root)
  }

  /** What is kept until it is released: CIDs as text. */
  *reported(): Generator<readonly [ReplicaId, readonly string[]]> {
    for (const [id, { replica }] of this.#held.entries()) if (replica.phase === 'reported') yield [id, replica.content]
  }

  phaseOf(replica: ReplicaId): Replica['phase'] | undefined {
    return this.#held.get(replica)?.phase
  }

  view(): AgentView {
    return {
      mode: this.#mode,
      connected: this.#welcomed,
      engineUp: this.#engineUp,
      slots: this.#slots,
      unacknowledged: this.#outbox.unacknowledged,
      stock: this.#stock.view(),
      keeping: this.#kept?.view() ?? { results: 0, bytes: 0, bytesMax: this.#keep.bytesMax },
      parked: this.#parking?.parked ?? 0,
      next: this.#coming?.size ?? 0,
      replicas: [...this.#held.entries()].map(([id, { replica, sinceMs }]) => ({ replica: id, phase: replica.phase, sinceMs }))
    }
  }

  apply(event: AgentEvent, nowMs: number): void {
    switch (event.kind) {
      case 'connected':
        this.#welcomed = false
        this.#spare = event.spare
        this.#demandTold = this.#demand()
        this.#effect({
          kind: 'hello',
          link: this.#outbox.link,
          spare: event.spare,
          received: this.#outbox.received,
          replicas: this.#held.ids().filter((id) => !isUnwanted(this.#held.get(id))),
          slots: this.#demandTold,
          holdings: this.#stock.holdings(),
          next: NEXT_MAX
        })
        this.#stock.forgetNews()
        break
      case 'disconnected':
        this.#spare = undefined
        this.#welcomed = false
        this.#lastWords?.disconnected()
        this.#setNext([])
        break
      case 'welcome':
        this.#welcome(event, nowMs)
        break
      case 'acked':
        this.#outbox.acknowledged(event.seq)
        break
      case 'assign':
        if (this.#isNext(event.seq)) for (const offered of event.leases) this.#accept(offered, nowMs)
        break
      case 'grant':
        if (!this.#isNext(event.seq)) break
        for (const id of event.granted) this.#grant(id, nowMs)
        for (const id of event.refused) if (this.#hasNotBegun(id)) this.#drop(id, null)
        break
      case 'cancel':
        if (this.#isNext(event.seq)) for (const id of event.replicas) this.#cancel(id, event.reason, nowMs)
        break
      case 'release':
        if (this.#isNext(event.seq)) for (const id of event.replicas) this.#release(id)
        break
      case 'reveal':
        if (this.#isNext(event.seq)) for (const id of event.replicas) this.#reveal(id, nowMs)
        break
      case 'next':
        if (this.#welcomed) this.#setNext(this.#mode === 'active' && this.#engineUp ? event.bundles : [])
        break
      case 'skipped':
        this.#isNext(event.seq)
        break
      case 'using':
        this.#stock.use(event.replica, event, event.fetched, nowMs)
        if (!this.#mayRead(event.replica)) this.#stock.unused(event.replica)
        break
      case 'kept':
        this.#stock.keep(event.replica, event, nowMs)
        break
      case 'missing':
        this.#stock.forget(event.root)
        break
      case 'hinted':
        // Who is connected is told by the control stream.
        if (!this.#welcomed) for (const id of event.replicas) this.#hinted(id, event.what, nowMs)
        break
      case 'crashed':
        this.#crash.add(event.words)
        break
      case 'neighbours':
        this.#parking ??= new Parking(this.#parkAfterMs)
        this.#parking.meet(event.neighbours)
        break
      case 'answered':
        this.#parking?.answered(event, event.code, nowMs)
        if (this.phaseOf(event.replica) === undefined) this.#parking?.forget(event.replica)
        break
      case 'offered':
        this.#offered(event.parcel, nowMs)
        break
      case 'collected':
        this.#collected(event.replica)
        break
      case 'uncollected':
        this.#uncollected(event.replica)
        break
      case 'prepared':
        this.#prepared(event.replica, nowMs)
        break
      case 'ended':
        this.#ended(event.replica, event.ended, nowMs)
        break
      case 'published':
        this.#published(event.replica, event.published, nowMs)
        break
      case 'failed':
        this.#failed(event.replica, event.fault, nowMs)
        break
      case 'recovered':
        for (const { replica } of this.unrecovered()) {
          if (event.found.has(replica)) continue
          // Nobody goes on from what a power cut may have torn.
          if (this.isAnotherBoot) this.#drop(replica, LOST)
          else this.#failed(replica, LOST, nowMs)
        }
        this.#begun ||= this.isAnotherBoot
        break
      case 'engine':
        this.#engine(event.up)
        break
      case 'snapshot':
        this.#snapshot(event)
        break
      case 'unsaved':
        this.#unsaved(event.replica, nowMs)
        break
      case 'taken':
        for (const { replica, root } of event.replicas) this.#taken(replica, root)
        break
      case 'pause':
        this.#pause.set(true)
        if (this.#mode === 'active') {
          this.#mode = 'paused'
          this.#returnUnbegun(PAUSED)
        }
        if (event.now === true) for (const id of this.#held.ids()) if (this.phaseOf(id) === 'running') this.#end(id, PAUSED_NOW, QUIT_GRACE_MS, nowMs)
        break
      case 'resume':
        this.#pause.set(false)
        if (this.#mode === 'paused') this.#mode = 'active'
        break
      case 'drain':
        if (this.#mode === 'quitting') break
        this.#mode = 'draining'
        this.#returnUnbegun(LEAVING)
        break
      case 'quit':
        this.#mode = 'quitting'
        this.#returnUnbegun(LEAVING)
        for (const id of this.#held.ids()) if (this.phaseOf(id) !== 'reported') this.#end(id, LEAVING, QUIT_GRACE_MS, nowMs)
        break
      case 'tick':
        this.#lastWords?.tick(nowMs)
        for (const replica of event.moved ?? []) this.#held.moved(replica)
        for (const figure of event.figures ?? []) this.#held.figure(figure.replica, figure)
        this.#tellProgress(nowMs)
        for (const replica of this.#kept?.old(nowMs) ?? []) this.#unkeep(replica)
        if (this.#held.saving > 0) this.#giveUpSaving(nowMs)
        break
    }
    for (const { root, replica } of this.#stock.evict()) this.#prompt({ kind: 'evict', root, replica })
    this.#askNext(nowMs)
    if (!this.#welcomed) this.#park(nowMs)
    this.#leave(nowMs)
  }

  /** The prompts gathered since the last call: their answers can still join what `take` gives. */
  takePrompts(): readonly Prompt[] {
    const prompts = this.#prompts ?? []
    this.#prompts = undefined
    return prompts
  }

  /** Everything gathered since the last call. */
  take(): Step {
    const sends: Uint8Array[] = []
    for (const frame of this.#outgoing?.take() ?? []) {
      const bytes = this.#outbox.add(frame)
      if (frame.bye !== undefined) this.#leaving?.said()
      if (this.#welcomed) sends.push(bytes)
    }
    this.#outgoing = undefined
    const news = this.#welcomed ? this.#stock.takeNews() : undefined
    if (news !== undefined) sends.push(Frame.encode({ holdings: news }))
    const demand = this.#demand()
    if (this.#welcomed && demand !== this.#demandTold) {
      this.#demandTold = demand
      sends.push(Frame.encode({ demand: { slots: demand } }))
    }
    const changes = this.#held.takeChanges()
    if (this.#begun && this.#boot !== undefined) changes.push(...this.#boot.begin())
    if (this.#wish !== undefined) changes.push(...this.#wish.take())
    if (this.#lastWords !== undefined) changes.push(...this.#lastWords.take())
    if (this.#kept !== undefined) changes.push(...this.#kept.takeChanges())
    changes.push(...this.#stock.takeChanges())
    changes.push(...this.#outbox.take(changes.length > 0))
    const effects = this.#effects ?? []
    for (const frame of sends) effects.push({ kind: 'send', frame })
    if (this.#ackDue && this.#welcomed) effects.push({ kind: 'ack', seq: this.#outbox.received })
    const prompts = this.takePrompts()
    this.#effects = undefined
    this.#ackDue = false
    return { changes, prompts, effects }
  }

  #welcome(event: Extract<AgentEvent, { kind: 'welcome' }>, nowMs: number): void {
    if (this.#spare === undefined) return
    if (!event.resumed || !this.#outbox.resumable(event.received)) {
      for (const id of this.#held.ids()) this.#end(id, null, KILL_GRACE_MS, nowMs)
      this.#outgoing = undefined
      this.#outbox.reset(this.#spare)
      if (event.resumed) {
        this.#prompt({ kind: 'disconnect', message: 'the node and the coordinator do not remember the same messages; starting a new link' })
        return
      }
    } else {
      this.#outbox.acknowledged(event.received)
    }
    this.#spare = undefined
    this.#welcomed = true
    const crashed = this.#lastWords?.welcomed(nowMs)
    if (crashed !== undefined) this.#effect({ kind: 'send', frame: crashed })
    this.#awaySinceMs = undefined
    const snapshots = this.#snapshots?.all()
    if (snapshots !== undefined) this.#effect({ kind: 'send', frame: snapshots })
    if (this.#kept !== undefined) this.#tellKept(this.#kept.results())
    this.#held.untold()
    for (const id of event.unknown) this.#end(id, null, KILL_GRACE_MS, nowMs)
    for (const frame of this.#outbox.pending()) this.#effect({ kind: 'send', frame })
  }

  #prompt(prompt: Prompt): void {
    this.#prompts ??= []
    this.#prompts.push(prompt)
  }

  #effect(effect: Effect): void {
    this.#effects ??= []
    this.#effects.push(effect)
  }

  /** Counts a numbered frame: true when it is new and must be applied. One already seen is acknowledged again. */
  #isNext(seq: number): boolean {
    if (!this.#welcomed) return false
    const place = this.#outbox.receive(seq)
    if (place === 'gap') {
      this.#prompt({ kind: 'disconnect', message: `message ${seq} came after ${this.#outbox.received}` })
      return false
    }
    this.#ackDue = true
    return place === 'new'
  }

  #accept(offered: OfferedLease, nowMs: number): void {
    const id = offered.ok ? offered.lease.replica : offered.replica
    if (this.#held.get(id) !== undefined) return
    const refusal = this.#refusal(offered)
    if (refusal !== undefined) this.#say.returned(id, refusal)
    if (refusal !== undefined || !offered.ok) return
    // Without a slot it has to ask when there is one, like any other.
    const granted = offered.granted && this.#held.busy < this.#slots
    this.#held.set(id, { phase: 'preparing', lease: offered.lease, asked: granted, granted }, nowMs)
    this.#prompt({ kind: 'prepare', replica: id, manifest: offered.lease.manifest })
  }

  /** Why a lease is not taken now. */
  #refusal(offered: OfferedLease): Fault | undefined {
    if (!offered.ok) return offered.fault
    if (this.#held.size >= REPLICAS_HELD_MAX) return FULL
    if (this.#mode !== 'active') return this.#mode === 'paused' ? PAUSED : LEAVING
    return this.#engineUp ? undefined : ENGINE_DOWN
  }

  #prepared(id: ReplicaId, nowMs: number): void {
    const replica = this.#held.get(id)
    if (replica?.phase !== 'preparing') return
    if (replica.granted) this.#run(id, replica.lease, nowMs)
    else this.#held.set(id, { phase: replica.asked ? 'asking' : 'ready', lease: replica.lease }, nowMs)
  }

  /** ready -> asking for as many as there are free slots, oldest first. */
  #askNext(nowMs: number): void {
    if (this.#mode !== 'active' || this.#held.readyCount === 0) return
    for (const lease of this.#held.ready(this.#slots - this.#held.busy)) {
      this.#held.set(lease.replica, { phase: 'asking', lease }, nowMs)
      this.#say.start(lease.replica, lease.epoch)
    }
  }

  #grant(id: ReplicaId, nowMs: number): void {
    const replica = this.#held.get(id)
    if (replica?.phase === 'asking') this.#run(id, replica.lease, nowMs)
    else if (replica?.phase === 'preparing' && replica.asked) this.#held.set(id, { ...replica, granted: true }, nowMs)
  }

  /** The start is an effect: it happens after the record says `running`, so a crash between the two loses a run and never doubles one. */
  #run(id: ReplicaId, lease: CheckedLease, nowMs: number): void {
    this.#begun = true
    this.#held.set(id, { phase: 'running', lease }, nowMs)
    this.#effect({ kind: 'start', lease })
  }

  #ended(id: ReplicaId, ended: Ended, nowMs: number): void {
    const replica = this.#held.get(id)
    if (replica?.phase === 'killing' && !replica.publish) this.#goBack(id, replica.fault, nowMs)
    else if (replica?.phase === 'running' && ended.reason === 'killed') this.#goBack(id, OUTSIDE, nowMs)
    else if (replica?.phase === 'running' && replica.lease.checkpoint !== undefined && ended.reason === 'exit' && ended.exitCode === CHECKPOINT_EXIT)
      this.#goBack(id, CHECKPOINTED, nowMs, ended)
    else if (replica?.phase === 'running' || replica?.phase === 'killing') this.#publish(id, replica.lease, ended, nowMs)
  }

  /** It has ended without a result, and is given back; where another will go on with it, when the project has what it left. */
  #goBack(id: ReplicaId, fault: Fault | null, nowMs: number, ended?: Ended): void {
    const replica = this.#held.get(id)
    if (replica === undefined || replica.phase === 'reported') return
    const { lease } = replica
    if (fault === null || lease.checkpoint === undefined || !isToGoOn(fault)) {
      this.#drop(id, fault)
      return
    }
    this.#held.set(id, { phase: 'saving', lease, fault, ...(ended === undefined ? {} : { ended }) }, nowMs)
    this.#prompt({ kind: 'save', replica: id })
  }

  #snapshot({ replica: id, root, bytes, last }: Extract<AgentEvent, { kind: 'snapshot' }>): void {
    const phase = this.phaseOf(id)
    if (phase !== 'running' && phase !== 'killing' && phase !== 'saving') return
    this.#snapshots ??= new Snapshots()
    const frame = this.#snapshots.add(id, { root, bytes, last })
    if (this.#welcomed) this.#effect({ kind: 'send', frame })
  }

  #taken(id: ReplicaId, root: string): void {
    const told = this.#snapshots?.taken(id, root)
    if (told === undefined) return
    const replica = this.#held.get(id)
    if (replica?.phase === 'saving' && told.last) this.#drop(id, replica.fault)
    else this.#prompt({ kind: 'saved', replica: id })
  }

  #unsaved(id: ReplicaId, nowMs: number): void {
    const replica = this.#held.get(id)
    if (replica?.phase !== 'saving') return
    if (replica.ended === undefined) this.#drop(id, replica.fault)
    else this.#publish(id, replica.lease, replica.ended, nowMs)
  }

  #giveUpSaving(nowMs: number): void {
    const ms = this.#mode === 'quitting' ? SAVE_QUIT_MS_MAX : SAVE_MS_MAX
    for (const [id, { replica, sinceMs }] of [...this.#held.entries()]) if (replica.phase === 'saving' && nowMs - sinceMs >= ms) this.#drop(id, replica.fault)
  }

  #publish(id: ReplicaId, lease: CheckedLease, ended: Ended, nowMs: number): void {
    this.#held.set(id, { phase: 'publishing', lease, ended }, nowMs)
    this.#prompt({ kind: 'publish', replica: id, manifest: lease.manifest })
  }

  #published(id: ReplicaId, published: Published, nowMs: number): void {
    const replica = this.#held.get(id)
    if (replica?.phase !== 'publishing') return
    const { ended, lease } = replica
    const { peerId: node } = this.#signer
    const content = [published.output, published.stdout, published.stderr]
    // Nobody agrees on what its owner ended.
    if (lease.sealed === true && ended.reason !== 'killed') {
      const sealed = resultOf({ project: this.#project, node, lease, ended, published, salt: saltOf(this.#signer, id) })
      this.#say.commit(id, commitmentOf(sealed))
      this.#held.set(id, { phase: 'reported', content, sealed }, nowMs)
    } else {
      const body = resultOf({ project: this.#project, node, lease, ended, published })
      this.#say.result(body)
      this.#held.set(id, { phase: 'reported', content, ...(ended.reason === 'killed' ? {} : { body }) }, nowMs)
    }
    this.#stock.unused(id)
    this.#snapshots?.forget(id)
    this.#effect({ kind: 'clean', lease })
  }

  /** Its sealed result is reported, once. */
  #reveal(id: ReplicaId, nowMs: number): void {
    const replica = this.#held.get(id)
    if (replica?.phase !== 'reported' || replica.sealed === undefined) return
    this.#say.result(replica.sealed)
    this.#held.set(id, { phase: 'reported', content: replica.content, body: replica.sealed }, nowMs)
  }

  /** The coordinator has what it left: from now on that is data like any other. */
  #release(id: ReplicaId): void {
    const replica = this.#held.get(id)
    if (replica === undefined) this.#unkeep(id)
    if (replica?.phase !== 'reported') return
    this.#parking?.forget(id)
    this.#effect({ kind: 'release', replica: id, content: replica.content })
    this.#held.delete(id)
  }

  /** Leaves with others what the project cannot be told. */
  #park(nowMs: number): void {
    this.#awaySinceMs ??= nowMs
    const leaving = this.#mode === 'draining' || this.#mode === 'quitting'
    if (this.#parking?.isDue(leaving, nowMs - this.#awaySinceMs) !== true) return
    for (const { replica, peer } of this.#parking.orders(this.#unheard(), nowMs)) {
      const held = this.#held.get(replica)
      if (held?.phase === 'reported' && held.body !== undefined) this.#prompt({ kind: 'park', replica, peer, body: held.body })
    }
  }

  /** Results that others may be given, and that were not released. A sealed one nobody may know until as many are bound as must agree. */
  *#unheard(): Generator<ReplicaId> {
    for (const [id, { replica }] of this.#held.entries()) if (replica.phase === 'reported' && replica.body !== undefined) yield id
  }

  #offered(parcel: Parcel, nowMs: number): void {
    const { replica, from: peer } = parcel
    const task = taskOf(replica)
    const code = this.#keeping.offer(parcel, parcel.from === this.#signer.peerId || this.#held.ids().some((id) => taskOf(id) === task), nowMs)
    if (code === 'collect') this.#effect({ kind: 'collect', parcel })
    else this.#effect({ kind: 'answer', peer, replica, code })
  }

  /** The answer leaves when the record is on the disk, as the content is. */
  #collected(replica: ReplicaId): void {
    const parcel = this.#keeping.collected(replica)
    if (parcel === undefined) return
    this.#effect({ kind: 'answer', peer: parcel.from, replica, code: 'kept' })
    if (this.#welcomed) this.#tellKept([parcel])
  }

  #uncollected(replica: ReplicaId): void {
    const from = this.#unkeep(replica)
    if (from !== undefined) this.#effect({ kind: 'answer', peer: from, replica, code: 'busy' })
  }

  /** It goes, with what no other result names. Answers whose it was. */
  #unkeep(replica: ReplicaId): PeerIdString | undefined {
    const gone = this.#kept?.drop(replica)
    if (gone !== undefined && gone.content.length > 0) this.#prompt({ kind: 'unkeep', content: gone.content })
    return gone?.from
  }

  /** Told without a number: it is told again with the next welcome, until it is released. */
  #tellKept(results: readonly ParkedResult[]): void {
    for (let from = 0; from < results.length; from += PARKED_PER_FRAME_MAX) {
      const some = results.slice(from, from + PARKED_PER_FRAME_MAX)
      this.#effect({
        kind: 'send',
        frame: Frame.encode({ parked: { results: some.map(({ body, signature }) => ({ result: own(body), signature: own(signature) })) } })
      })
    }
  }

  /** It is held and has not ended; or it is next, which makes the stock no larger than it may be. */
  #mayRead(id: ReplicaId): boolean {
    if (this.#coming?.isUser(id) === true) return !this.#stock.isOver
    const phase = this.phaseOf(id)
    return phase !== undefined && phase !== 'reported'
  }

  #failed(id: ReplicaId, fault: Fault, nowMs: number): void {
    const replica = this.#held.get(id)
    if (replica === undefined || replica.phase === 'reported') return
    if (replica.phase === 'running') this.#goBack(id, fault, nowMs)
    else if (replica.phase === 'killing') this.#goBack(id, replica.fault, nowMs)
    else this.#drop(id, replica.phase === 'saving' ? replica.fault : fault)
  }

  #engine(up: boolean): void {
    const rises = up && !this.#engineUp
    this.#engineUp = up
    if (!up) this.#returnUnbegun(ENGINE_DOWN)
    if (!rises) return
    for (const [id, { replica }] of this.#held.entries())
      if (replica.phase === 'preparing') this.#prompt({ kind: 'prepare', replica: id, manifest: replica.lease.manifest })
  }

  /** The coordinator wants it no more. What its owner killed while it ran is ended and reported, with what it left until then; the release follows. */
  #cancel(id: ReplicaId, reason: string, nowMs: number): void {
    const replica = this.#held.get(id)
    const began = replica?.phase === 'publishing' || replica?.phase === 'reported' || replica?.phase === 'killing'
    if (reason === 'killed' && replica?.phase === 'running')
      this.#kill(id, { lease: replica.lease, fault: cancelled(reason), publish: true }, KILL_GRACE_MS, nowMs)
    else if (reason !== 'killed' || !began) this.#end(id, cancelled(reason), reason === 'yield' ? YIELD_GRACE_MS : KILL_GRACE_MS, nowMs)
  }

  /** No record is made of it but the run's own, and what has ended is left for the coordinator to decide. */
  #hinted(id: ReplicaId, what: 'kill' | 'release', nowMs: number): void {
    const phase = this.phaseOf(id)
    if (phase === undefined || phase === 'publishing' || phase === 'reported' || phase === 'killing') return
    this.#cancel(id, what === 'kill' ? 'killed' : 'decided', nowMs)
  }

  #kill(id: ReplicaId, killing: { lease: CheckedLease; fault: Fault | null; publish: boolean }, graceMs: number, nowMs: number): void {
    this.#held.set(id, { phase: 'killing', ...killing }, nowMs)
    this.#prompt({ kind: 'kill', replica: id, graceMs })
  }

  /** Ends a replica in whatever phase it is; `fault` null tells nobody. */
  #end(id: ReplicaId, fault: Fault | null, graceMs: number, nowMs: number): void {
    const replica = this.#held.get(id)
    if (replica === undefined) return
    switch (replica.phase) {
      case 'running':
        this.#kill(id, { lease: replica.lease, fault, publish: false }, graceMs, nowMs)
        break
      case 'killing':
        // Who quits does not wait for what it leaves.
        if (fault === null || replica.publish) this.#held.set(id, { ...replica, fault: fault === null ? null : replica.fault, publish: false }, nowMs)
        break
      case 'reported':
        this.#drop(id, null)
        break
      case 'saving':
        // Who quits waits for it no less than before.
        if (fault === null || !isToGoOn(fault)) this.#drop(id, fault)
        break
      default:
        this.#drop(id, fault)
    }
  }

  #returnUnbegun(fault: Fault): void {
    this.#setNext([])
    for (const id of this.#held.ids()) if (this.#hasNotBegun(id)) this.#drop(id, fault)
  }

  #setNext(bundles: readonly NextBundle[]): void {
    if (bundles.length > 0) this.#coming ??= new Next()
    for (const prompt of this.#coming?.set(bundles) ?? []) {
      if (prompt.kind === 'let_go') this.#stock.unused(nextUser(prompt.bundle))
      this.#prompt(prompt)
    }
    if (this.#coming?.size === 0) this.#coming = undefined
  }

  #hasNotBegun(id: ReplicaId): boolean {
    const phase = this.phaseOf(id)
    return phase === 'preparing' || phase === 'ready' || phase === 'asking'
  }

  #drop(id: ReplicaId, fault: Fault | null): void {
    const replica = this.#held.get(id)
    if (replica === undefined) return
    if (replica.phase === 'preparing' || replica.phase === 'publishing') this.#prompt({ kind: 'abandon', replica: id })
    if (fault !== null) this.#say.returned(id, fault)
    const began = hasBegun(replica) ? replica.lease : null
    this.#stock.unused(id)
    this.#snapshots?.forget(id)
    this.#parking?.forget(id)
    this.#effect({ kind: 'remove', replica: id, began })
    this.#held.delete(id)
  }

  /** The coordinator knows all that we have to say. */
  #settledUp(): boolean {
    return this.#outgoing === undefined && this.#outbox.unacknowledged === 0
  }

  #parkingProgress(nowMs: number): Affairs['parked'] {
    if (this.#welcomed) return 'none'
    const results = [...this.#unheard()]
    const progress = results.length === 0 ? 'none' : (this.#parking?.progress(results, nowMs) ?? 'none')
    // What is sealed can only be told to the project itself.
    return progress === 'all' && results.length < this.#held.size ? 'none' : progress
  }

  #demand(): number {
    if (this.#mode !== 'active' || !this.#engineUp) return 0
    return Math.max(0, Math.min(this.#slots, REPLICAS_HELD_MAX - this.#held.size))
  }

  #tellProgress(nowMs: number): void {
    if (!this.#welcomed) return
    for (const { replica, state, figure } of this.#held.progress(nowMs)) {
      if (figure === undefined) this.#say.progress(replica, state)
      else this.#say.figure(replica, figure)
    }
  }

  #leave(nowMs: number): void {
    if (this.#mode !== 'draining' && this.#mode !== 'quitting') return
    this.#leaving ??= new Leaving()
    const atWork = this.#held.size > this.#held.kept
    const settled = this.#settledUp()
    const affairs: Affairs = {
      waits: this.#mode === 'draining',
      atWork,
      saves: this.#welcomed && this.#held.leavesSnapshots(),
      settled,
      released: settled && this.#held.size === 0,
      parked: atWork ? 'none' : this.#parkingProgress(nowMs),
      connected: this.#welcomed
    }
    const next = this.#leaving.next(affairs, nowMs)
    if (next === 'bye') this.#say.bye()
    else if (next === 'done') this.#effect({ kind: 'done' })
  }
}

const NOTHING_KEPT: SafekeepingOptions = { bytesMax: 0, msMax: 0 }

function hasBegun(replica: Replica): replica is Extract<Replica, { phase: 'running' | 'killing' | 'saving' | 'publishing' }> {
  const { phase } = replica
  return phase === 'running' || phase === 'killing' || phase === 'saving' || phase === 'publishing'
}

function isUnwanted(replica: Replica | undefined): boolean {
  return replica?.phase === 'killing' && replica.fault === null
}
