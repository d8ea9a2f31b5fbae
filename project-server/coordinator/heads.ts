/**
 * Who is first in each group's two queues, as numbers that lie side by side: what a decision compares of the groups that a
 * node could take. Groups, queues and tasks lie all over the memory, and with many of them each would be fetched from there.
 */
import type { Client } from './clients.ts'
import type { Group } from './model.ts'

const PLACES_AT_FIRST = 64
/** Numbers of a place: the order of the first of `fresh` and of `partial`, Infinity without one; and the group's priority. One is left free, so that no row is on two lines of the cache. */
const ROW = 4
const PRIORITY = 2

export class Heads {
  #rows = rowsFor(PLACES_AT_FIRST)
  #used = 0
  readonly #free: number[] = []

  /** A place for a group of this priority. */
  begin(priority: number): number {
    const place = this.#free.pop() ?? this.#used++
    if (ROW * place === this.#rows.length) this.#grow()
    this.#rows[ROW * place + PRIORITY] = priority
    return place
  }

  /** Nobody waits in the group any more. */
  end(place: number): void {
    this.#free.push(place)
  }

  /** `queue`: twice the place, and one more for `partial`. */
  set(queue: number, order: number): void {
    this.#rows[ROW * (queue >>> 1) + (queue & 1)] = order
  }

  /** Order of the first that waits in the group; Infinity when nobody does. */
  order(place: number): number {
    return Math.min(this.#rows[ROW * place] as number, this.#rows[ROW * place + 1] as number)
  }

  /** Its first comes before a task of this order in a group of this priority, both of one client. */
  isBefore(place: number, order: number, priority: number): boolean {
    const own = this.order(place)
    if (own === Number.POSITIVE_INFINITY) return false
    const ownPriority = this.#rows[ROW * place + PRIORITY] as number
    return ownPriority === priority ? own < order : ownPriority > priority
  }

  /** Where in the list the group with the first task is; -1 when nobody waits in any. */
  firstOf(places: readonly number[]): number {
    let best = -1
    let order = Number.POSITIVE_INFINITY
    let priority = Number.NEGATIVE_INFINITY
    for (let at = 0; at < places.length; at++) {
      const place = places[at] as number
      if (!this.isBefore(place, order, priority)) continue
      best = at
      order = this.order(place)
      priority = this.#rows[ROW * place + PRIORITY] as number
    }
    return best
  }

  #grow(): void {
    const rows = rowsFor((2 * this.#rows.length) / ROW)
    rows.set(this.#rows)
    this.#rows = rows
  }
}

function rowsFor(places: number): Float64Array {
  return new Float64Array(ROW * places).fill(Number.POSITIVE_INFINITY)
}

/** Groups of one client, and beside them their places. */
export class GroupList {
  /** Null for nobody's. */
  readonly client: Client | null
  readonly groups: Group[] = []
  readonly places: number[] = []
  readonly #at = new Map<Group, number>()

  constructor(client: Client | null, ...groups: readonly Group[]) {
    this.client = client
    for (const group of groups) this.add(group)
  }

  get size(): number {
    return this.groups.length
  }

  add(group: Group): void {
    if (this.#at.has(group)) return
    this.#at.set(group, this.groups.length)
    this.groups.push(group)
    this.places.push(group.place)
  }

  /** The last takes its place. */
  delete(group: Group): void {
    const at = this.#at.get(group)
    if (at === undefined) return
    const last = this.groups.pop() as Group
    this.places.pop()
    this.#at.delete(group)
    if (last === group) return
    this.groups[at] = last
    this.places[at] = last.place
    this.#at.set(last, at)
  }
}
