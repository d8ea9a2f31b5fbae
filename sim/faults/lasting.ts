/** What a fault changes for a time, and what undoes it: after that time, or when the faults stop. */
import type { Engine } from '../engine/engine.ts'

export class Lasting {
  readonly #engine: Engine
  readonly #open = new Set<() => void>()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** Undoes something after so long, once. */
  until(ms: number, undo: () => void): void {
    const once = (): void => {
      if (this.#open.delete(once)) undo()
    }
    this.#open.add(once)
    this.#engine.after(ms, once)
  }

  /** Undoes everything that still lasts. */
  mend(): void {
    for (const undo of [...this.#open]) undo()
  }
}
