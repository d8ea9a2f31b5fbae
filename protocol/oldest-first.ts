/**
 * A map that gives up what was put into it first. A Map has its entries in that order too, but whoever asks it for the first one
 * steps over each that was deleted before it since the table was last laid out anew: of 65,536 that come and go 14 us a time.
 */
import { NONE } from './lists.ts'

export class OldestFirst<Key, Value> extends Map<Key, Value> {
  /** All before it are gone. */
  #walk: MapIterator<[Key, Value]> | undefined
  /** Deleted since it last went on. */
  #gone = 0

  /** As the newest, whether it is there or not. */
  renew(key: Key, value: Value): void {
    this.delete(key)
    this.set(key, value)
  }

  /** Deletes it; undefined when there is none. */
  takeOldest(): readonly [Key, Value] | undefined {
    this.#walk ??= this.entries()
    let { value } = this.#walk.next()
    if (value === undefined) {
      // A walk that came to its end does not go on.
      this.#walk = this.entries()
      value = this.#walk.next().value
    }
    if (value !== undefined) this.delete(value[0])
    this.#gone = 0
    return value
  }

  /** Takes the oldest until so many are left, and says which. */
  keep(max: number): readonly Key[] {
    if (this.size <= max) return NONE
    const taken: Key[] = []
    for (let oldest = this.takeOldest(); oldest !== undefined; oldest = this.size > max ? this.takeOldest() : undefined) taken.push(oldest[0])
    return taken
  }

  override delete(key: Key): boolean {
    const was = super.delete(key)
    // A walk keeps every table that it has not been through: one that is not taken from for long begins anew.
    if (was && ++this.#gone > this.size) this.#walk = undefined
    return was
  }
}
