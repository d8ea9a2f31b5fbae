import type { Clock } from '../ports.ts'

/** A clock that a test moves by hand. */
export class ManualClock implements Clock {
  #nowMs = 1_000
  #timers: { atMs: number; call: () => void }[] = []

  nowMs(): number {
    return this.#nowMs
  }

  after(ms: number, call: () => void): () => void {
    const timer = { atMs: this.#nowMs + ms, call }
    this.#timers.push(timer)
    return () => {
      this.#timers = this.#timers.filter((other) => other !== timer)
    }
  }

  get waiting(): number {
    return this.#timers.length
  }

  /** Goes forward and calls what is due, in order. */
  forward(ms: number): void {
    const endMs = this.#nowMs + ms
    for (;;) {
      const next = this.#timers.filter(({ atMs }) => atMs <= endMs).toSorted((a, b) => a.atMs - b.atMs)[0]
      if (next === undefined) break
      this.#timers = this.#timers.filter((other) => other !== next)
      this.#nowMs = next.atMs
      next.call()
    }
    this.#nowMs = endMs
  }
}
