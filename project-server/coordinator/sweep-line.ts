/** Batches that have tasks to be made, and which of them may want some made now: a look at all of them after each event would cost a project with a thousand sweeps more than the event. */
import type { Batch } from './model.ts'
import { SWEEP_AHEAD, SWEEP_AHEAD_MIN, SWEEPS_AHEAD_MAX } from './policy.ts'

export class SweepLine {
  readonly #all = new Set<Batch>()
  readonly #due = new Set<Batch>()

  get size(): number {
    return this.#all.size
  }

  /** Those that may want more, the one that has waited longest first. */
  get due(): Iterable<Batch> {
    return this.#due
  }

  /** How many of one sweep's tasks may wait: together they leave room for other batches, and one more sweep begins however many there are. */
  get ahead(): number {
    return Math.max(SWEEP_AHEAD_MIN, Math.min(SWEEP_AHEAD, Math.floor(SWEEPS_AHEAD_MAX / Math.max(1, this.#all.size))))
  }

  [Symbol.iterator](): IterableIterator<Batch> {
    return this.#all.values()
  }

  add(batch: Batch): void {
    this.#all.add(batch)
    this.#due.add(batch)
  }

  delete(batch: Batch): void {
    this.#all.delete(batch)
    this.#due.delete(batch)
  }

  /** One of its tasks moved, or it was let go on. */
  touch(batch: Batch): void {
    if (this.#all.has(batch)) this.#due.add(batch)
  }

  /** It wants none until it is touched. */
  rest(batch: Batch): void {
    this.#due.delete(batch)
  }
}
