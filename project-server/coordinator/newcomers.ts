/**
 * Nodes that nothing is known of are let in slowly: each runs two replicas at once, twice as many with every result in a row
 * that was accepted (BOINC's quota of results), and all that call from one network, or are one owner's, no more than a few
 * together. So a thousand new identities from one place weigh as one. Free of it are nodes that are well known, those of the
 * project's administrator, and those whose network is not known: the machine itself, and a local network. A relay tells from
 * where it is called; all who come through one that does not are one place, the relay's.
 *
 * Kept by slots, which a node files as free or holds, so that a decision looks at nobody whose place is full. Who has them
 * keeps them until it is known, or gone, or until others of its place wait and nothing came that it could run (`rotate`).
 * Whatever gives slots back is followed by `drain` before anything is placed, so that nobody who could go on is left waiting.
 */
import type { PeerIdString } from '#protocol/ids'
import type { Node } from './model.ts'
import { NEWCOMER_PLACES_ROTATED_MAX, NEWCOMER_SLOTS } from './policy.ts'

/** What the new nodes of one network, or of one owner, have together. */
interface Place {
  readonly key: string
  /** That they hold or have filed as free. */
  slots: number
  members: number
  /** Nodes that could run more if there were room for them here, the longest waiting first; null until there is one. */
  waiting: Set<Node> | null
  /** Nodes with slots filed as free: no more than there are slots. */
  readonly idle: Node[]
}

/** A new node's part. */
export interface Newcomer {
  readonly network: string
  readonly owner: PeerIdString | null
  readonly places: readonly Place[]
  slots: number
  /** Where it waits for room; null when it has all that it may use. */
  waitsAt: Place | null
  /** It had slots and nothing to run on them, and is behind all others that wait. */
  rests: boolean
}

type Refile = (node: Node) => void

export class Newcomers {
  readonly #limits: { readonly trustedAfter: number; readonly newcomersMax: number }
  readonly #places = new Map<string, Place>()
  /** Somebody waits there. */
  readonly #contended = new Set<Place>()
  /** They had slots given back, and somebody waits there. */
  readonly #freed = new Set<Place>()
  /** Nodes of which more, or less, is known than when they were filed. */
  readonly #regraded = new Set<Node>()

  constructor(limits: { readonly trustedAfter: number; readonly newcomersMax: number }) {
    this.#limits = limits
  }

  /** Of the slots that the node has free (`room`), so many it may use. */
  allow(node: Node, room: number): number {
    const isNew = this.#isNew(node)
    if (node.newcomer !== null && !(isNew && isSame(node.newcomer, node))) this.#leave(node)
    if (!isNew) return room
    node.newcomer ??= this.#join(node)
    const { newcomer } = node
    const held = node.held.length
    const own = Math.max(0, Math.min(room, limitOf(node) - held))
    let allowed = own
    let tightest: Place | null = null
    for (const place of newcomer.places) {
      const left = Math.max(0, this.#limits.newcomersMax - (place.slots - newcomer.slots) - held)
      if (left >= allowed && !(newcomer.rests && tightest === null)) continue
      allowed = Math.min(allowed, left)
      tightest = place
    }
    if (own === 0) newcomer.rests = false
    if (newcomer.rests) allowed = 0
    this.#wait(node, newcomer, allowed < own ? tightest : null)
    this.#take(node, newcomer, held, allowed)
    return allowed
  }

  /** Its row of accepted results grew, or ended. */
  regrade(node: Node): void {
    if (node.newcomer !== null || this.#isNew(node)) this.#regraded.add(node)
  }

  get pending(): boolean {
    return this.#regraded.size + this.#freed.size > 0
  }

  /** Files anew whoever may use more now, or less. To be called before anything is placed. */
  drain(refile: Refile): void {
    for (const node of this.#regraded) {
      this.#regraded.delete(node)
      refile(node)
    }
    for (const place of this.#freed) {
      this.#freed.delete(place)
      for (const node of place.waiting ?? []) {
        if (place.slots >= this.#limits.newcomersMax) break
        if (node.newcomer !== null) node.newcomer.rests = false
        refile(node)
      }
    }
  }

  /** For the slow sweep, while tasks wait: slots that nothing came for go to others of their place. Few places at a time, each in its turn. */
  rotate(refile: Refile): void {
    let left = NEWCOMER_PLACES_ROTATED_MAX
    for (const place of [...this.#contended]) {
      if (left-- === 0) return
      this.#contended.delete(place)
      this.#contended.add(place)
      for (const node of [...place.idle]) {
        if (node.newcomer === null) continue
        this.#wait(node, node.newcomer, null)
        node.newcomer.rests = true
        refile(node)
      }
    }
  }

  #isNew({ accepted, mayBeNew, present, held }: Node): boolean {
    const { trustedAfter, newcomersMax } = this.#limits
    if (!mayBeNew || accepted >= trustedAfter || !Number.isFinite(newcomersMax)) return false
    // One that is away keeps what it holds.
    return present || held.length > 0
  }

  #join({ offer: { network, owner } }: Node): Newcomer {
    const places = [this.#place(`network ${network}`), ...(owner === null ? [] : [this.#place(`owner ${owner}`)])]
    for (const place of places) place.members++
    return { network, owner, places, slots: 0, waitsAt: null, rests: false }
  }

  #place(key: string): Place {
    const known = this.#places.get(key)
    if (known !== undefined) return known
    const place: Place = { key, slots: 0, members: 0, waiting: null, idle: [] }
    this.#places.set(key, place)
    return place
  }

  #leave(node: Node): void {
    const { newcomer } = node
    if (newcomer === null) return
    this.#wait(node, newcomer, null)
    this.#take(node, newcomer, 0, 0)
    node.newcomer = null
    for (const place of newcomer.places) {
      if (--place.members > 0) continue
      this.#places.delete(place.key)
      this.#freed.delete(place)
    }
  }

  /** From now on so many slots are its: held ones, and filed as free. */
  #take(node: Node, newcomer: Newcomer, held: number, free: number): void {
    const more = held + free - newcomer.slots
    newcomer.slots += more
    for (const place of newcomer.places) {
      place.slots += more
      const at = place.idle.indexOf(node)
      if (free > 0 && at === -1) place.idle.push(node)
      else if (free === 0 && at !== -1) place.idle.splice(at, 1)
      if (more < 0 && place.waiting !== null && place.waiting.size > 0) this.#freed.add(place)
    }
  }

  #wait(node: Node, newcomer: Newcomer, at: Place | null): void {
    const before = newcomer.waitsAt
    if (before === at) return
    newcomer.waitsAt = at
    before?.waiting?.delete(node)
    if (before?.waiting?.size === 0) this.#contended.delete(before)
    if (at === null) return
    at.waiting ??= new Set()
    at.waiting.add(node)
    this.#contended.add(at)
  }
}

/** So many replicas at once. */
function limitOf({ accepted }: Node): number {
  return NEWCOMER_SLOTS * 2 ** accepted
}

/** It is filed where it belongs. */
function isSame({ network, owner }: Newcomer, { offer }: Node): boolean {
  return network === offer.network && owner === offer.owner
}
