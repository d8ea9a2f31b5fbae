/**
 * The relay's book: who can be called through it, which connections it carries, and what it has given to whom. Pure: time
 * comes with every call. A reservation ends with its time or with its peer's connection; a connection that is carried ends
 * with either side, with its limits, or when one of its peers or the relay itself has carried enough for this hour.
 */
import type { PeerIdString } from '../ids.ts'
import type { RelayLimits } from './limits.ts'

export type RelayRefusal =
  /** All reservations, or those of one network, are given away. */
  | 'reservations_full'
  | 'network_full'
  /** The peer that is called has no reservation. */
  | 'no_reservation'
  /** So many connections are carried already, in all, for one of the two, or called for by who calls. */
  | 'circuits_full'
  | 'peer_circuits_full'
  /** So many bytes were carried in this hour, for one of the two or in all. */
  | 'peer_bytes'
  | 'bytes'

/** Why a connection that was carried is not carried on. */
export type CircuitEnd = 'circuit_bytes' | 'circuit_time' | 'peer_bytes' | 'bytes'

export interface Circuit {
  readonly from: PeerIdString
  readonly to: PeerIdString
  readonly untilMs: number
  bytes: number
}

export interface RelayCounts {
  readonly reservations: number
  readonly circuits: number
  /** Since the relay started. */
  readonly reserved: number
  readonly opened: number
  readonly bytes: number
  readonly refused: Readonly<Partial<Record<RelayRefusal, number>>>
  readonly ended: Readonly<Partial<Record<CircuitEnd, number>>>
  /** Bytes that may still be carried in this hour. */
  readonly bytesLeft: number
  /** Those for whom most was carried, the most first. */
  readonly peers: readonly { readonly peer: PeerIdString; readonly circuits: number; readonly bytes: number }[]
}

/** Peers shown by `counts`. */
const SHOWN_MAX = 20
/** Peers remembered although nothing of theirs is open, until what they used has come back. */
const REMEMBERED_MAX = 20_000
const HOUR_MS = 3_600_000

/** What may be used in an hour; it comes back evenly. */
interface Allowance {
  left: number
  atMs: number
}

interface PeerAccount extends Allowance {
  circuits: number
  /** Of them, those that it called for. */
  calls: number
  bytes: number
}

export class RelayAccounts {
  readonly #limits: RelayLimits
  readonly #reservations = new Map<PeerIdString, { readonly network: string; readonly expiresAtMs: number }>()
  readonly #networks = new Map<string, number>()
  readonly #circuits = new Set<Circuit>()
  readonly #peers = new Map<PeerIdString, PeerAccount>()
  readonly #all: Allowance
  readonly #refused = new Map<RelayRefusal, number>()
  readonly #ended = new Map<CircuitEnd, number>()
  #reserved = 0
  #opened = 0
  #bytes = 0

  constructor(limits: RelayLimits, nowMs: number) {
    this.#limits = limits
    this.#all = { left: limits.bytesPerHour, atMs: nowMs }
  }

