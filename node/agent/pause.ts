/** Whether its owner paused the node: a wish that outlives a restart. */
import type { Change } from './events.ts'

export const PAUSED_KEY = 'paused'
const YES = Uint8Array.of(1)

export class Pause {
  #paused = false
  #dirty = false

  /** There is its record. */
  restore(): void {
    this.#paused = true
  }

  set(paused: boolean): void {
    this.#dirty ||= paused !== this.#paused
    this.#paused = paused
  }

  take(): Change[] {
    if (!this.#dirty) return []
    this.#dirty = false
    return [{ key: PAUSED_KEY, value: this.#paused ? YES : null }]
  }
}
