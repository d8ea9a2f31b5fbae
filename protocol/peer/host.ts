/**
 * What talko needs of a libp2p host, as a port: `peer/live/host.ts` makes it from js-libp2p; a simulated network can stand
 * in its place. A *connection* is a connection and a *stream* is a stream.
 */
import type { PeerIdString } from '../ids.ts'

/** A bidirectional byte stream that carries length-prefixed frames, with real back-pressure both ways. */
export interface FrameStream {
  readonly remotePeer: PeerIdString
  /** Address the peer is seen at, for logs. */
  readonly remoteAddress: string
  /** Frames in order, each within the limit given when the stream was made; reading slowly slows the sender. Ends when the peer closes; throws StreamError when it resets, breaks the framing or exceeds the limit. Use once. */
  frames(): AsyncGenerator<Uint8Array, void, undefined>
  /** As `frames()`, for a stream that can tell without a promise for each frame: see listen.ts. */
  listen?(listener: FrameListener): void
  /** Queues one frame (several writes are coalesced) and resolves when less than the high-water mark is waiting. The bytes must not change afterwards. Rejects when the stream is gone. */
  write(frame: Uint8Array): Promise<void>
  /** Sends what is queued, then ends this side. */
  close(): Promise<void>
  /** Resets both sides at once. */
  abort(error: Error): void
  /** Notes that the peer broke a protocol, and `what` it did: who does so again and again is hung up on and refused for a while. Breaches of the framing are noted already. */
  readonly accuse?: (what: string) => void
  /** Aborted when the stream is gone, for whatever reason. */
  readonly gone: AbortSignal
  /** A further stream over the connection of this one: programs that share a key are one peer with several connections. Throws as Host.open does. */
  readonly beside?: (protocol: string, options: StreamOptions, signal?: AbortSignal) => Promise<FrameStream>
}

/** Who is told of a stream's frames. */
export interface FrameListener {
  /** The next frame comes when the promise, if one is given, has settled. What is thrown ends the reading, and comes back as the error of `over`. */
  frame(bytes: Uint8Array): Promise<void> | undefined
  /** There are no more: the peer has ended its side, or what went wrong. */
  over(error: unknown): void
}

export interface StreamOptions {
  /** A longer frame resets the stream before it is allocated. */
  readonly frameBytesMax: number
  /** Streams of this protocol open at once on one connection; further ones are reset. */
  readonly streamsMax?: number
}

export interface Host {
  readonly peerId: PeerIdString
  /** Addresses with `/p2p/<peer>` at which it can be dialled now. */
  addresses(): string[]
  handle(protocol: string, options: StreamOptions, handler: (stream: FrameStream) => Promise<void>): Promise<void>
  /** Connects to the first of these addresses that answers as `peer`; a no-op when connected. Throws HostError `unreachable` or `wrong_peer`. */
  connect(peer: PeerIdString, addresses: readonly string[], signal?: AbortSignal): Promise<void>
  isConnected(peer: PeerIdString): boolean
  /** A new stream over the existing connection. Throws HostError `not_connected` or `protocol_unsupported`. */
  open(peer: PeerIdString, protocol: string, options: StreamOptions, signal?: AbortSignal): Promise<FrameStream>
  disconnect(peer: PeerIdString): Promise<void>
  /** Puts a signed project record in the DHT / finds one. See protocol/record. Both throw HostError `dht_unavailable` when no DHT was configured. */
  publishRecord(record: Uint8Array, signal?: AbortSignal): Promise<void>
  findRecord(project: PeerIdString, signal?: AbortSignal): Promise<Uint8Array | undefined>
  stop(): Promise<void>
}

export type HostErrorCode = 'unreachable' | 'wrong_peer' | 'not_connected' | 'protocol_unsupported' | 'dht_unavailable' | 'address_in_use' | 'bad_address'

export class HostError extends Error {
  override readonly name = 'HostError'
  readonly code: HostErrorCode
  constructor(code: HostErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

export type StreamErrorCode = 'reset' | 'frame_too_large' | 'malformed' | 'closed'

export class StreamError extends Error {
  override readonly name = 'StreamError'
  readonly code: StreamErrorCode
  constructor(code: StreamErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
