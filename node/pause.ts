import type { Clock } from './ports.ts'

/** Resolves after `ms` milliseconds; rejects with the signal's reason when that comes first. */
export function pause(clock: Pick<Clock, 'after'>, ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) {
      reject(signal.reason)
      return
    }
    const stop = (): void => {
      cancel()
      reject(signal.reason)
    }
    const cancel = clock.after(ms, () => {
      signal.removeEventListener('abort', stop)
      resolve()
    })
    signal.addEventListener('abort', stop, { once: true })
  })
}
