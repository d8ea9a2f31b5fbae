/**
 * A node of a chaotic world: what it hears, what it keeps over its own crashes and broken streams, and what it says and says
 * again. It says all that a node may say, and what only a liar says; never what a node's own code could not.
 */

import type { CID } from 'multiformats/cid'
import { CID as Cid } from 'multiformats/cid'
import type { Effect, Event } from '#project-server/coordinator/events'
import { manifestCid } from '#protocol/bundle/manifest'
import { decodeFrame, type Frame } from '#protocol/control/messages'
import type { ReplicaId, TaskId } from '#protocol/ids'
import { parseReplicaId } from '#protocol/ids'
import { offer, result, SEAL, signedResult } from './coordinator-parts.ts'
import type { Safety } from './coordinator-safety.ts'

/** How a run ends. */
export type Ending = 'good' | 'odd' | 'fail' | 'break' | 'hang' | 'memory' | 'input' | 'owner'

/** What a node's world does for it. */
export interface Surroundings {
  readonly safety: Safety
  /** Tasks whose input nobody can have, until somebody looks. */
  readonly missing: Set<TaskId>
  apply(event: Event): void
  count(what: string): void
}

type Said = Event & { readonly seq: number }
type Hello = Extract<Event, { kind: 'hello' }>
type Welcome = Extract<Effect, { kind: 'welcome' }>
type Ack = Extract<Effect, { kind: 'ack' }>

/** Trust is soon had by these, which come when faults stop. */
const VOUCHED: ReadonlySet<string> = new Set(['fresh 0', 'fresh 1'])
const SLOTS = 3
/** Of the first nodes; nobody knows it of the others. */
export const NETWORKS = ['203.0.113.0/24', '203.0.113.0/24', '203.0.114.0/24', '203.0.114.0/24'] as const
/** By turns; the last does not tell. */
const CPUS = ['one 1', 'one 1', 'two 2', 'two 2', 'two 2', ''] as const

export class ChaosNode {
  readonly id: string
  readonly network: string
  readonly #world: Surroundings
  readonly #lies: boolean
  readonly #cpu: string
  /** Bundles that it brings to itself ahead of their leases. */
  readonly #nextMax: number
  #links = 0
  #link = ''
  /** What its last hello named. */
  #spare = ''
  #received = 0
  #sent = 0
  /** Everything not acknowledged. */
  #outbox: Said[] = []
  /** The last things it said, for saying them again. */
  #said: Said[] = []
  readonly #leases = new Map<ReplicaId, { readonly epoch: number; readonly bundle: CID; phase: 'leased' | 'asked' | 'granted' | 'killed' }>()
  /** What it left and keeps until it is told to drop it. */
  readonly kept = new Set<ReplicaId>()
  /** Frames and welcomes on their way to it; undefined without a stream. */
  #inbox: (Frame | Welcome | Ack)[] | undefined
  /** The coordinator has welcomed the present stream; the node has heard it. */
  #welcomeSent = false
  #welcomeHeard = false
  /** It has said bye, and takes nothing more until it is back. */
  #leaving = false

  /** `index`: how many nodes were in its world before it. */
  constructor(id: string, index: number, lies: boolean, world: Surroundings) {
    this.id = id
    this.network = NETWORKS[index] ?? ''
    this.#world = world
    this.#lies = lies
    this.#cpu = CPUS[index % CPUS.length] ?? ''
    // Every third is of a version that brings nothing ahead.
    this.#nextMax = index % 3 === 2 ? 0 : 2
    this.#renew()
  }

  get hasStream(): boolean {
    return this.#inbox !== undefined
  }

  /** It has a stream and did not say good-bye. */
  get isThere(): boolean {
    return this.hasStream && !this.#leaving
  }

  /** Something of it is on its way, or is kept for nobody. */
  get isUnsettled(): boolean {
    return this.kept.size > 0 || this.#outbox.length > 0
  }

