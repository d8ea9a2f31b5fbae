/**
 * A calendar for millions of timers: a ring of buckets, one a step of the clock, in typed arrays alone. Setting and clearing
 * cost the same however many there are; one that is more than a turn of the ring away is looked at once a turn. Timers are
 * whole numbers that the caller counts.
 */

const NONE = -1
/** Taken out of the ring and about to be given out. */
const TAKEN = -2

export class Wheel {
  readonly #mask: number
  readonly #heads: Int32Array
  #next: Int32Array
  /** The one before in its bucket, or the bucket itself as -3 - bucket. */
  #before: Int32Array
  #due: Uint32Array
  #taken: Int32Array
  #waiting = 0

  /** A turn of 2^bits steps; `timers` are numbered from 0. */
  constructor(timers: number, bits = 16) {
    this.#mask = 2 ** bits - 1
    this.#heads = new Int32Array(2 ** bits).fill(NONE)
    this.#next = new Int32Array(timers)
    this.#before = new Int32Array(timers).fill(NONE)
    this.#due = new Uint32Array(timers)
    this.#taken = new Int32Array(1024)
  }

  /** Timers that are set. */
  get waiting(): number {
    return this.#waiting
  }

  get bytes(): number {
    return this.#next.byteLength + this.#before.byteLength + this.#due.byteLength
  }

  /** Makes room for timers up to this number. */
  grow(timers: number): void {
    if (timers <= this.#next.length) return
    const had = this.#next.length
    this.#next = widened(this.#next, timers)
    this.#before = widened(this.#before, timers).fill(NONE, had)
    const due = new Uint32Array(timers)
    due.set(this.#due)
    this.#due = due
  }

  /** When the timer is due; undefined when it is not set. */
  dueAt(timer: number): number | undefined {
    return this.#before[timer] === NONE ? undefined : this.#due[timer]
  }

  /** Sets the timer, anew if it was set. `step` is after the one that is being given out. */
  set(timer: number, step: number): void {
    this.clear(timer)
    const bucket = step & this.#mask
    const head = this.#heads[bucket] as number
    this.#due[timer] = step
    this.#next[timer] = head
    this.#before[timer] = -3 - bucket
    if (head !== NONE) this.#before[head] = timer
    this.#heads[bucket] = timer
    this.#waiting++
  }

  clear(timer: number): void {
    const before = this.#before[timer] as number
    if (before === NONE) return
    this.#before[timer] = NONE
    this.#waiting--
    if (before === TAKEN) return
    const next = this.#next[timer] as number
    if (before <= -3) this.#heads[-3 - before] = next
    else this.#next[before] = next
    if (next !== NONE) this.#before[next] = before
  }

  /** Gives out the timers of a step, the last set first; one that is cleared or set anew meanwhile is not. Steps must be given out one by one. */
  give(step: number, out: (timer: number) => void): void {
    const bucket = step & this.#mask
    let count = 0
    for (let timer = this.#heads[bucket] as number; timer !== NONE; ) {
      const next = this.#next[timer] as number
      if (this.#due[timer] === step) {
        this.#unlink(timer)
        if (count === this.#taken.length) this.#taken = widened(this.#taken, 2 * count)
        this.#taken[count++] = timer
      }
      timer = next
    }
    for (let at = 0; at < count; at++) {
      const timer = this.#taken[at] as number
      if (this.#before[timer] !== TAKEN || this.#due[timer] !== step) continue
      this.#before[timer] = NONE
      this.#waiting--
      out(timer)
    }
  }

  #unlink(timer: number): void {
    const before = this.#before[timer] as number
    const next = this.#next[timer] as number
    if (before <= -3) this.#heads[-3 - before] = next
    else this.#next[before] = next
    if (next !== NONE) this.#before[next] = before
    this.#before[timer] = TAKEN
  }
}

function widened(array: Int32Array, length: number): Int32Array<ArrayBuffer> {
  const wide = new Int32Array(length)
  wide.set(array)
  return wide
}
