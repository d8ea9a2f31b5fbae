import { setTimeout as pause } from 'node:timers/promises'

/** Waits until `probe` answers something else than undefined or false and returns it; throws after `ms`, naming what was waited for. */
export async function until<T>(what: string, probe: () => T | undefined | false | Promise<T | undefined | false>, ms = 20_000): Promise<T> {
  const end = performance.now() + ms
  for (;;) {
    const answer = await probe()
    if (answer !== undefined && answer !== false) return answer
    if (performance.now() > end) throw new Error(`waited ${ms} ms for ${what}`)
    await pause(10)
  }
}
