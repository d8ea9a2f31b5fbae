/** Streams of hints: with neighbours, opened by whoever has lost the project, and from the project itself. What is passed on, and what is done about it, is decided in spread.ts. */

import { sha256 } from '#protocol/content/cid'
import { decodeHintFrame, encodeHintFrame, HINT_FRAME_BYTES_MAX, HINTS_PROTOCOL, type HintFrame, verifyHint } from '#protocol/hints/hints'
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import { messageOf } from '#protocol/message-of'
import type { FrameStream, Host } from '#protocol/peer/host'
import { verifyRecord } from '#protocol/record/record'
import { decodeFound, Found, type Source } from '#protocol/sources/messages'
import { inTime } from '../in-time.ts'
import type { Clock, Logger, Random } from '../ports.ts'
import { HINT_CONNECT_MS_MAX, HINTS_TICK_MS, UNSENT_MAX } from './policy.ts'
import { Spread, type SpreadEffect, type SpreadEvent } from './spread.ts'

export interface HintsPorts {
  readonly host: Pick<Host, 'peerId' | 'handle' | 'connect' | 'open'>
  /** The connection with this node is needed until the answer is called. */
  readonly hold: (peer: PeerIdString) => () => void
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
  /** A newer record of the project than any before. */
  readonly onRecord: (bytes: Uint8Array) => void
  /** The neighbours are others now: to be given back at the next start. */
  readonly onNeighbours: (bytes: Uint8Array) => void
}

/** Who acts on them. */
export interface HintsOwner {
  /** The project is perhaps to be reached now. */
  wake(): void
  hinted(what: 'kill' | 'release', replicas: readonly ReplicaId[]): void
}

const NOTHING = (): void => {}
/** One stays; the project opens one for each hint that it brings. */
const STREAMS_OF_PEER_MAX = 4

export class HintsService {
  readonly #ports: HintsPorts
  readonly #project: PeerIdString
  readonly #spread: Spread
  readonly #streams = new Map<PeerIdString, FrameStream>()
  /** Frames that wait for their reader. */
  readonly #unsent = new WeakMap<FrameStream, number>()
  #neighbours: ReadonlyMap<PeerIdString, readonly string[]> = new Map()
  #owner: HintsOwner | undefined
  #cancelTick = NOTHING
  readonly #stopped = new AbortController()

  /** `record` and `neighbours`: what the project said last, kept here; undefined when nothing is. */
  constructor(ports: HintsPorts, project: PeerIdString, kept: { readonly record: Uint8Array | undefined; readonly neighbours: Uint8Array | undefined }) {
    this.#ports = ports
    this.#project = project
    const sequence = kept.record === undefined ? undefined : this.#sequenceOf(kept.record)
    this.#spread = new Spread(ports.clock.nowMs(), kept.record === undefined || sequence === undefined ? undefined : { sequence, bytes: kept.record })
    this.#meet((kept.neighbours === undefined ? undefined : decodeFound(kept.neighbours))?.neighbours ?? [])
  }

  async start(): Promise<void> {
    const options = { frameBytesMax: HINT_FRAME_BYTES_MAX, streamsMax: STREAMS_OF_PEER_MAX }
    await this.#ports.host.handle(HINTS_PROTOCOL, options, (stream) => this.#serve(stream, false))
    this.#tick()
  }

  stop(): void {
    this.#stopped.abort(new Error('the node stops'))
    this.#cancelTick()
    for (const stream of this.#streams.values()) stream.abort(new Error('the node stops'))
  }

  ownedBy(owner: HintsOwner): void {
    this.#owner = owner
  }

  online(): void {
    this.#apply({ kind: 'online' })
  }

  away(): void {
    this.#apply({ kind: 'away' })
  }

  /** The project said where it is, and whom this node may ask when it is not there. */
  told(record: Uint8Array | undefined, neighbours: readonly Pick<Source, 'peer' | 'addresses'>[]): void {
    const before = this.#neighbours
    this.#meet(neighbours)
    const isSame = (peer: PeerIdString, addresses: readonly string[]): boolean => before.get(peer)?.join() === addresses.join()
    if (before !== this.#neighbours && ![...this.#neighbours].every(([peer, addresses]) => isSame(peer, addresses)))
      this.#ports.onNeighbours(
        Found.encode({ sources: [], neighbours: neighbours.map(({ peer, addresses }) => ({ peer, addresses: [...addresses], roots: [] })) })
      )
    if (record !== undefined) this.#hearRecord(record, null)
  }

  /** An answer that names nobody leaves those that were known. */
  #meet(neighbours: readonly Pick<Source, 'peer' | 'addresses'>[]): void {
    if (neighbours.length === 0) return
    this.#neighbours = new Map(neighbours.map(({ peer, addresses }) => [peer, addresses]))
    this.#apply({ kind: 'neighbours', peers: [...this.#neighbours.keys()] })
  }

  view(): ReturnType<Spread['view']> {
    return this.#spread.view()
  }

