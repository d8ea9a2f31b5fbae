/**
 * A small model of what surrounds an agent: a coordinator that leases, grants, cancels and releases over the numbered link,
 * engines whose runs outlive the node, and a disk. The node can be killed between any two steps of a commit.
 */
import { decodeFrame, type Frame } from '#protocol/control/messages'
import type { ReplicaId } from '#protocol/ids'
import { decodeResult } from '#protocol/result/result'
import type { Agent } from '../agent/agent.ts'
import type { AgentEvent, Effect, Prompt } from '../agent/events.ts'
import type { Ended } from '../ports.ts'
import { agentWith } from './agents.ts'
import { ENDED, leaseOf, PUBLISHED, replicaOf } from './samples.ts'

type Numbered =
  | { readonly kind: 'assign'; readonly leases: readonly ReplicaId[] }
  | { readonly kind: 'grant'; readonly granted: readonly ReplicaId[]; readonly refused: readonly ReplicaId[] }
  | { readonly kind: 'cancel'; readonly replicas: readonly ReplicaId[]; readonly reason: 'killed' | 'decided' }
  | { readonly kind: 'release'; readonly replicas: readonly ReplicaId[] }

export const SLOTS = 3
const BEGAN = ['running', 'killing', 'publishing']

export class World {
  /** Every start of a run, in order. */
  readonly started: ReplicaId[] = []
  /** What the coordinator holds of each replica. */
  readonly answers = new Map<ReplicaId, ('reported' | 'returned')[]>()
  readonly leased = new Set<ReplicaId>()
  readonly granted = new Set<ReplicaId>()
  readonly refused = new Set<ReplicaId>()
  /** Cancels that were durable at the node while no result was; what its owner killed while it ran is in the other. */
  readonly cancelledInTime = new Set<ReplicaId>()
  readonly killedInTime = new Set<ReplicaId>()
  readonly released = new Set<ReplicaId>()
  readonly folders = new Set<ReplicaId>()
  mostRunning = 0
  crashes = 0
  /** Runs found again after a crash. */
  recovered = 0
  nowMs = 0

  #agent: Agent
  #records = new Map<string, Uint8Array>()
  #preparing = new Set<ReplicaId>()
  #publishing = new Set<ReplicaId>()
  /** Containers: they outlive the node. */
  #running = new Set<ReplicaId>()
  #ended = new Map<ReplicaId, Ended>()
  #killed = new Set<ReplicaId>()
  #connected = false
  #link: string | undefined
  #hellos = 0
  #sent: Numbered[] = []
  /** Node's frames durable at the coordinator. */
  #received = 0
  /** What is on the wire towards the coordinator. */
  #uplink: Frame[] = []
  /** Number of the next frame of ours that this stream carries. */
  #next = 1

