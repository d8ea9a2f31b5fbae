/**
 * Keeps a host reachable through relays: reservations at a few of those it knows. When one is lost the next is taken at
 * once; one that came back is tried again. libp2p's transport renews a reservation, but makes none anew (js-libp2p 3601).
 */
import type { Libp2p } from '@libp2p/interface'
import type { Ping } from '@libp2p/ping'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import type { PeerIdString } from '../../ids.ts'
import { peerIn } from '../addresses.ts'
import { HostError } from '../host.ts'
import type { HostLogger } from './host.ts'

/** Reservations held at once. */
export const RELAYS_HELD = 3
/** Between looks when nothing happens; what happens is looked at at once. */
const LOOK_MS = 5_000
/** After a relay failed, doubled up to the second value. */
const RETRY_MS = 1_000
const RETRY_MS_MAX = 30_000
const RESERVE_MS_MAX = 8_000
/** A relay whose machine has vanished says nothing: it is asked this often, and has so long to answer. */
const ASK_MS = 20_000
const ANSWER_MS_MAX = 5_000

export interface RelayState {
  readonly peer: PeerIdString
  readonly address: string
  readonly held: boolean
  /** Why the last attempt failed; empty when it did not. */
  readonly trouble: string
}

export interface Reservations {
  states(): readonly RelayState[]
}

/** What a host's own services give. */
export interface Transports {
  listen(addresses: Multiaddr[]): Promise<void>
}

interface Known {
  readonly peer: PeerIdString
  readonly address: Multiaddr
  trying: boolean
  failures: number
  notBeforeMs: number
  askedAtMs: number
  trouble: string
}

export interface ReservationParts {
  readonly transports: Transports
  readonly stopped: AbortSignal
  readonly logger: HostLogger | undefined
}

export function keepReservations(libp2p: Libp2p<{ ping: Ping }>, relays: readonly string[], parts: ReservationParts): Reservations {
  const known = shuffled(relays.map(parseRelay)).filter(({ peer }) => peer !== libp2p.peerId.toString())
  const { transports, stopped, logger } = parts
  let timer: NodeJS.Timeout | undefined
  const connected = ({ peer }: Known) => libp2p.getConnections().find(({ remotePeer, status }) => status === 'open' && remotePeer.toString() === peer)
  const isHeld = (relay: Known): boolean =>
    connected(relay) !== undefined && libp2p.getMultiaddrs().some((address) => address.toString().includes(`/p2p/${relay.peer}/p2p-circuit`))

  const take = async (relay: Known): Promise<void> => {
    relay.trying = true
    const signal = AbortSignal.any([stopped, AbortSignal.timeout(RESERVE_MS_MAX)])
    try {
      await libp2p.dial(relay.address, { signal })
      await transports.listen([relay.address.encapsulate('/p2p-circuit')])
      relay.failures = 0
      relay.trouble = ''
      relay.askedAtMs = Date.now()
      logger?.debug({ relay: relay.peer }, 'reachable through a relay')
    } catch (error) {
      relay.trouble = error instanceof Error ? (error.message.split('\n', 1)[0] ?? '') : String(error)
      relay.notBeforeMs = Date.now() + Math.min(RETRY_MS_MAX, RETRY_MS * 2 ** Math.min(relay.failures, 10)) * (0.5 + Math.random() / 2)
      relay.failures += 1
      logger?.debug({ relay: relay.peer, why: relay.trouble }, 'a relay gives no reservation')
    } finally {
      relay.trying = false
      soon(0)
    }
  }
  const ask = async (relay: Known): Promise<void> => {
    relay.askedAtMs = Date.now()
    const connection = connected(relay)
    if (connection === undefined) return
    try {
      await libp2p.services.ping.ping(connection.remotePeer, { signal: AbortSignal.any([stopped, AbortSignal.timeout(ANSWER_MS_MAX)]) })
    } catch {
      if (!stopped.aborted) connection.abort(new Error('the relay does not answer'))
    }
  }
  const look = (): void => {
    if (stopped.aborted) return
    const now = Date.now()
    const held = known.filter(isHeld)
    for (const relay of held) if (now - relay.askedAtMs >= ASK_MS) void ask(relay)
    const free = known.filter((relay) => !relay.trying && !held.includes(relay))
    const wanted = RELAYS_HELD - held.length - known.filter(({ trying }) => trying).length
    const ready = free.filter(({ notBeforeMs }) => notBeforeMs <= now).slice(0, Math.max(0, wanted))
    for (const relay of ready) void take(relay)
    const waiting = wanted > ready.length ? free.map(({ notBeforeMs }) => notBeforeMs - now).filter((ms) => ms > 0) : []
    soon(Math.min(LOOK_MS, ...waiting))
  }
  const soon = (ms: number): void => {
    clearTimeout(timer)
    if (!stopped.aborted) timer = setTimeout(look, ms)
  }
  // Once the library has taken back its own addresses.
  const left = (): void => soon(0)
  libp2p.addEventListener('peer:disconnect', left)
  stopped.addEventListener('abort', () => clearTimeout(timer), { once: true })
  soon(0)
  return { states: () => known.map((relay) => ({ peer: relay.peer, address: relay.address.toString(), held: isHeld(relay), trouble: relay.trouble })) }
}

function parseRelay(text: string): Known {
  const peer = peerIn(text)
  try {
    if (peer !== undefined) return { peer, address: multiaddr(text), trying: false, failures: 0, notBeforeMs: 0, askedAtMs: 0, trouble: '' }
  } catch (cause) {
    throw new HostError('bad_address', `the relay's address ${JSON.stringify(text)} is not a multiaddr`, { cause })
  }
  throw new HostError('bad_address', `the relay's address ${text} must end with /p2p/ and the relay's id`)
}

/** Not all take the first three. */
function shuffled<T>(list: readonly T[]): T[] {
  return list
    .map((item) => ({ item, draw: Math.random() }))
    .sort((one, other) => one.draw - other.draw)
    .map(({ item }) => item)
}
