/**
 * Streams over which nodes leave results with each other while their project is away (protocol/parking). Whom to ask, what to keep
 * and what to answer is decided in the agent; what comes from others is checked here before the agent hears of it.
 */

import { CID } from 'multiformats/cid'
import { networkOf } from '#protocol/callers/network'
import type { ContentStore } from '#protocol/content/content'
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import { messageOf } from '#protocol/message-of'
import {
  decodeAnswer,
  decodeOffer,
  encodeAnswer,
  encodeOffer,
  type Offer,
  PARKING_FRAME_BYTES_MAX,
  PARKING_PROTOCOL,
  type ParkingCode,
  signParked,
  verifyParked
} from '#protocol/parking/messages'
import type { FrameStream, Host } from '#protocol/peer/host'
import { decodeResult } from '#protocol/result/result'
import type { Signer } from '#protocol/signing/keys'
import { askOnce } from '#protocol/streams/ask-once'
import type { AgentEvent, Prompt } from '../agent/events.ts'
import { own } from '../agent/outgoing.ts'
import type { Parked } from '../agent/parking.ts'
import { type Parcel, parcelOf } from '../agent/safekeeping.ts'
import { inTime } from '../in-time.ts'
import type { Clock, Logger } from '../ports.ts'
import { PARK_CONNECT_MS_MAX, PARK_IDLE_MS, PARK_MS_MAX, PARK_SPARE_BYTES, PARK_STREAMS_MAX, PARK_STREAMS_OF_PEER_MAX } from './policy.ts'

/** Where what others leave is kept, apart from what the node itself has. */
export type KeptStore = Pick<ContentStore, 'fetch' | 'has' | 'remove'>

export interface ParkingPorts {
  readonly host: Host
  /** The connection with this node is needed until the answer is called. */
  readonly hold: (peer: PeerIdString) => () => void
  /** `begin`: what of it is needed; anything else in it goes. */
  readonly store: { begin(needed: boolean): Promise<void>; open(): Promise<KeptStore> }
  readonly signer: Pick<Signer, 'sign' | 'peerId'>
  readonly clock: Pick<Clock, 'after'>
  readonly logger: Logger
}

/** Who decides. */
export interface ParkingOwner {
  apply(event: AgentEvent): void
}

interface Neighbour {
  readonly peer: PeerIdString
  readonly addresses: readonly string[]
}

const STREAM = { frameBytesMax: PARKING_FRAME_BYTES_MAX, streamsMax: PARK_STREAMS_OF_PEER_MAX }

export class ParkingService {
  readonly #ports: ParkingPorts
  readonly #project: PeerIdString
  #owner: ParkingOwner | undefined
  #neighbours: ReadonlyMap<PeerIdString, readonly string[]> = new Map()
  /** Offers of others that wait for the agent's word. */
  readonly #waiting = new Map<ReplicaId, { readonly from: PeerIdString; readonly answer: (code: ParkingCode) => void }>()
  #streams = 0
  /** Nothing is fetched while something goes that it may name. */
  #removed: Promise<void> = Promise.resolve()
  readonly #stopped = new AbortController()

  constructor(ports: ParkingPorts, project: PeerIdString) {
    this.#ports = ports
    this.#project = project
  }

  ownedBy(owner: ParkingOwner): void {
    this.#owner = owner
  }

  /** Whom the project named last; an answer that names nobody leaves those that were known. */
  meet(neighbours: readonly Neighbour[]): void {
    if (neighbours.length === 0) return
    this.#neighbours = new Map(neighbours.map(({ peer, addresses }) => [peer, addresses]))
    this.#tellNeighbours()
  }

  /** `kept`: what the agent has records of. */
  async start(kept: readonly Parcel[]): Promise<void> {
    for (const replica of await this.#missing(kept)) this.#owner?.apply({ kind: 'uncollected', replica })
    await this.#ports.host.handle(PARKING_PROTOCOL, STREAM, (stream) => this.#serve(stream))
    this.#tellNeighbours()
  }

  /** Of these, those whose content is not all here; a store that cannot be opened is begun anew. */
  async #missing(kept: readonly Parcel[]): Promise<ReplicaId[]> {
    const { store, logger } = this.#ports
    await store.begin(kept.length > 0)
    if (kept.length === 0) return []
    try {
      const { has } = await store.open().then((open) => ({ has: (root: string) => open.has(CID.parse(root)) }))
      return kept.filter(({ content }) => !content.every(has)).map(({ replica }) => replica)
    } catch (error) {
      logger.warn({ why: messageOf(error) }, 'what was kept for others is lost')
      await store.begin(false)
      return kept.map(({ replica }) => replica)
    }
  }

