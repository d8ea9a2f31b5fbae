/**
 * What nodes fetch from each other: before something is fetched the project is asked who has it, and those are connected,
 * directly or through a relay; whatever fails, the project has it too. And what they give each other: no more than their
 * owner allows. What comes from a stranger is checked block by block like everything else.
 */
import type { BlockServer, Gate, Guest } from '#protocol/content/serve'
import type { PeerIdString } from '#protocol/ids'
import { messageOf } from '#protocol/message-of'
import { OldestFirst } from '#protocol/oldest-first'
import { isPrivateAddress, isRelayed } from '#protocol/peer/addresses'
import type { FrameStream, Host } from '#protocol/peer/host'
import { Ask, decodeFound, SOURCE_ADDRESSES_MAX, SOURCES_FRAME_BYTES_MAX, SOURCES_PROTOCOL, type Source } from '#protocol/sources/messages'
import { askOnce } from '#protocol/streams/ask-once'
import { inTime } from './in-time.ts'
import { pause } from './pause.ts'
import {
  ASK_MS_MAX,
  DIRECT_LOOK_MS,
  DIRECT_MS_MAX,
  GUEST_IDLE_MS,
  GUEST_STREAMS_MAX,
  GUESTS_MAX,
  PEER_CONNECT_MS_MAX,
  PEER_IDLE_MS,
  PEERS_PER_ROOT,
  PEERS_SHOWN_MAX,
  TELL_AGAIN_MS,
  TELL_LOOK_MS,
  TURN_ASK_MS_MAX,
  TURN_WAIT_MS_MAX
} from './policy.ts'
import type { Clock, Logger } from './ports.ts'

export interface ExchangePorts {
  readonly host: Host
  /** How a peer is connected now: whether any of it goes without a relay. */
  readonly isDirect: (peer: PeerIdString) => boolean
  readonly clock: Clock
  readonly logger: Logger
  /** The project says, signed, where it is, and whom to ask when it is not there. */
  readonly onTold?: (record: Uint8Array | undefined, neighbours: readonly Pick<Source, 'peer' | 'addresses'>[]) => void
}

export interface ExchangeOptions {
  /** What is kept for others: only the project is given it. */
  readonly kept?: BlockServer
  readonly project: PeerIdString
  /** Bytes a second for other nodes, all together; 0 gives them nothing. */
  readonly uploadPerSecond: number
}

/** Bytes by the way they took. */
export interface Traffic {
  project: number
  direct: number
  relayed: number
}

export interface ExchangeView {
  readonly received: Readonly<Traffic>
  readonly sent: Readonly<Traffic>
  /** Those that most came from, the last first. */
  readonly peers: readonly { readonly peer: PeerIdString; readonly direct: boolean; readonly bytes: number }[]
}

/** Nodes that have some of what was asked for, connected. */
export interface Found {
  of(root: string): readonly PeerIdString[]
  /** Called when they are not needed any more. */
  release(): void
}

/** `laterMs`: it is worth asking again after that; 0 when it is not. */
interface Answer {
  readonly sources: readonly Source[]
  readonly laterMs: number
}

const NOBODY: Found = { of: () => [], release() {} }
const NOTHING = (): void => {}

export class Exchange implements Gate {
  /** To fetch over: as the node's own host, and counted. */
  readonly host: Host
  readonly #ports: ExchangePorts
  readonly #options: ExchangeOptions
  readonly #received: Traffic = { project: 0, direct: 0, relayed: 0 }
  readonly #sent: Traffic = { project: 0, direct: 0, relayed: 0 }
  readonly #peers = new OldestFirst<PeerIdString, { direct: boolean; bytes: number }>()
  /** Peers connected for fetches, with how many need them. */
  readonly #used = new Map<PeerIdString, number>()
  /** Streams over which others are served, by peer. */
  readonly #guests = new Map<PeerIdString, number>()
  /** What may be sent before the next wait, and when that was so. */
  #allowance: { left: number; atMs: number }
  #told = ''
  #toldAtMs = Number.NEGATIVE_INFINITY
  #cancelLook = NOTHING
  #stopped = false

