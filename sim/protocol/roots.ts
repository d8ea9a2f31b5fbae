/**
 * The roots of a machine's content store, and what a power cut does to them. As the real store: what came before the machine was
 * started again does not count until it was compared or fetched again, and nothing is given out that is not whole.
 */
import { SmallMap } from '#node/small-map'
import type { Engine } from '../engine/engine.ts'
import type { Tear } from './tear.ts'

interface Root {
  readonly atMs: number
  /** It came before the last power cut. */
  readonly doubted: boolean
  readonly torn: boolean
}

export class Roots {
  readonly #engine: Engine
  readonly #roots = new SmallMap<string, Root>()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  has(root: string): boolean {
    return this.#roots.get(root)?.doubted === false
  }

  /** Whether it can be given to others. */
  gives(root: string): boolean {
    return this.#roots.get(root)?.torn === false
  }

  isDoubted(root: string): boolean {
    return this.#roots.get(root)?.doubted === true
  }

  isTorn(root: string): boolean {
    return this.#roots.get(root)?.torn === true
  }

  add(root: string): void {
    this.#roots.set(root, { atMs: this.#engine.nowMs, doubted: false, torn: false })
  }

  /** Of what was fetched before a power cut: true, and it counts again, when nothing of it is missing. */
  compare(root: string): boolean {
    const held = this.#roots.get(root)
    if (held?.doubted !== true || held.torn) return false
    this.#roots.set(root, { ...held, doubted: false })
    return true
  }

  delete(root: string): boolean {
    return this.#roots.delete(root)
  }

  clear(): void {
    this.#roots.clear()
  }

  /** Also of those that do not count. */
  keys(): string[] {
    return this.#roots.keys()
  }

  losePower(tear: Tear): void {
    const sinceMs = this.#engine.nowMs - tear.unsyncedMs
    for (const [root, held] of [...this.#roots]) this.#roots.set(root, { ...held, doubted: true, torn: held.torn || (held.atMs > sinceMs && tear.tears()) })
  }
}