  constructor() {
    this.#agent = this.#born()
    this.#settle([
      { kind: 'recovered', found: new Set() },
      { kind: 'engine', up: true }
    ])
  }

  get agent(): Agent {
    return this.#agent
  }

  connect(): void {
    if (this.#connected) return
    this.#connected = true
    this.#uplink = []
    this.#settle([{ kind: 'connected', spare: this.#newLink() }])
  }

  disconnect(): void {
    if (!this.#connected) return
    this.#connected = false
    this.#uplink = []
    this.#settle([{ kind: 'disconnected' }])
  }

  /** The coordinator forgets this node, as after the loss of its disk. */
  forget(): void {
    this.#link = undefined
    this.disconnect()
  }

  lease(): void {
    const id = replicaOf(this.leased.size)
    this.leased.add(id)
    this.#sent.push({ kind: 'assign', leases: [id] })
  }

  cancel(pick: number): void {
    const id = pickFrom(
      [...(pick % 2 === 0 ? this.leased : this.granted)].filter((replica) => !this.answers.has(replica)),
      pick
    )
    if (id !== undefined) this.#sent.push({ kind: 'cancel', replicas: [id], reason: pick % 3 === 0 ? 'decided' : 'killed' })
  }

  release(pick: number): void {
    const id = pickFrom(
      [...this.answers.keys()].filter((replica) => !this.released.has(replica)),
      pick
    )
    if (id === undefined) return
    this.released.add(id)
    this.#sent.push({ kind: 'release', replicas: [id] })
  }

  /** Delivers the coordinator's next frame, or one that was seen already. */
  deliver(again: boolean, crashAt = 0): void {
    if (!this.#connected || this.#link === undefined) return
    const seq = again ? this.#next - 1 : this.#next
    const message = this.#sent[seq - 1]
    if (message === undefined) return
    if (!again) this.#next++
    if (message.kind === 'assign')
      this.#settle([{ kind: 'assign', seq, leases: message.leases.map((id) => ({ ok: true, granted: false, lease: leaseOf(id) })) }], crashAt)
    else this.#settle([{ ...message, seq }], crashAt)
  }

  /** The coordinator takes in what the node sent. */
  read(refuse: boolean): void {
    for (const frame of this.#uplink.splice(0)) this.#take(frame, refuse)
  }

  prepared(pick: number, crashAt = 0): void {
    const replica = pickFrom([...this.#preparing], pick)
    if (replica === undefined) return
    this.#preparing.delete(replica)
    this.#settle([{ kind: 'prepared', replica }], crashAt)
  }

  end(pick: number, crashAt = 0): void {
    const replica = pickFrom([...this.#running], pick)
    if (replica === undefined) return
    this.#running.delete(replica)
    // A kill may come too late to be what ended the run.
    const ended: Ended = this.#killed.has(replica) && pick % 2 === 0 ? { ...ENDED, reason: 'killed' } : ENDED
    this.#ended.set(replica, ended)
    this.#settle([{ kind: 'ended', replica, ended }], crashAt)
  }

  publish(pick: number, crashAt = 0): void {
    const replica = pickFrom([...this.#publishing], pick)
    if (replica === undefined) return
    this.#publishing.delete(replica)
    this.#settle([{ kind: 'published', replica, published: PUBLISHED }], crashAt)
  }

  tick(ms: number): void {
    this.nowMs += ms
    this.#settle([{ kind: 'tick' }])
  }

  /** kill -9 of the node, and its next start. */
  crash(): void {
    this.crashes++
    this.#connected = false
    this.#uplink = []
    this.#preparing.clear()
    this.#publishing.clear()
    this.#agent = this.#born()
    for (const id of this.folders) if (this.#agent.phaseOf(id) === undefined) this.folders.delete(id)
    const wanted = new Set(this.#agent.unrecovered().map(({ replica }) => replica))
    for (const id of [...this.#running, ...this.#ended.keys()]) {
      if (wanted.has(id)) continue
      this.#running.delete(id)
      this.#ended.delete(id)
    }
    const found = new Set([...this.#running, ...this.#ended.keys()].filter((id) => wanted.has(id)))
    this.recovered += found.size
    const endings = [...this.#ended].map(([replica, ended]): AgentEvent => ({ kind: 'ended', replica, ended }))
    this.#settle([{ kind: 'recovered', found }, ...endings, { kind: 'engine', up: true }])
  }

  /** No more faults, and time for everything to end. */
  calm(): void {
    for (let round = 0; round < 400; round++) {
      this.connect()
      this.read(false)
      this.deliver(false)
      this.prepared(0)
      this.end(0)
      this.publish(0)
      this.tick(100)
    }
  }

  get runningNow(): number {
    return this.#running.size
  }

  #newLink(): Uint8Array {
    const id = new Uint8Array(16)
    new DataView(id.buffer).setUint32(0, ++this.#hellos)
    return id
  }

  #born(): Agent {
    const agent = agentWith({ slots: SLOTS })
    for (const [key, value] of [...this.#records].sort(([a], [b]) => (a < b ? -1 : 1))) agent.restore(key, value, this.nowMs)
    agent.restored()
    return agent
  }

  /** One commit: 1 dies before it, 2 dies after it and before its effects. */
  #settle(events: readonly AgentEvent[], crashAt = 0): void {
    const began = new Set(
      events.flatMap((event) => (event.kind === 'cancel' ? event.replicas : [])).filter((id) => BEGAN.includes(this.#agent.phaseOf(id) ?? ''))
    )
    for (const event of events) this.#agent.apply(event, this.nowMs)
    const { changes, prompts, effects } = this.#agent.take()
    for (const prompt of prompts) this.#prompt(prompt)
    if (crashAt === 1) {
      this.crash()
      return
    }
    for (const { key, value } of changes) {
      if (value === null) this.#records.delete(key)
      else this.#records.set(key, value)
    }
    for (const event of events)
      if (event.kind === 'cancel')
        for (const id of event.replicas)
          if (this.#agent.phaseOf(id) !== 'reported' && !this.#hasReport(id))
            (event.reason === 'killed' && began.has(id) ? this.killedInTime : this.cancelledInTime).add(id)
    if (crashAt === 2) this.crash()
    else for (const effect of effects) this.#carryOut(effect)
  }

  /** A result of this replica is in the node's durable outbox. */
  #hasReport(id: ReplicaId): boolean {
    if (this.answers.get(id)?.includes('reported') === true) return true
    return [...this.#records].some(
      ([key, value]) => key.startsWith('out/') && decodeFrame(value)?.reports?.results.some((body) => decodeResult(body)?.replica === id) === true
    )
  }

  #prompt(prompt: Prompt): void {
    if (prompt.kind === 'prepare') this.#preparing.add(prompt.replica)
    if (prompt.kind === 'publish') this.#publishing.add(prompt.replica)
    if (prompt.kind === 'abandon') {
      this.#preparing.delete(prompt.replica)
      this.#publishing.delete(prompt.replica)
    }
    if (prompt.kind === 'kill') this.#killed.add(prompt.replica)
    if (prompt.kind === 'disconnect') throw new Error(`the agent wants to disconnect: ${prompt.message}`)
  }

  #carryOut(effect: Effect): void {
    switch (effect.kind) {
      case 'hello':
        this.#greet(effect)
        break
      case 'send': {
        const frame = decodeFrame(effect.frame)
        if (this.#connected && frame !== undefined) this.#uplink.push(frame)
        break
      }
      case 'start':
        this.started.push(effect.lease.replica)
        this.folders.add(effect.lease.replica)
        this.#running.add(effect.lease.replica)
        this.mostRunning = Math.max(this.mostRunning, this.#running.size)
        break
      case 'clean':
        this.#ended.delete(effect.lease.replica)
        break
      case 'remove':
      case 'release':
        this.folders.delete(effect.replica)
        this.#ended.delete(effect.replica)
        break
    }
  }

  #greet({ link, spare, received }: Extract<Effect, { kind: 'hello' }>): void {
    const resumed = Buffer.from(link).toString('hex') === this.#link
    if (!resumed) {
      this.#link = Buffer.from(spare).toString('hex')
      this.#sent = []
      this.#received = 0
      for (const id of this.leased) if (!this.answers.has(id)) this.answers.set(id, ['returned'])
    }
    this.#next = received + 1
    if (!resumed) this.#next = 1
    this.#settle([{ kind: 'welcome', resumed, received: this.#received, unknown: [] }])
  }

  #take(frame: Frame, refuse: boolean): void {
    if (frame.seq === 0 || frame.seq <= this.#received) return
    if (frame.seq !== this.#received + 1) throw new Error(`the node skipped from ${this.#received} to ${frame.seq}`)
    this.#received = frame.seq
    for (const { replica } of frame.start?.replicas ?? []) {
      const refused = refuse && !this.granted.has(replica)
      ;(refused ? this.refused : this.granted).add(replica)
      this.#sent.push({ kind: 'grant', granted: refused ? [] : [replica], refused: refused ? [replica] : [] })
    }
    for (const body of frame.reports?.results ?? []) this.#answer(decodeResult(body)?.replica ?? '', 'reported')
    for (const { replica } of frame.returned?.replicas ?? []) this.#answer(replica, 'returned')
    this.#settle([{ kind: 'acked', seq: this.#received }])
  }

  #answer(replica: ReplicaId, answer: 'reported' | 'returned'): void {
    this.answers.set(replica, [...(this.answers.get(replica) ?? []), answer])
  }
}

function pickFrom<T>(items: readonly T[], pick: number): T | undefined {
  return items.length === 0 ? undefined : items[pick % items.length]
}