  get hasRun(): boolean {
    return [...this.#leases.values()].some(({ phase }) => phase === 'granted' || phase === 'killed')
  }

  /** It begins a stream, with this. */
  hello(): Hello {
    if (this.hasStream) this.cut(true)
    this.#inbox = []
    this.#leaving = false
    this.#spare = this.#newLink()
    // As a node's outbox does: the good-bye of its life before is not said again, though its number is.
    const back = (said: Said): Said => (said.kind === 'bye' ? { kind: 'progress', node: this.id, seq: said.seq, replicas: [] } : said)
    this.#outbox = this.#outbox.map(back)
    this.#said = this.#said.map(back)
    return {
      kind: 'hello',
      node: this.id,
      link: this.#link,
      spare: this.#spare,
      received: this.#received,
      offer: offer(SLOTS, {
        memoryBytes: 4 * 1024 ** 3,
        network: this.network,
        cpu: this.#cpu,
        // In calm some nodes are the administrator's: whoever waits for one that is trusted may wait for ever for others to become it.
        ...(VOUCHED.has(this.id) ? { vouched: true } : {})
      }),
      replicas: [...this.#leases.keys(), ...this.kept],
      next: this.#nextMax
    }
  }

  /** Its stream breaks. */
  cut(tell: boolean): void {
    const had = this.hasStream
    this.#world.safety.next(this.id, [])
    this.#inbox = undefined
    this.#welcomeSent = false
    this.#welcomeHeard = false
    if (had && tell) this.#world.apply({ kind: 'gone', node: this.id })
  }

  /** It forgets all it knew. */
  wipe(): void {
    this.cut(true)
    this.#renew()
    this.#world.count('wiped')
  }

  bye(): void {
    if (!this.#welcomeHeard) return
    this.#leases.clear()
    this.#leaving = true
    this.#say((seq) => ({ kind: 'bye', node: this.id, seq }))
  }

  beat(): void {
    if (this.#welcomeHeard) this.#world.apply({ kind: 'heartbeat', node: this.id })
  }

  /** What is sent to it is on its way from here on. */
  send(effect: Welcome | Ack | Extract<Effect, { kind: 'send' }>): void {
    if (effect.kind === 'welcome') {
      this.#welcomeSent = true
      this.#world.safety.next(this.id, [])
      this.#inbox?.push(effect)
      return
    }
    if (!this.#welcomeSent) return
    if (effect.kind === 'ack') {
      this.#inbox?.push(effect)
      return
    }
    const frame = decodeFrame(effect.frame)
    if (frame === undefined || frame.seq !== effect.seq) throw new Error('a frame that was sent does not decode')
    this.#world.safety.sent(this.id, frame)
    if (frame.next !== undefined) this.#world.safety.next(this.id, this.#toldNext(frame.next.manifests))
    this.#inbox?.push(frame)
  }

  hear(frames: number): void {
    for (let heard = 0; heard < frames; heard++) {
      const next = this.#inbox?.shift()
      if (next === undefined) return
      if ('kind' in next && next.kind === 'welcome') this.#welcomed(next)
      else if ('kind' in next) this.#forget(next.seq)
      else this.#take(next)
    }
  }

  ack(): void {
    if (this.#welcomeHeard) this.#world.apply({ kind: 'ack', node: this.id, seq: this.#received })
  }

  /** To begin what it was leased. */
  ask(): void {
    const waiting = [...this.#leases].filter(([, { phase }]) => phase === 'leased')
    if (waiting.length === 0) return
    for (const [, lease] of waiting) lease.phase = 'asked'
    this.#say((seq) => ({ kind: 'start', node: this.id, seq, replicas: waiting.map(([replica, { epoch }]) => ({ replica, epoch })) }))
  }

  /** A run of it ends. */
  end(as: Ending): void {
    const [replica, lease] = [...this.#leases].find(([, { phase }]) => phase === 'granted' || phase === 'killed') ?? []
    if (replica === undefined || lease === undefined) return
    const of = parseReplicaId(replica)?.task ?? ''
    const how = this.#world.missing.has(of) ? 'input' : as
    if (how === 'input') this.#world.missing.add(of)
    this.#world.count(how)
    this.#leases.delete(replica)
    if (how === 'break' || how === 'hang' || how === 'input' || how === 'owner') {
      const kind = how === 'break' ? 'node' : how === 'hang' ? 'task' : how
      this.#say((seq) => ({ kind: 'returned', node: this.id, seq, replicas: [{ replica, class: kind, code: 'test', message: '' }] }))
      return
    }
    // Liars agree with each other; the odd result agrees with nobody.
    const output = this.#lies ? 'a lie' : how === 'odd' ? `odd ${replica}` : `truth of ${of}`
    // A kill may come too late to be what ended the run.
    const killed = lease.phase === 'killed' && how !== 'odd'
    if (killed) this.#world.count('left by a killed run')
    const ended = how === 'fail' ? { exitCode: 1 } : how === 'memory' ? { reason: 'memory' as const, exitCode: 137 } : { output }
    const one = signedResult(result(this.id, replica, lease.bundle, killed ? { reason: 'killed', output } : ended))
    this.kept.add(replica)
    this.#world.safety.reported(this.id, one.result)
    this.#say((seq) => ({ kind: 'reports', node: this.id, seq, results: [one], seal: SEAL }))
  }

  /** It says again what it said `back` messages ago. */
  sayAgain(back: number): void {
    const said = this.#said.at(-1 - back)
    if (said !== undefined && this.#welcomeHeard) this.#world.apply(said)
  }

  /** A result for a lease that another node has. */
  steal(from: ChaosNode | undefined): void {
    if (from === undefined || from === this) return
    const [replica, lease] = [...from.#leases][0] ?? []
    if (replica === undefined || lease === undefined) return
    const one = signedResult(result(this.id, replica, lease.bundle, { output: 'stolen' }))
    this.#say((seq) => ({ kind: 'start', node: this.id, seq, replicas: [{ replica, epoch: lease.epoch }] }))
    this.#say((seq) => ({ kind: 'reports', node: this.id, seq, results: [one], seal: SEAL }))
  }

  #newLink(): string {
    return `${this.id}/${++this.#links}`
  }

  #renew(): void {
    this.#link = this.#newLink()
    this.#renumber()
  }

  #renumber(): void {
    this.#received = 0
    this.#sent = 0
    this.#outbox = []
    this.#said = []
    this.#leases.clear()
    this.kept.clear()
  }

  #welcomed({ resumed, received, unknown }: Welcome): void {
    this.#welcomeHeard = true
    if (resumed) {
      this.#world.count('resumed')
      this.#world.safety.heardWelcome(this.id, received, this.#sent - this.#outbox.length)
      this.#forget(received)
    } else {
      this.#link = this.#spare
      this.#renumber()
    }
    for (const replica of unknown) {
      this.#leases.delete(replica)
      this.kept.delete(replica)
    }
    for (const said of this.#outbox) this.#world.apply(said)
  }

  #forget(seq: number): void {
    this.#outbox = this.#outbox.filter((said) => said.seq > seq)
  }

  #take(frame: Frame): void {
    if (frame.next !== undefined) return
    if (frame.seq <= this.#received) return
    if (frame.seq !== this.#received + 1) throw new Error(`${this.id} has ${this.#received} and got ${frame.seq}`)
    this.#received = frame.seq
    for (const { replica, epoch, granted, manifest } of frame.assign?.leases ?? []) {
      if (this.#leaving) continue
      const cid = manifestCid(manifest).toString()
      this.#leases.set(replica, { epoch, bundle: Cid.parse(cid), phase: granted === true ? 'granted' : 'leased' })
      if (granted === true) this.#world.safety.granted(this.id, replica)
    }
    for (const replica of frame.grant?.granted ?? []) {
      this.#world.safety.granted(this.id, replica)
      const lease = this.#leases.get(replica)
      if (lease !== undefined) lease.phase = 'granted'
    }
    if (frame.cancel?.reason === 'yield') this.#world.count('yielded')
    for (const replica of frame.cancel?.replicas ?? []) {
      const lease = this.#leases.get(replica)
      const killed = frame.cancel?.reason === 'killed'
      if (killed && lease !== undefined && (lease.phase === 'granted' || lease.phase === 'killed')) lease.phase = 'killed'
      else this.#leases.delete(replica)
      if (!killed) this.kept.delete(replica)
    }
    for (const replica of frame.grant?.refused ?? []) this.#leases.delete(replica)
    for (const replica of frame.release?.replicas ?? []) this.kept.delete(replica)
  }

  #toldNext(manifests: readonly Uint8Array[]): string[] {
    if (manifests.length > this.#nextMax) throw new Error(`${this.id} is told of ${manifests.length} bundles ahead and asked for ${this.#nextMax}`)
    if (manifests.length > 0) this.#world.count('brought ahead')
    return manifests.map((manifest) => manifestCid(manifest).toString())
  }

  #say(make: (seq: number) => Said): void {
    const said = make(++this.#sent)
    this.#outbox.push(said)
    this.#said.push(said)
    if (this.#welcomeHeard) this.#world.apply(said)
  }
}