  /** A new reservation, or the renewed one of a peer that has one. */
  reserve(peer: PeerIdString, network: string, nowMs: number): { readonly expiresAtMs: number } | RelayRefusal {
    const { reservationsMax, reservationsPerNetworkMax, reservationMs } = this.#limits
    this.#expire(nowMs)
    const known = this.#reservations.get(peer)
    if (known === undefined && this.#reservations.size >= reservationsMax) return this.#refuse('reservations_full')
    if (known?.network !== network && (this.#networks.get(network) ?? 0) >= reservationsPerNetworkMax) return this.#refuse('network_full')
    this.release(peer)
    const expiresAtMs = nowMs + reservationMs
    this.#reservations.set(peer, { network, expiresAtMs })
    this.#networks.set(network, (this.#networks.get(network) ?? 0) + 1)
    this.#reserved += 1
    return { expiresAtMs }
  }

  /** The peer has gone. */
  release(peer: PeerIdString): void {
    const known = this.#reservations.get(peer)
    if (known === undefined) return
    this.#reservations.delete(peer)
    const others = (this.#networks.get(known.network) ?? 1) - 1
    if (others === 0) this.#networks.delete(known.network)
    else this.#networks.set(known.network, others)
  }

  /** A connection to carry from one peer to another. */
  open(from: PeerIdString, to: PeerIdString, nowMs: number): Circuit | RelayRefusal {
    const { circuitsMax, circuitsPerPeerMax, callsPerPeerMax, circuitMsMax, bytesPerHour, peerBytesPerHour } = this.#limits
    const reservation = this.#reservations.get(to)
    if (reservation === undefined || reservation.expiresAtMs <= nowMs) return this.#refuse('no_reservation')
    if (this.#circuits.size >= circuitsMax) return this.#refuse('circuits_full')
    if (leftOf(this.#all, bytesPerHour, nowMs) <= 0) return this.#refuse('bytes')
    const caller = this.#account(from, nowMs)
    const ends = [caller, this.#account(to, nowMs)]
    if (caller.calls >= callsPerPeerMax) return this.#refuse('peer_circuits_full')
    if (ends.some(({ circuits }) => circuits >= circuitsPerPeerMax)) return this.#refuse('peer_circuits_full')
    if (ends.some((account) => leftOf(account, peerBytesPerHour, nowMs) <= 0)) return this.#refuse('peer_bytes')
    const circuit = { from, to, untilMs: nowMs + circuitMsMax, bytes: 0 }
    this.#circuits.add(circuit)
    for (const account of ends) account.circuits += 1
    caller.calls += 1
    this.#opened += 1
    return circuit
  }

  /** Notes bytes that were carried; why no more may be, when that is so. */
  charge(circuit: Circuit, bytes: number, nowMs: number): CircuitEnd | undefined {
    const { circuitBytesMax, peerBytesPerHour, bytesPerHour } = this.#limits
    circuit.bytes += bytes
    this.#bytes += bytes
    const left = [circuit.from, circuit.to].map((peer) => {
      const account = this.#account(peer, nowMs)
      account.bytes += bytes
      return take(account, bytes, peerBytesPerHour, nowMs)
    })
    if (take(this.#all, bytes, bytesPerHour, nowMs) < 0) return this.#end('bytes')
    if (left.some((rest) => rest < 0)) return this.#end('peer_bytes')
    if (circuit.bytes > circuitBytesMax) return this.#end('circuit_bytes')
    return circuit.untilMs <= nowMs ? this.#end('circuit_time') : undefined
  }

  /** Its time is over. */
  expired(): CircuitEnd {
    return this.#end('circuit_time')
  }

  /** The connection is carried no more. Again for one that is closed does nothing. */
  close(circuit: Circuit, nowMs: number): void {
    if (!this.#circuits.delete(circuit)) return
    for (const peer of [circuit.from, circuit.to]) this.#account(peer, nowMs).circuits -= 1
    this.#account(circuit.from, nowMs).calls -= 1
  }

  counts(nowMs: number): RelayCounts {
    this.#expire(nowMs)
    const peers = [...this.#peers].map(([peer, { circuits, bytes }]) => ({ peer, circuits, bytes }))
    return {
      reservations: this.#reservations.size,
      circuits: this.#circuits.size,
      reserved: this.#reserved,
      opened: this.#opened,
      bytes: this.#bytes,
      refused: Object.fromEntries(this.#refused),
      ended: Object.fromEntries(this.#ended),
      bytesLeft: Math.max(0, Math.floor(leftOf(this.#all, this.#limits.bytesPerHour, nowMs))),
      peers: peers.sort((one, other) => other.bytes - one.bytes).slice(0, SHOWN_MAX)
    }
  }

  #account(peer: PeerIdString, nowMs: number): PeerAccount {
    const known = this.#peers.get(peer)
    if (known !== undefined) return known
    if (this.#peers.size >= REMEMBERED_MAX + 2 * this.#circuits.size) this.#forget(nowMs)
    const account = { circuits: 0, calls: 0, bytes: 0, left: this.#limits.peerBytesPerHour, atMs: nowMs }
    this.#peers.set(peer, account)
    return account
  }

  /** Who is as if it had never been heard of goes first; if there are none, who was heard of first. */
  #forget(nowMs: number): void {
    const { peerBytesPerHour } = this.#limits
    const before = this.#peers.size
    for (const [peer, account] of this.#peers)
      if (account.circuits === 0 && leftOf(account, peerBytesPerHour, nowMs) >= peerBytesPerHour) this.#peers.delete(peer)
    if (this.#peers.size < before) return
    for (const [peer, { circuits }] of this.#peers) {
      if (circuits > 0) continue
      this.#peers.delete(peer)
      return
    }
  }

  #expire(nowMs: number): void {
    // In the order in which they were made or renewed, so the first that lasts ends the search.
    for (const [peer, { expiresAtMs }] of this.#reservations) {
      if (expiresAtMs > nowMs) return
      this.release(peer)
    }
  }

  #refuse(why: RelayRefusal): RelayRefusal {
    this.#refused.set(why, (this.#refused.get(why) ?? 0) + 1)
    return why
  }

  #end(why: CircuitEnd): CircuitEnd {
    this.#ended.set(why, (this.#ended.get(why) ?? 0) + 1)
    return why
  }
}

function leftOf({ left, atMs }: Allowance, perHour: number, nowMs: number): number {
  return Math.min(perHour, left + (Math.max(0, nowMs - atMs) * perHour) / HOUR_MS)
}

function take(allowance: Allowance, bytes: number, perHour: number, nowMs: number): number {
  allowance.left = leftOf(allowance, perHour, nowMs) - bytes
  allowance.atMs = Math.max(allowance.atMs, nowMs)
  return allowance.left
}
