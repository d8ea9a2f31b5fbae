/** Who waits for what: tells watchers and followers of logs when a batch changed. */
import type { BatchId } from '#protocol/ids'
import type { Clock } from '../ports.ts'

/** In place of a batch: the change of anything. */
export const EVERYTHING = ''

export class Changes {
  readonly #waiting = new Map<BatchId, Set<() => void>>()

  /** Wakes everyone who waits for this batch. */
  changed(batch: BatchId): void {
    const waiting = this.#waiting.get(batch)
    if (waiting === undefined) return
    this.#waiting.delete(batch)
    for (const wake of waiting) wake()
  }

  /** A promise of the next change of a batch from now on, or of the end of `signal`. Take it before looking at the state. */
  next(batch: BatchId, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(batch) ?? new Set()
      this.#waiting.set(batch, waiting)
      const done = (): void => {
        signal.removeEventListener('abort', done)
        waiting.delete(done)
        if (waiting.size === 0 && this.#waiting.get(batch) === waiting) this.#waiting.delete(batch)
        resolve()
      }
      waiting.add(done)
      signal.addEventListener('abort', done, { once: true })
      if (signal.aborted) done()
    })
  }
}

/** Resolves after `ms` or when the signal is aborted. */
export function pause(clock: Clock, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      cancel()
      signal.removeEventListener('abort', done)
      resolve()
    }
    const cancel = clock.after(ms, done)
    signal.addEventListener('abort', done, { once: true })
    if (signal.aborted) done()
  })
}