  stop(): void {
    this.#stopped.abort(new Error('the node stops'))
    for (const { answer } of [...this.#waiting.values()]) answer('busy')
  }

  /** Offers a result to another node. */
  park({ replica, peer, body }: Extract<Prompt, { kind: 'park' }>): void {
    const answered = (code: Parked): void => this.#owner?.apply({ kind: 'answered', replica, peer, code })
    this.#offer(peer, replica, body).then(
      (code) => {
        this.#ports.logger.info({ replica, peer, code }, 'the project is away: left a result with another node')
        answered(code)
      },
      (error: unknown) => {
        this.#ports.logger.debug({ replica, peer, why: messageOf(error) }, 'a result could not be left with another node')
        answered('missed')
      }
    )
  }

  /** Fetches what a result names from the node that offers it. */
  collect({ replica, from, content, bytes }: Parcel): void {
    this.#collect(from, content, bytes).then(
      () => this.#owner?.apply({ kind: 'collected', replica }),
      (error: unknown) => {
        this.#ports.logger.debug({ replica, from, why: messageOf(error) }, 'what a result names could not be fetched')
        this.#owner?.apply({ kind: 'uncollected', replica })
      }
    )
  }

  unkeep(content: readonly string[]): void {
    this.#removed = this.#removed
      .then(async () => {
        const store = await this.#ports.store.open()
        for (const root of content) await store.remove(CID.parse(root))
      })
      .catch((error: unknown) => this.#ports.logger.warn({ why: messageOf(error) }, 'what was kept for others could not be removed'))
  }

  answer(peer: PeerIdString, replica: ReplicaId, code: ParkingCode): void {
    const waiting = this.#waiting.get(replica)
    if (waiting?.from === peer) waiting.answer(code)
  }

  #tellNeighbours(): void {
    const neighbours = [...this.#neighbours].map(([peer, addresses]) => ({ peer, network: networkIn(addresses) }))
    if (neighbours.length > 0) this.#owner?.apply({ kind: 'neighbours', neighbours })
  }

  #offer(peer: PeerIdString, replica: ReplicaId, body: Uint8Array): Promise<Parked> {
    const { host, clock, signer } = this.#ports
    return inTime(clock, PARK_MS_MAX, this.#stopped.signal, async (signal) => {
      await inTime(clock, PARK_CONNECT_MS_MAX, signal, (limit) => host.connect(peer, this.#neighbours.get(peer) ?? [], limit))
      const release = this.#ports.hold(peer)
      try {
        const bytes = weightOf(decodeResult(body)?.bytes ?? 0)
        const question = encodeOffer({ result: own(body), signature: own(signParked(signer, body)), bytes })
        const answer = decodeAnswer(await askOnce(host, peer, PARKING_PROTOCOL, { ...STREAM, question, signal }))
        if (answer?.replica !== replica) throw new Error('the answer is none')
        return answer.code
      } finally {
        release()
      }
    })
  }

  async #serve(stream: FrameStream): Promise<void> {
    if (this.#streams >= PARK_STREAMS_MAX) throw new Error('others are served already')
    this.#streams += 1
    const release = this.#ports.hold(stream.remotePeer)
    const idle = (): void => stream.abort(new Error('nothing was offered for too long'))
    let cancel = this.#ports.clock.after(PARK_IDLE_MS, idle)
    try {
      for await (const frame of stream.frames()) {
        cancel()
        const offer = decodeOffer(frame)
        if (offer === undefined) throw new Error('it is no offer')
        await stream.write(await this.#consider(offer, stream))
        cancel = this.#ports.clock.after(PARK_IDLE_MS, idle)
      }
      await stream.close()
    } finally {
      cancel()
      release()
      this.#streams -= 1
    }
  }

  /** Only a node's own results, of this project. */
  async #consider({ result: body, signature, bytes }: Offer, stream: FrameStream): Promise<Uint8Array> {
    const verified = verifyParked({ body, signature }, this.#project)
    if (verified === undefined || verified.result.node !== stream.remotePeer || this.#stopped.signal.aborted)
      return encodeAnswer(verified?.result.replica ?? '', 'refused')
    const parcel = parcelOf(verified.result, { body, signature }, { bytes, network: networkOf(stream.remoteAddress) })
    const { replica } = parcel
    if (this.#waiting.has(replica)) return encodeAnswer(replica, 'busy')
    try {
      const code = await new Promise<ParkingCode>((answer) => {
        this.#waiting.set(replica, { from: parcel.from, answer })
        this.#owner?.apply({ kind: 'offered', parcel })
      })
      return encodeAnswer(replica, code)
    } finally {
      this.#waiting.delete(replica)
    }
  }

  async #collect(from: PeerIdString, content: readonly string[], bytes: number): Promise<void> {
    await this.#removed
    const release = this.#ports.hold(from)
    try {
      const store = await this.#ports.store.open()
      await inTime(this.#ports.clock, PARK_MS_MAX, this.#stopped.signal, async (signal) => {
        let left = bytes
        for (const root of content)
          left -= (await store.fetch(CID.parse(root), { host: this.#ports.host, from: [from], pin: true, bytesMax: Math.max(0, left), signal })).bytes
      })
    } finally {
      release()
    }
  }
}

/** Of a tree with so many bytes, at most. */
export function weightOf(bytes: number): number {
  return bytes === 0 ? 0 : bytes + Math.ceil(bytes / 16) + PARK_SPARE_BYTES
}

/** Of the first address that tells; '' when none does. */
function networkIn(addresses: readonly string[]): string {
  return addresses.map(networkOf).find((network) => network !== '') ?? ''
}
