/** Timers as libraries know them, in virtual time: those of a process end with it. */
import type { Engine } from '../engine/engine.ts'
import { running, type StackProcess } from './process.ts'

type Call = (...args: unknown[]) => void

/** Longer ones fire at once, as Node's do. */
const DELAY_MS_MAX = 2 ** 31 - 1

/** What setTimeout and setInterval answer. */
export class VirtualTimer {
  readonly #engine: Engine
  readonly #process: StackProcess | undefined
  readonly #call: () => void
  readonly #ms: number
  readonly #repeats: boolean
  #cancel: () => void = () => undefined

  constructor(engine: Engine, { call, ms, repeats }: { readonly call: () => void; readonly ms: unknown; readonly repeats: boolean }) {
    const delayMs = Math.trunc(Number(ms))
    this.#engine = engine
    this.#process = running()
    this.#call = call
    this.#ms = delayMs >= 1 && delayMs <= DELAY_MS_MAX ? delayMs : 1
    this.#repeats = repeats
    this.#arm()
  }

  #arm(): void {
    const process = this.#process
    let wanted = true
    const fire = (): void => {
      if (!wanted) return
      wanted = false
      process?.timers.delete(this)
      this.#call()
      if (this.#repeats && this.#cancel === cancel) this.#arm()
    }
    const cancelPlanned = this.#engine.after(this.#ms, process === undefined ? fire : () => process.enter(fire))
    const cancel = (): void => {
      wanted = false
      process?.timers.delete(this)
      cancelPlanned()
    }
    process?.timers.add(this)
    this.#cancel = cancel
  }

  close(): this {
    this.#cancel()
    this.#cancel = () => undefined
    return this
  }

  refresh(): this {
    this.#cancel()
    this.#arm()
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  hasRef(): boolean {
    return true
  }

  [Symbol.dispose](): void {
    this.close()
  }
}

export interface VirtualTimers {
  setTimeout(call: Call, ms?: number, ...args: unknown[]): VirtualTimer
  setInterval(call: Call, ms?: number, ...args: unknown[]): VirtualTimer
  setImmediate(call: Call, ...args: unknown[]): VirtualImmediate
  clearTimeout(timer: unknown): void
  clearInterval(timer: unknown): void
  clearImmediate(immediate: unknown): void
}

/** What setImmediate answers: after all that is ready now. */
class VirtualImmediate {
  cancel: () => void = () => undefined
}

export function timersOf(engine: Engine): VirtualTimers {
  const clear = (timer: unknown): void => {
    if (timer instanceof VirtualTimer) timer.close()
  }
  const start =
    (repeats: boolean) =>
    (call: Call, ms: unknown, ...args: unknown[]) =>
      new VirtualTimer(engine, { call: () => call(...args), ms, repeats })
  return {
    setTimeout: start(false),
    setInterval: start(true),
    setImmediate(call, ...args) {
      const process = running()
      const immediate = new VirtualImmediate()
      const fire = (): void => call(...args)
      immediate.cancel = engine.after(0, process === undefined ? fire : () => process.enter(fire))
      return immediate
    },
    clearTimeout: clear,
    clearInterval: clear,
    clearImmediate(immediate) {
      if (immediate instanceof VirtualImmediate) immediate.cancel()
    }
  }
}
