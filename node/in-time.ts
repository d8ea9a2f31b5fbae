import type { Clock } from './ports.ts'

/** What `work` answers; its signal says when `ms` milliseconds are over, or `signal` was aborted, and then it is for `work` to end. */
export async function inTime<T>(clock: Pick<Clock, 'after'>, ms: number, signal: AbortSignal, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const late = new AbortController()
  const cancel = clock.after(ms, () => late.abort(new Error('no answer')))
  try {
    return await work(AbortSignal.any([late.signal, signal]))
  } finally {
    cancel()
  }
}
