/**
 * Where this node leaves its finished results while the project is away: with two others of the project, of different networks
 * where there are such, the same ones again after a restart. Decides whom to ask and when; what comes of it is told.
 */
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import { NONE } from '#protocol/lists'
import type { ParkingCode } from '#protocol/parking/messages'
import { PARK_AGAIN_MS, PARK_COPIES, PARK_MISSED_MS, PARKING_AT_ONCE } from './policy.ts'

/** A node that may be asked; `network` is '' when that is not known. */
export interface Neighbour {
  readonly peer: PeerIdString
  readonly network: string
}

/** What came of an offer; `missed`: there was no answer. */
export type Parked = ParkingCode | 'missed'

export interface Order {
  readonly replica: ReplicaId
  readonly peer: PeerIdString
}

interface Left {
  /** Who has it. */
  readonly with: Set<PeerIdString>
  /** Who is not asked for it before that. */
  readonly notBefore: Map<PeerIdString, number>
}

export class Parking {
  #neighbours: readonly Neighbour[] = NONE
  #left: Map<ReplicaId, Left> | undefined
  /** One offer to each at a time. */
  #asked: Map<PeerIdString, ReplicaId> | undefined
  #parked = 0
  readonly #afterMs: number

  /** `afterMs`: so long the project may be away before anything is left with others. */
  constructor(afterMs: number) {
    this.#afterMs = afterMs
  }

  /** Results that were left with somebody since the start, each with whom it was left. */
  get parked(): number {
    return this.#parked
  }

  meet(neighbours: readonly Neighbour[]): void {
    this.#neighbours = neighbours
  }

  /** The project has what the node had to say of it. */
  forget(replica: ReplicaId): void {
    this.#left?.delete(replica)
  }

  answered({ replica, peer }: Order, code: Parked, nowMs: number): void {
    if (this.#asked?.get(peer) === replica) this.#asked.delete(peer)
    const left = this.#leftOf(replica)
    if (code === 'kept') {
      if (!left.with.has(peer)) this.#parked++
      left.with.add(peer)
    } else left.notBefore.set(peer, code === 'refused' ? Number.POSITIVE_INFINITY : nowMs + (code === 'missed' ? PARK_MISSED_MS : PARK_AGAIN_MS))
  }

  /** The project is away for so long, or (`leaving`) there is no time to wait for it. */
  isDue(leaving: boolean, awayMs: number): boolean {
    return this.#neighbours.length > 0 && (leaving || awayMs >= this.#afterMs)
  }

  /** Whom to ask for what now. `results`: those that the project may not have, the oldest first. */
  orders(results: Iterable<ReplicaId>, nowMs: number): Order[] {
    const orders: Order[] = []
    this.#asked ??= new Map()
    for (const replica of results) {
      for (let lacks = this.#lacks(replica); lacks > 0 && this.#asked.size < PARKING_AT_ONCE; lacks--) {
        const peer = this.#nextFor(replica, nowMs)
        if (peer === undefined) break
        this.#asked.set(peer, replica)
        orders.push({ replica, peer })
      }
      if (this.#asked.size >= PARKING_AT_ONCE) break
    }
    return orders
  }

  /** `all`: each of these is with as many others as it should be. `some`: somebody is asked, or can be. `none`: nobody is left to ask. */
  progress(results: Iterable<ReplicaId>, nowMs: number): 'all' | 'some' | 'none' {
    let lacking = false
    let open = (this.#asked?.size ?? 0) > 0
    for (const replica of results) {
      if (this.#copies(replica) >= PARK_COPIES) continue
      lacking = true
      open ||= this.#nextFor(replica, nowMs) !== undefined
    }
    return lacking ? (open ? 'some' : 'none') : 'all'
  }

  #copies(replica: ReplicaId): number {
    return this.#left?.get(replica)?.with.size ?? 0
  }

  #lacks(replica: ReplicaId): number {
    let asked = 0
    for (const other of this.#asked?.values() ?? []) if (other === replica) asked++
    return PARK_COPIES - this.#copies(replica) - asked
  }

  /** One of a network that has no copy yet before others; of equals the first. */
  #nextFor(replica: ReplicaId, nowMs: number): PeerIdString | undefined {
    const left = this.#left?.get(replica)
    const has = (peer: PeerIdString): boolean => left?.with.has(peer) === true || this.#asked?.get(peer) === replica
    const networks = new Set(this.#neighbours.filter(({ peer, network }) => network !== '' && has(peer)).map(({ network }) => network))
    const free = this.#neighbours.filter(({ peer }) => !has(peer) && this.#asked?.has(peer) !== true && nowMs >= (left?.notBefore.get(peer) ?? 0))
    return (free.find(({ network }) => !networks.has(network)) ?? free[0])?.peer
  }

  #leftOf(replica: ReplicaId): Left {
    this.#left ??= new Map()
    const known = this.#left.get(replica)
    if (known !== undefined) return known
    const left: Left = { with: new Set(), notBefore: new Map() }
    this.#left.set(replica, left)
    return left
  }
}