  constructor(ports: ExchangePorts, options: ExchangeOptions) {
    this.#ports = ports
    this.#options = options
    this.#allowance = { left: options.uploadPerSecond, atMs: ports.clock.nowMs() }
    const { host } = ports
    this.host = { ...host, open: async (peer, ...how) => this.#counted(await host.open(peer, ...how)) }
  }

  /** Tells the project where this node is reached, now and when that changes. */
  start(): void {
    this.#look()
  }

  stop(): void {
    this.#stopped = true
    this.#cancelLook()
  }

  /** The project has welcomed the node, and may know nothing of it. */
  welcomed(): void {
    this.#told = ''
    this.#cancelLook()
    this.#look()
  }

  view(): ExchangeView {
    const peers = [...this.#peers].reverse().map(([peer, seen]) => ({ peer, ...seen }))
    return { received: { ...this.#received }, sent: { ...this.#sent }, peers }
  }

  /** Those who have these trees, as far as they can be reached; nobody when the project does not answer. Rejects with the signal's reason alone. */
  async find(roots: readonly string[], signal: AbortSignal): Promise<Found> {
    let sources: readonly Source[]
    try {
      sources = await this.#inTurn(roots, signal)
    } catch (error) {
      signal.throwIfAborted()
      this.#ports.logger.debug({ why: messageOf(error) }, 'the project does not say who has it')
      return NOBODY
    }
    const chosen = roots.map((_, index) => sources.filter((source) => source.roots.includes(index)).slice(0, PEERS_PER_ROOT))
    const wanted = [...new Set(chosen.flat())]
    const reached = new Set<PeerIdString>()
    await Promise.all(
      wanted.map(async (source) => {
        if (await this.#connect(source, signal)) reached.add(source.peer)
      })
    )
    signal.throwIfAborted()
    const leave = [...reached].map((peer) => this.hold(peer))
    const of = new Map(roots.map((root, index) => [root, (chosen[index] ?? []).map(({ peer }) => peer).filter((peer) => reached.has(peer))]))
    return {
      of: (root) => of.get(root) ?? [],
      release: () => {
        for (const release of leave) release()
      }
    }
  }

  /** The connection with this node is needed until the answer is called. */
  hold(peer: PeerIdString): () => void {
    this.#used.set(peer, (this.#used.get(peer) ?? 0) + 1)
    return () => this.#leave(peer)
  }

  /** What another node may be given: undefined when nothing, now. */
  enter(stream: FrameStream): Guest | undefined {
    const { project, uploadPerSecond, kept } = this.#options
    const way = this.#wayOf(stream)
    if (stream.remotePeer === project) {
      const sent = (bytes: number): undefined => {
        this.#sent.project += bytes
      }
      return { sent, leave: NOTHING, ...(kept === undefined ? {} : { also: kept }) }
    }
    if (uploadPerSecond === 0 || !this.#admit(stream.remotePeer)) return undefined
    // Who asks for nothing, or reads nothing of what it asked for, keeps others from it.
    const { clock } = this.#ports
    const idle = (): void => stream.abort(new Error('nothing was fetched for too long'))
    let cancel = clock.after(GUEST_IDLE_MS, idle)
    const sent = (bytes: number): Promise<void> | undefined => {
      this.#sent[way] += bytes
      const waitMs = this.#spend(bytes)
      cancel()
      cancel = clock.after(waitMs + GUEST_IDLE_MS, idle)
      return waitMs === 0 ? undefined : pause(clock, waitMs, stream.gone)
    }
    return {
      sent,
      leave: () => {
        cancel()
        const left = (this.#guests.get(stream.remotePeer) ?? 1) - 1
        if (left > 0) this.#guests.set(stream.remotePeer, left)
        else this.#guests.delete(stream.remotePeer)
      }
    }
  }

  /** Whether there is room for one more stream, of this peer and in all. */
  #admit(peer: PeerIdString): boolean {
    const own = this.#guests.get(peer) ?? 0
    let all = 0
    for (const streams of this.#guests.values()) all += streams
    if (own >= GUEST_STREAMS_MAX || all >= GUESTS_MAX) return false
    this.#guests.set(peer, own + 1)
    return true
  }

  /** How long to wait until what was sent is within the rate; a second's worth may go at once. */
  #spend(bytes: number): number {
    const { uploadPerSecond } = this.#options
    const now = this.#ports.clock.nowMs()
    const { left, atMs } = this.#allowance
    const filled = Math.min(uploadPerSecond, left + (Math.max(0, now - atMs) / 1000) * uploadPerSecond) - bytes
    this.#allowance = { left: filled, atMs: Math.max(now, atMs) }
    return filled >= 0 ? 0 : Math.ceil((-filled / uploadPerSecond) * 1000)
  }

  /** Others fetch it first and give it on, when the project says so; it is waited for no longer than that is worth. */
  async #inTurn(roots: readonly string[], signal: AbortSignal): Promise<readonly Source[]> {
    const { clock } = this.#ports
    for (const endMs = clock.nowMs() + TURN_WAIT_MS_MAX; ; ) {
      const { sources, laterMs } = await this.#ask(roots, signal)
      if (laterMs === 0 || clock.nowMs() + laterMs > endMs) return sources
      await pause(clock, Math.min(laterMs, TURN_ASK_MS_MAX), signal)
    }
  }

  #ask(roots: readonly string[], signal: AbortSignal): Promise<Answer> {
    return inTime(this.#ports.clock, ASK_MS_MAX, signal, (limit) => this.#asked(roots, limit))
  }

  async #asked(roots: readonly string[], limit: AbortSignal): Promise<Answer> {
    const { host, clock } = this.#ports
    const addresses = this.#addresses()
    const question = Ask.encode({ addresses, roots: [...roots] })
    const answer = await askOnce(host, this.#options.project, SOURCES_PROTOCOL, { frameBytesMax: SOURCES_FRAME_BYTES_MAX, question, signal: limit })
    const found = decodeFound(answer)
    if (found === undefined) throw new Error('the answer is none')
    this.#told = addresses.join()
    this.#toldAtMs = clock.nowMs()
    if (roots.length === 0)
      this.#ports.onTold?.(
        found.record,
        found.neighbours.filter(({ peer }) => peer !== host.peerId)
      )
    const sources = found.sources.filter(({ peer }) => peer !== host.peerId && peer !== this.#options.project)
    return { sources, laterMs: found.laterMs ?? 0 }
  }

  /** Those that others can use: the machine's own only when there are no better. */
  #addresses(): string[] {
    const all = this.#ports.host.addresses()
    const outer = all.filter((address) => !/^\/(ip4\/127\.|ip6\/::1\/)/.test(address))
    return (outer.length > 0 ? outer : all).slice(0, SOURCE_ADDRESSES_MAX)
  }

  #look(): void {
    if (this.#stopped) return
    const { clock } = this.#ports
    const changed = this.#addresses().join() !== this.#told
    if (changed || clock.nowMs() - this.#toldAtMs >= TELL_AGAIN_MS) this.#ask([], new AbortController().signal).catch(NOTHING)
    this.#cancelLook = clock.after(TELL_LOOK_MS, () => this.#look())
  }

  async #connect({ peer, addresses }: Source, signal: AbortSignal): Promise<boolean> {
    const { host, clock, logger } = this.#ports
    try {
      await inTime(clock, PEER_CONNECT_MS_MAX, signal, (limit) => host.connect(peer, addresses, limit))
      await this.#untilCalledBack(peer, signal)
      return true
    } catch (error) {
      logger.debug({ peer, why: messageOf(error) }, 'a node that has it cannot be reached')
      return false
    }
  }

  /** A node with a public address is called back when it has called through a relay: that is worth a moment. */
  async #untilCalledBack(peer: PeerIdString, signal: AbortSignal): Promise<void> {
    const { host, isDirect, clock } = this.#ports
    if (!host.addresses().some((address) => !isRelayed(address) && !isPrivateAddress(address))) return
    for (let waited = 0; waited < DIRECT_MS_MAX && !isDirect(peer); waited += DIRECT_LOOK_MS) await pause(clock, DIRECT_LOOK_MS, signal)
  }

  /** A connection stays for a while: the next task may need it. */
  #leave(peer: PeerIdString): void {
    const { clock, host } = this.#ports
    clock.after(PEER_IDLE_MS, () => {
      const users = (this.#used.get(peer) ?? 1) - 1
      if (users > 0) this.#used.set(peer, users)
      // It fetches from here over the same connection.
      else if (this.#guests.has(peer)) this.#leave(peer)
      else {
        this.#used.delete(peer)
        if (!this.#stopped) host.disconnect(peer).catch(NOTHING)
      }
    })
  }

  #wayOf(stream: FrameStream): keyof Traffic {
    if (stream.remotePeer === this.#options.project) return 'project'
    return isRelayed(stream.remoteAddress) ? 'relayed' : 'direct'
  }

  #counted(stream: FrameStream): FrameStream {
    const way = this.#wayOf(stream)
    const count = (bytes: number): void => {
      this.#received[way] += bytes
      if (way !== 'project') this.#note(stream.remotePeer, way === 'direct', bytes)
    }
    return {
      ...stream,
      frames: async function* () {
        for await (const frame of stream.frames()) {
          count(frame.length)
          yield frame
        }
      }
    }
  }

  #note(peer: PeerIdString, direct: boolean, bytes: number): void {
    const before = this.#peers.get(peer)?.bytes ?? 0
    this.#peers.renew(peer, { direct, bytes: before + bytes })
    this.#peers.keep(PEERS_SHOWN_MAX)
  }
}
