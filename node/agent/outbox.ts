/**
 * The node's half of the numbered link: what we sent and do not know to be durable there, and how far we made durable what
 * they sent. Kept in the node's store, so that a `kill -9` of either side loses and doubles nothing (R05).
 */
import * as dagCbor from '@ipld/dag-cbor'
import { decodeFrame, Frame } from '#protocol/control/messages'
import type { Change } from './events.ts'

export const LINK_KEY = 'link'
export const OUT_PREFIX = 'out/'

export class Outbox {
  #link: Uint8Array
  #sent = 0
  #received = 0
  #waiting = new Map<number, Uint8Array>()
  #dirty = false
  #puts = new Map<string, Uint8Array | null>()
  /** Deletions of what was acknowledged: they ride along with the next commit instead of asking for one. */
  #forget = new Set<string>()

  constructor(link: Uint8Array) {
    this.#link = link
  }

  /** From durable records; ignores keys that are not its own. Throws TypeError on a record it cannot read. */
  restore(key: string, value: Uint8Array): void {
    if (key === LINK_KEY) {
      const record: { link: Uint8Array; sent: number; received: number } = dagCbor.decode(value)
      if (!(record.link instanceof Uint8Array) || !Number.isSafeInteger(record.sent) || !Number.isSafeInteger(record.received))
        throw new TypeError('the link record is malformed')
      this.#link = record.link
      this.#sent = record.sent
      this.#received = record.received
    } else if (key.startsWith(OUT_PREFIX)) {
      const seq = Number.parseInt(key.slice(OUT_PREFIX.length), 16)
      // A good-bye of the node's life before must not be said again now that it is back; its number must.
      const bye = decodeFrame(value)?.bye !== undefined
      this.#waiting.set(seq, bye ? Frame.encode({ seq, progress: { replicas: [] } }) : value)
    }
  }

  get link(): Uint8Array {
    return this.#link
  }
  get received(): number {
    return this.#received
  }
  get sent(): number {
    return this.#sent
  }
  /** Frames sent and not known to be durable at the coordinator. */
  get unacknowledged(): number {
    return this.#waiting.size
  }

  /** Numbers a frame and keeps it until it is acknowledged. */
  add(frame: Partial<Frame>): Uint8Array {
    const seq = ++this.#sent
    const bytes = Frame.encode({ ...frame, seq })
    this.#waiting.set(seq, bytes)
    this.#puts.set(keyOf(seq), bytes)
    this.#dirty = true
    return bytes
  }

  acknowledged(seq: number): void {
    for (const waiting of this.#waiting.keys()) {
      if (waiting > seq) break
      this.#waiting.delete(waiting)
      const key = keyOf(waiting)
      if (this.#puts.delete(key)) continue
      this.#forget.add(key)
    }
  }

  /** `next` when the frame is the one expected; then it counts as received. */
  receive(seq: number): 'next' | 'seen' | 'gap' {
    if (seq <= this.#received) return 'seen'
    if (seq > this.#received + 1) return 'gap'
    this.#received = seq
    this.#dirty = true
    return 'next'
  }

  /** In order, for replay after a reconnect. */
  waiting(): Uint8Array[] {
    return [...this.#waiting.values()]
  }

  /** Numbering begins anew in both directions. */
  reset(link: Uint8Array): void {
    this.acknowledged(this.#sent)
    this.#link = link
    this.#sent = 0
    this.#received = 0
    this.#dirty = true
  }

  /** What must be made durable. With `others` false, deletions wait. */
  take(others: boolean): Change[] {
    const changes: Change[] = []
    if (this.#dirty) changes.push({ key: LINK_KEY, value: dagCbor.encode({ v: 1, link: this.#link, sent: this.#sent, received: this.#received }) })
    if (this.#dirty || others) {
      for (const key of this.#forget) changes.push({ key, value: null })
      this.#forget.clear()
    }
    for (const [key, value] of this.#puts) changes.push({ key, value })
    this.#puts.clear()
    this.#dirty = false
    return changes
  }
}

function keyOf(seq: number): string {
  return OUT_PREFIX + seq.toString(16).padStart(14, '0')
}
