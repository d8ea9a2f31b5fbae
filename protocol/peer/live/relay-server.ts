/**
 * A relay: peers reserve a place at it, others call them through it, and what is said goes through encrypted from end to end.
 * libp2p's own server keeps all that a slow receiver does not take in memory, and counts nothing; this one stops reading from
 * the sender instead, and keeps the book of protocol/relay/accounts.ts.
 */
import type { Connection, Libp2p, PeerId, Stream, StreamMessageEvent } from '@libp2p/interface'
import { peerIdFromMultihash } from '@libp2p/peer-id'
import { type LengthPrefixedStream, lpStream } from '@libp2p/utils'
import * as Digest from 'multiformats/hashes/digest'
import { messageOf } from '../../message-of.ts'
import { type Circuit, RelayAccounts, type RelayCounts, type RelayRefusal } from '../../relay/accounts.ts'
import type { RelayLimits } from '../../relay/limits.ts'
import {
  decodeHop,
  decodeStop,
  HOP_CONNECT,
  HOP_PROTOCOL,
  HOP_RESERVE,
  HOP_STATUS,
  Hop,
  MESSAGE_BYTES_MAX,
  STATUS,
  STOP_CONNECT,
  STOP_PROTOCOL,
  Stop
} from '../../relay/messages.ts'
import { networkOf } from '../addresses.ts'
import type { HostLogger } from './host.ts'

/** From the first byte of a request to the connection being carried. */
const HANDSHAKE_MS_MAX = 10_000
/** Requests of one peer that are not answered yet, beside the connections that are carried for it. */
const REQUESTS_AT_ONCE = 16

const REFUSALS: Readonly<Record<RelayRefusal, number>> = {
  reservations_full: STATUS.reservationRefused,
  network_full: STATUS.reservationRefused,
  no_reservation: STATUS.noReservation,
  circuits_full: STATUS.overLimit,
  peer_circuits_full: STATUS.overLimit,
  peer_bytes: STATUS.overLimit,
  bytes: STATUS.overLimit
}

export interface RelayServer {
  counts(): RelayCounts
}

export async function startRelay(
  libp2p: Libp2p,
  limits: RelayLimits,
  { logger, stopped, onCall }: Pick<RelayParts, 'logger' | 'stopped' | 'onCall'>
): Promise<RelayServer> {
  const accounts = new RelayAccounts(limits, Date.now())
  const relay = new Relay(libp2p, { limits, accounts, logger, stopped, onCall })
  const streams = limits.callsPerPeerMax + REQUESTS_AT_ONCE
  await libp2p.handle(HOP_PROTOCOL, (stream, connection) => relay.serve(stream, connection), { maxInboundStreams: streams, maxOutboundStreams: streams })
  libp2p.addEventListener('peer:disconnect', ({ detail }) => accounts.release(detail.toString()))
  return { counts: () => accounts.counts(Date.now()) }
}

interface RelayParts {
  readonly limits: RelayLimits
  readonly accounts: RelayAccounts
  readonly logger: HostLogger | undefined
  readonly stopped: AbortSignal
  /** Somebody calls somebody; `address` is where the caller is seen. */
  readonly onCall: ((call: { readonly from: string; readonly to: string; readonly address: string }) => void) | undefined
}

type Messages = LengthPrefixedStream<Stream>

class Relay {
  readonly #libp2p: Libp2p
  readonly #parts: RelayParts

  constructor(libp2p: Libp2p, parts: RelayParts) {
    this.#libp2p = libp2p
    this.#parts = parts
  }

  async serve(stream: Stream, connection: Connection): Promise<void> {
    const signal = AbortSignal.any([this.#parts.stopped, AbortSignal.timeout(HANDSHAKE_MS_MAX)])
    const messages = lpStream(stream, { maxDataLength: MESSAGE_BYTES_MAX })
    try {
      const hop = decodeHop((await messages.read({ signal })).subarray())
      if (hop?.type === HOP_RESERVE) await this.#reserve(messages, connection, signal)
      else if (hop?.type === HOP_CONNECT) await this.#connect(messages, connection, hop, signal)
      else await answer(messages, { status: hop === undefined ? STATUS.malformed : STATUS.unexpected }, signal)
    } catch (error) {
      this.#parts.logger?.debug({ peer: connection.remotePeer.toString(), error: messageOf(error) }, 'a request to the relay failed')
      stream.abort(error instanceof Error ? error : new Error(String(error)))
    }
  }

  async #reserve(messages: Messages, connection: Connection, signal: AbortSignal): Promise<void> {
    const { accounts, limits } = this.#parts
    const peer = connection.remotePeer.toString()
    const reserved = accounts.reserve(peer, networkOf(connection.remoteAddr.toString()), Date.now())
    if (typeof reserved === 'string') {
      await answer(messages, { status: REFUSALS[reserved] }, signal)
      return
    }
    const addrs = this.#libp2p.getMultiaddrs().map((address) => new Uint8Array(address.bytes))
    const reservation = { expire: Math.floor(reserved.expiresAtMs / 1000), addrs }
    await answer(messages, { status: STATUS.ok, reservation, limit: limitOf(limits) }, signal)
  }

  async #connect(messages: Messages, connection: Connection, { peer }: Hop, signal: AbortSignal): Promise<void> {
    const { accounts, limits } = this.#parts
    const to = peer === undefined ? undefined : peerOf(peer.id)
    if (to === undefined) {
      await answer(messages, { status: STATUS.malformed }, signal)
      return
    }
    const circuit = accounts.open(connection.remotePeer.toString(), to.toString(), Date.now())
    if (typeof circuit === 'string') {
      await answer(messages, { status: REFUSALS[circuit] }, signal)
      return
    }
    // What is said over the call comes after this.
    this.#parts.onCall?.({ from: circuit.from, to: circuit.to, address: connection.remoteAddr.toString() })
    let carried = false
    try {
      const far = await this.#call(to, connection, signal)
      if (far === undefined) await answer(messages, { status: STATUS.connectionFailed }, signal)
      else {
        await messages.write(encoded({ status: STATUS.ok, limit: limitOf(limits) }), { signal })
        this.#carry(circuit, messages.unwrap(), far)
        carried = true
      }
    } finally {
      if (!carried) accounts.close(circuit, Date.now())
    }
  }

