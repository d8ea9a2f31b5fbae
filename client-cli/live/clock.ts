import { randomBytes } from 'node:crypto'
import type { Clock, Random } from '../ports.ts'

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  }
}

export const systemRandom: Random = {
  bytes: (count) => randomBytes(count),
  fraction: () => Math.random()
}
