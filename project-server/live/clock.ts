import type { Clock } from '../ports.ts'

export const systemClock: Clock = {
  nowMs: () => Date.now(),
  after(ms, call) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  }
}
