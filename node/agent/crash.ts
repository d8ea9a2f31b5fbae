/**
 * What the node logged before it went down with runs in hand. It is told for people alone, so it is not numbered: it is said
 * again with each welcome until one stream has lasted a while, and once more at worst.
 */
import * as dagCbor from '@ipld/dag-cbor'
import { CRASHED_REPLICAS_MAX, Frame, type LastWords } from '#protocol/control/messages'
import { NONE } from '#protocol/lists'
import type { Change } from './events.ts'
import { CRASH_TOLD_MS } from './policy.ts'

export const CRASH_KEY = 'crash'

export class Crash {
  #words: readonly LastWords[] = NONE
  #dirty = false
  #welcomedMs: number | undefined

  /** From its record. One that is damaged is worth nothing, and stops no node. */
  restore(value: Uint8Array): void {
    try {
      const pairs: unknown = dagCbor.decode(value)
      if (Array.isArray(pairs) && pairs.every(isPair)) this.#words = pairs.map(([replica, log]) => ({ replica, log }))
    } catch {
      this.#words = NONE
    }
  }

  /** The node has started again: what it had in hand, and its log of the time before. What an earlier crash left and was not told comes behind. */
  add(words: readonly LastWords[]): void {
    const fresh = new Set(words.map(({ replica }) => replica))
    this.#words = [...words, ...this.#words.filter(({ replica }) => !fresh.has(replica))].slice(0, CRASHED_REPLICAS_MAX)
    this.#dirty = true
  }

  /** What to say on a stream that begins. */
  welcomed(nowMs: number): Uint8Array | undefined {
    if (this.#words.length === 0) return undefined
    this.#welcomedMs = nowMs
    return Frame.encode({ crashed: { replicas: [...this.#words] } })
  }

  disconnected(): void {
    this.#welcomedMs = undefined
  }

  tick(nowMs: number): void {
    if (this.#welcomedMs === undefined || nowMs - this.#welcomedMs < CRASH_TOLD_MS) return
    this.#welcomedMs = undefined
    this.#words = NONE
    this.#dirty = true
  }

  take(): Change[] {
    if (!this.#dirty) return []
    this.#dirty = false
    return [{ key: CRASH_KEY, value: this.#words.length === 0 ? null : dagCbor.encode(this.#words.map(({ replica, log }) => [replica, log])) }]
  }
}

function isPair(pair: unknown): pair is [replica: string, log: string] {
  return Array.isArray(pair) && pair.length === 2 && pair.every((text) => typeof text === 'string')
}
