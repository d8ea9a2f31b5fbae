/**
 * A process of the simulated world: everything that reaches it comes through `enter`. It can be stopped (SIGSTOP) and
 * continued, and it can be killed; then nothing reaches it any more, and promises it waits for are never settled.
 */
import type { Engine } from './engine.ts'

/** When the world began, by a clock that is right. */
export const BEGAN_MS = 1_750_000_000_000

/** How wrong a machine's clock is. */
export interface Skew {
  offsetMs: number
  /** Milliseconds of its clock in a thousand true ones. */
  perMille: number
}

export class Process {
  readonly engine: Engine
  readonly #skew: Skew
  #alive = true
  #stopped = false
  #waiting: (() => void)[] = []

  constructor(engine: Engine, skew: Skew = { offsetMs: 0, perMille: 1000 }) {
    this.engine = engine
    this.#skew = skew
  }

  get alive(): boolean {
    return this.#alive
  }

  /** Alive and not stopped. */
  get runs(): boolean {
    return this.#alive && !this.#stopped
  }

  /** Now, or when it goes on; never when it is dead. */
  enter(call: () => void): void {
    if (!this.#alive) return
    if (this.#stopped || this.#waiting.length > 0) this.#waiting.push(call)
    else call()
  }

  /** Resolves after a delay, through `enter`: what the machine below the process does for it. */
  later<T>(ms: number, act: () => T): Promise<T> {
    return new Promise((resolve, reject) => {
      this.engine.after(ms, () =>
        this.enter(() => {
          try {
            resolve(act())
          } catch (error) {
            reject(error)
          }
        })
      )
    })
  }

  stop(): void {
    this.#stopped = true
  }

  continue(): void {
    if (!this.#stopped) return
    this.#stopped = false
    this.#catchUp()
  }

  /** What came meanwhile, in order and one event each; what comes now waits behind it. */
  #catchUp(): void {
    if (this.#waiting.length === 0) return
    this.engine.after(0, () => {
      if (this.#stopped) return
      this.#waiting[0]?.()
      this.#waiting.shift()
      this.#catchUp()
    })
  }

  kill(): void {
    this.#alive = false
    this.#waiting = []
  }

  // The Clock port.
  nowMs(): number {
    return BEGAN_MS + this.#skew.offsetMs + Math.floor((this.engine.nowMs * this.#skew.perMille) / 1000)
  }

  after(ms: number, call: () => void): () => void {
    let wanted = true
    const cancel = this.engine.after(ms, () =>
      this.enter(() => {
        if (wanted) call()
      })
    )
    return () => {
      wanted = false
      cancel()
    }
  }
}
