import { randomBytes } from 'node:crypto'
import type { Breath, Clock, Random } from '../ports.ts'

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  }
}

export const systemRandom: Random = { bytes: (count) => randomBytes(count) }

/** One turn of the event loop: all that the sockets had is handled. */
export const turn: Breath = () => new Promise((resolve) => setImmediate(resolve))
