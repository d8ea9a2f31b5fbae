/**
 * The start of the machine in which the node's runs began. What they leave nobody waits for on its way to the disk: when the
 * machine was started again, it may be empty, cut off or full of zeros, though the engine remembers how the run ended. So
 * such runs are given back and not looked at.
 */
import type { Change } from './events.ts'

export const BOOT_KEY = 'boot'

export class Boot {
  readonly #now: string
  #before: string | undefined

  constructor(now: string) {
    this.#now = now
  }

  restore(value: Uint8Array): void {
    this.#before = new TextDecoder().decode(value)
  }

  /** What is held began before; until the runs of that time are given up. */
  get again(): boolean {
    return this.#before !== undefined && this.#before !== this.#now
  }

  /** Nothing is left of the time before: from now on runs belong to this one. */
  begin(): Change[] {
    if (this.#before === this.#now) return []
    this.#before = this.#now
    return [{ key: BOOT_KEY, value: new TextEncoder().encode(this.#now) }]
  }
}
