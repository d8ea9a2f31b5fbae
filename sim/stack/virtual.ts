/**
 * Time and chance of a whole process of the operating system, taken from a simulated world: clock, timers, dice and keys under
 * their global names, for libraries that know no ports. Must be installed before such a library is loaded, once, for good.
 */
import type { Engine } from '../engine/engine.ts'
import { BEGAN_MS } from '../engine/process.ts'
import type { Random } from '../random.ts'
import { throwFrom } from './dice.ts'
import { running } from './process.ts'
import { timersOf } from './timers.ts'

interface Queues {
  /** Node's own: runs what `process.nextTick` and promises have ready, in its order, and reports rejections that nobody handles. */
  _tickCallback(): void
}

/** Between two events: all that is ready runs, ticks and promises in Node's order. */
export function settle(): void {
  ;(process as unknown as Queues)._tickCallback()
}

/** `dice` are those of the world's own code; a process has its own. */
export function install(engine: Engine, dice: Random): void {
  const nowMs = (): number => running()?.nowMs() ?? BEGAN_MS + engine.nowMs
  const timers = timersOf(engine)
  Object.assign(globalThis, timers)
  globalThis.Date = dateOf(nowMs)
  performance.now = () => engine.nowMs
  AbortSignal.timeout = (ms) => {
    const controller = new AbortController()
    timers.setTimeout(() => controller.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError')), ms)
    return controller.signal
  }
  throwFrom(() => running()?.dice ?? dice)
}

function dateOf(nowMs: () => number): DateConstructor {
  const RealDate = Date
  class VirtualDate extends RealDate {
    constructor(...args: [] | [number | string | Date]) {
      super(...((args.length === 0 ? [nowMs()] : args) as [number]))
    }

    static override now(): number {
      return nowMs()
    }
  }
  return VirtualDate as DateConstructor
}
