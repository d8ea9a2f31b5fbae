/**
 * A process of the simulated world: everything that reaches it comes through `enter`. It can be stopped (SIGSTOP) and
 * continued, and it can be killed; then nothing reaches it any more, and promises it waits for are never settled.
 */
import { Call, type Engine } from './engine.ts'

/** When the world began, by a clock that is right. */
export const BEGAN_MS = 1_750_000_000_000

/** How wrong a machine's clock is. */
export interface Skew {
  readonly offsetMs: number
  /** Milliseconds of its clock in a thousand true ones. */
  readonly perMille: number
}

export const RIGHT: Skew = { offsetMs: 0, perMille: 1000 }

/** Whose clock a process reads: it may be changed meanwhile. */
export interface Skewed {
  readonly skew: Skew
}

const NOT_SKEWED: Skewed = { skew: RIGHT }

/** As a clock goes when it is put forward by so much. */
export function ahead({ skew: { offsetMs, perMille } }: Skewed, ms: number): Skew {
  return { offsetMs: offsetMs + ms, perMille }
}

export class Process {
  readonly engine: Engine
  readonly #machine: Skewed
  #alive = true
  #stopped = false
  /** What reached it while it was stopped. */
  #waiting: (() => void)[] | undefined

  constructor(engine: Engine, machine: Skewed = NOT_SKEWED) {
    this.engine = engine
    this.#machine = machine
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
    if (!this.#stopped && this.#waiting === undefined) {
      call()
      return
    }
    this.#waiting ??= []
    this.#waiting.push(call)
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
    if (this.#waiting === undefined) return
    this.engine.after(0, () => {
      const [first] = this.#waiting ?? []
      if (this.#stopped || first === undefined) return
      first()
      this.#waiting?.shift()
      if (this.#waiting?.length === 0) this.#waiting = undefined
      this.#catchUp()
    })
  }

  kill(): void {
    this.#alive = false
    this.#waiting = undefined
  }

  // The Clock port.
  nowMs(): number {
    const { offsetMs, perMille } = this.#machine.skew
    return BEGAN_MS + offsetMs + Math.floor((this.engine.nowMs * perMille) / 1000)
  }

  after(ms: number, call: () => void): () => void {
    const timer = new Timer(this, call)
    this.engine.plan(ms, timer)
    // Half of what a closure takes with what it closes over: every node of a world has several.
    return timer.cancel.bind(timer)
  }
}

/** It may be cancelled after it has rung, while its process is stopped. */
class Timer extends Call {
  readonly #process: Process

  constructor(process: Process, call: () => void) {
    super(call)
    this.#process = process
  }

  override fire(): void {
    this.#process.enter(() => super.fire())
  }
}