  /** Until the stream is over. */
  async #serve(stream: FrameStream, dialled: boolean): Promise<void> {
    const { remotePeer: peer } = stream
    const { host, clock } = this.#ports
    const release = dialled ? this.#ports.hold(peer) : NOTHING
    try {
      if (dialled) await stream.write(this.#greeting())
      for await (const bytes of stream.frames()) {
        if (!this.#spread.mayHear(peer, clock.nowMs())) throw new Error('it says too much')
        const frame = decodeHintFrame(bytes)
        if (frame === undefined) throw new Error('it says what is no hint')
        if (frame.kind === 'project') {
          if (frame.project !== this.#project) throw new Error('it is of another project')
          // Its own project needs no answer, and nothing is passed on to it.
          if (peer === this.#project) continue
          const other = this.#streams.get(peer)
          // Two nodes that lose their project at once call each other at once: both keep the stream of the same one.
          if (other !== undefined && (other === stream || dialled !== host.peerId < peer)) throw new Error('there is another stream')
          if (!dialled) await stream.write(this.#greeting())
          this.#streams.set(peer, stream)
          other?.abort(new Error('there is another stream'))
          this.#apply({ kind: 'opened', peer, dialled })
        } else if (peer !== this.#project && this.#streams.get(peer) !== stream) throw new Error('it does not say of which project it is')
        else if (!this.#hear(frame, peer === this.#project ? null : peer)) throw new Error('it says what the project did not sign')
      }
      stream.close().catch(NOTHING)
    } catch (error) {
      stream.abort(error instanceof Error ? error : new Error(String(error)))
    } finally {
      if (this.#streams.get(peer) === stream) {
        this.#streams.delete(peer)
        this.#apply({ kind: 'closed', peer })
      }
      release()
    }
  }

  #greeting(): Uint8Array {
    return encodeHintFrame({ kind: 'project', project: this.#project })
  }

  /** False for what cannot come from who means well. A clock that is wrong is no ill will: what is over by it is only left out. */
  #hear(frame: Exclude<HintFrame, { kind: 'project' }>, from: PeerIdString | null): boolean {
    if (frame.kind === 'record') return this.#hearRecord(frame.bytes, from)
    const hint = verifyHint(frame.bytes, { project: this.#project, nowMs: this.#ports.clock.nowMs() })
    if (hint === undefined) return verifyHint(frame.bytes, { project: this.#project, nowMs: this.#ports.clock.nowMs(), evenOver: true }) !== undefined
    this.#apply({ kind: 'hint', from, id: Buffer.from(sha256(frame.bytes)).toString('base64'), hint, bytes: frame.bytes })
    return true
  }

  #hearRecord(bytes: Uint8Array, from: PeerIdString | null): boolean {
    const sequence = this.#sequenceOf(bytes)
    if (sequence !== undefined) this.#apply({ kind: 'record', from, sequence, bytes })
    return sequence !== undefined
  }

  /** An address of an expired record is better than none; undefined for what is not the project's record. */
  #sequenceOf(bytes: Uint8Array): number | undefined {
    try {
      return verifyRecord(bytes, { project: this.#project, nowMs: this.#ports.clock.nowMs(), evenExpired: true }).sequence
    } catch {
      return undefined
    }
  }

  #apply(event: SpreadEvent): void {
    for (const effect of this.#spread.apply(event, this.#ports.clock.nowMs())) this.#carryOut(effect)
  }

  #carryOut(effect: SpreadEffect): void {
    switch (effect.kind) {
      case 'dial':
        this.#dial(effect.peer).catch((error: unknown) =>
          this.#ports.logger.debug({ peer: effect.peer, why: messageOf(error) }, 'a neighbour cannot be asked for news of the project')
        )
        break
      case 'send':
        this.#send(effect.peer, encodeHintFrame(effect.what))
        break
      case 'close':
        this.#streams.get(effect.peer)?.abort(new Error('no longer needed'))
        break
      case 'wake':
        this.#owner?.wake()
        break
      case 'keep':
        this.#ports.onRecord(effect.bytes)
        break
      case 'end':
        this.#owner?.hinted(effect.what, effect.replicas)
        break
    }
  }

  /** Who reads nothing of what it is sent is hung up on. */
  #send(peer: PeerIdString, frame: Uint8Array): void {
    const stream = this.#streams.get(peer)
    if (stream === undefined) return
    const unsent = (this.#unsent.get(stream) ?? 0) + 1
    if (unsent > UNSENT_MAX) {
      stream.abort(new Error('it reads nothing'))
      return
    }
    this.#unsent.set(stream, unsent)
    stream.write(frame).then(() => this.#unsent.set(stream, (this.#unsent.get(stream) ?? 1) - 1), NOTHING)
  }

  async #dial(peer: PeerIdString): Promise<void> {
    const { host, clock } = this.#ports
    await inTime(clock, HINT_CONNECT_MS_MAX, this.#stopped.signal, async (signal) => {
      await host.connect(peer, this.#neighbours.get(peer) ?? [], signal)
      const stream = await host.open(peer, HINTS_PROTOCOL, { frameBytesMax: HINT_FRAME_BYTES_MAX, streamsMax: STREAMS_OF_PEER_MAX }, signal)
      void this.#serve(stream, true)
    })
  }

  #tick(): void {
    if (this.#stopped.signal.aborted) return
    const [draw = 0] = this.#ports.random.bytes(1)
    this.#apply({ kind: 'tick', draw: draw / 256 })
    this.#cancelTick = this.#ports.clock.after(HINTS_TICK_MS, () => this.#tick())
  }
}