  /** The stream to the peer that is called; undefined when it cannot be reached or does not take the call. */
  async #call(to: PeerId, caller: Connection, signal: AbortSignal): Promise<Stream | undefined> {
    const connection = this.#libp2p.getConnections(to).find(({ status }) => status === 'open')
    if (connection === undefined) return undefined
    let stream: Stream | undefined
    try {
      stream = await connection.newStream(STOP_PROTOCOL, { signal, maxOutboundStreams: this.#parts.limits.circuitsPerPeerMax + REQUESTS_AT_ONCE })
      const messages = lpStream(stream, { maxDataLength: MESSAGE_BYTES_MAX })
      const id = new Uint8Array(caller.remotePeer.toMultihash().bytes)
      await messages.write(Stop.encode({ type: STOP_CONNECT, peer: { id, addrs: [] }, limit: limitOf(this.#parts.limits) }), { signal })
      const said = decodeStop((await messages.read({ signal })).subarray())
      if (said?.status === STATUS.ok) return messages.unwrap()
      stream.abort(new Error('the call was not taken'))
    } catch (error) {
      stream?.abort(error instanceof Error ? error : new Error(String(error)))
    }
    return undefined
  }

  #carry(circuit: Circuit, near: Stream, far: Stream): void {
    const { accounts, limits, logger, stopped } = this.#parts
    const end = (why: string): void => {
      const error = new Error(why)
      near.abort(error)
      far.abort(error)
    }
    const over = (): void => end(accounts.expired())
    const stop = (): void => end('the relay stops')
    const timer = setTimeout(over, limits.circuitMsMax)
    stopped.addEventListener('abort', stop, { once: true })
    let open = 2
    const closed = (): void => {
      if (--open > 0) return
      clearTimeout(timer)
      stopped.removeEventListener('abort', stop)
      accounts.close(circuit, Date.now())
      logger?.debug({ from: circuit.from, to: circuit.to, bytes: circuit.bytes }, 'a relayed connection is over')
    }
    const charge = (bytes: number): boolean => {
      const why = accounts.charge(circuit, bytes, Date.now())
      if (why !== undefined) end(why)
      return why === undefined
    }
    for (const [from, to] of [
      [near, far],
      [far, near]
    ] as const) {
      from.addEventListener('close', ({ error }) => {
        if (error !== undefined) to.abort(error)
        else to.close().catch(() => to.abort(new Error('the other side has gone')))
        closed()
      })
      forward(from, to, charge)
    }
    if (near.status !== 'open' || far.status !== 'open') end('one side has gone')
  }
}

/**
 * Passes on what arrives, and reads no more while the other side does not take it. The pause comes in a microtask: inside a
 * `message` handler it is lost when `resume()` delivered the message (see streams/frame-stream.ts).
 */
function forward(from: Stream, to: Stream, charge: (bytes: number) => boolean): void {
  let holding = false
  from.addEventListener('message', ({ data }: StreamMessageEvent) => {
    if (!charge(data.byteLength)) return
    try {
      to.send(data)
    } catch {
      // Its `close` tells the rest.
      return
    }
    if (holding || !to.writableNeedsDrain) return
    holding = true
    queueMicrotask(() => {
      if (holding && from.readStatus === 'readable') from.pause()
    })
  })
  to.addEventListener('drain', () => {
    if (!holding) return
    holding = false
    if (from.readStatus === 'paused') from.resume()
  })
  from.addEventListener('end', () => {
    to.close().catch(() => undefined)
  })
}

function limitOf({ circuitBytesMax, circuitMsMax }: RelayLimits): { duration: number; data: number } {
  return { duration: Math.max(1, Math.min(0xffffffff, Math.floor(circuitMsMax / 1000))), data: circuitBytesMax }
}

function encoded(hop: Hop): Uint8Array {
  return Hop.encode({ type: HOP_STATUS, ...hop })
}

/** Answers, and ends the stream. */
async function answer(messages: Messages, hop: Hop, signal: AbortSignal): Promise<void> {
  await messages.write(encoded(hop), { signal })
  await messages.unwrap().close({ signal })
}

function peerOf(id: Uint8Array): PeerId | undefined {
  try {
    return peerIdFromMultihash(Digest.decode(id))
  } catch {
    return undefined
  }
}
