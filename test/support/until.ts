import { setTimeout as pause } from 'node:timers/promises'

/**
 * Waits until `probe` answers something else than undefined or false, looking every few milliseconds, and returns the answer.
 * Throws after `ms`, naming what was waited for and the last error of the probe.
 */
export async function until<T>(what: string, probe: () => T | undefined | false | Promise<T | undefined | false>, ms = 30_000): Promise<T> {
  const end = performance.now() + ms
  let last: unknown
  for (;;) {
    try {
      const answer = await probe()
      if (answer !== undefined && answer !== false) return answer
    } catch (error) {
      last = error
    }
    if (performance.now() > end) throw new Error(`waited ${ms} ms for ${what}`, { cause: last })
    await pause(20)
  }
}
