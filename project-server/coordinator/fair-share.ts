/**
 * Whose turn it is when several clients wait for nodes. A client holds as many slots as its share of all that are held, at
 * every moment: the next slot goes to the one with the fewest slots for its share (weighted max-min, as the fair schedulers
 * of Hadoop and Spark have it). Slots are whole and shares are not, so what a client got beyond its share or short of it, in
 * slot-milliseconds, decides about the last fraction of a slot: start-time fair queueing (Goyal, Vin and Cheng, 1996) over a
 * virtual clock that goes forward by what one share got. A client that comes back begins at the clock's present: it is not
 * owed for the time it was away. What it got too much is forgotten by half each HALF_LIFE_MS.
 *
 * What it costs is a search among the clients that wait, never a look at all of them.
 */
import { FAIR_HALF_LIFE_MS, FAIR_SPAN_MS } from './policy.ts'

/** A client as the share sees it. Only FairShare changes these. */
export interface Claim {
  /** Greater than 0; 1 unless the project says otherwise. */
  share: number
  /** Slots held now: replicas leased to nodes. */
  slots: number
  /** Tasks that wait for a node. */
  waiting: number
  /** Its own virtual time, of the moment `atMs`: what it got for each share, in milliseconds. */
  virtualMs: number
  atMs: number
  /** By which it stands in line; of equal ones, the one that came to stand there first. `turn` is 0 while nothing of it waits. */
  key: number
  turn: number
}

export function newClaim(share: number): Claim {
  return { share, slots: 0, waiting: 0, virtualMs: 0, atMs: 0, key: 0, turn: 0 }
}

export class FairShare<Item extends Claim> {
  /** Those with waiting tasks, whose turn it is first. */
  readonly #line: Item[] = []
  #nowMs = 0
  #virtualMs = 0
  /** Of the clients that hold slots or wait. */
  #slots = 0
  #shares = 0
  #turns = 0

  /** Time only goes forward. To be called before anything changes at that time. */
  forward(nowMs: number): void {
    if (nowMs <= this.#nowMs) return
    if (this.#shares > 0) this.#virtualMs += (this.#slots * (nowMs - this.#nowMs)) / this.#shares
    this.#nowMs = nowMs
  }

  /** Those with waiting tasks, whose turn it is first. Must not change meanwhile. */
  get line(): readonly Item[] {
    return this.#line
  }

  /** It has so many slots more, or fewer. */
  hold(item: Item, by: number): void {
    this.#change(item, () => {
      item.slots += by
      this.#slots += by
    })
  }

  /** So many tasks more of it wait, or fewer. */
  wait(item: Item, by: number): void {
    // Most tasks that come find others waiting, and change nothing of the order.
    if (item.waiting > 0 && item.waiting + by > 0) {
      item.waiting += by
      return
    }
    this.#change(item, () => {
      // It waits anew: what it did not ask for meanwhile is not owed.
      if (item.waiting === 0) item.virtualMs = Math.max(item.virtualMs, this.#virtualMs)
      item.waiting += by
    })
  }

  share(item: Item, share: number): void {
    this.#change(item, () => {
      const lagMs = this.lagMs(item)
      if (isPresent(item)) this.#shares += share - item.share
      item.share = share
      item.virtualMs = this.#virtualMs + lagMs / share
    })
  }

  /** What it got beyond its share (below 0: short of it) lately, in slot-milliseconds, as of its last change. */
  lagMs(item: Item): number {
    return (item.virtualMs - this.#virtualMs) * item.share
  }

  /** As it was before a restart. */
  restoreLag(item: Item, lagMs: number): void {
    this.#change(item, () => {
      item.virtualMs = this.#virtualMs + lagMs / item.share
    })
  }

  /** For the slow sweep: what each got meanwhile counts, also of those that nothing happened to. */
  refresh(): void {
    for (const item of [...this.#line]) this.#change(item, () => undefined)
  }

  /** Below 0 when it is the first one's turn before the second's. Both wait. */
  compare(a: Item, b: Item): number {
    return a.key - b.key || a.turn - b.turn
  }

  #change(item: Item, change: () => void): void {
    if (item.turn > 0) this.#leave(item)
    this.#settle(item)
    const was = isPresent(item)
    change()
    const is = isPresent(item)
    if (was !== is) this.#shares += is ? item.share : -item.share
    if (item.waiting > 0) this.#enter(item)
  }

  /** Its virtual time goes on to the present. */
  #settle(item: Item): void {
    const ms = this.#nowMs - item.atMs
    item.atMs = this.#nowMs
    if (ms <= 0) return
    const lagMs = item.virtualMs + (item.slots * ms) / item.share - this.#virtualMs
    item.virtualMs = this.#virtualMs + lagMs * 2 ** (-ms / FAIR_HALF_LIFE_MS)
  }

  #enter(item: Item): void {
    const lagMs = this.lagMs(item)
    // Between 0 and 1, never quite: what it is owed is worth less than one slot.
    const fraction = 0.5 + (0.5 * lagMs) / (Math.abs(lagMs) + FAIR_SPAN_MS)
    item.key = (item.slots + fraction) / item.share
    item.turn = ++this.#turns
    const at = this.#find(item)
    if (at === this.#line.length) this.#line.push(item)
    else this.#line.splice(at, 0, item)
  }

  #leave(item: Item): void {
    const at = this.#find(item)
    if (at === this.#line.length - 1) this.#line.pop()
    else this.#line.splice(at, 1)
    item.turn = 0
  }

  /** Where it stands, or is to. */
  #find(item: Item): number {
    let low = 0
    let high = this.#line.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (this.compare(this.#line[middle] as Item, item) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
}

function isPresent({ slots, waiting }: Claim): boolean {
  return slots > 0 || waiting > 0
}
