/** The node's end of the numbered link, with its durable records: a `kill -9` of either side loses and doubles nothing (R05). */
import * as dagCbor from '@ipld/dag-cbor'
import { type FrameBody, Link, type NumberedFrame } from '#protocol/control/link'
import { decodeFrame, Frame } from '#protocol/control/messages'
import type { Change } from './events.ts'

const LINK_KEY = 'link'
const OUT_PREFIX = 'out/'

interface LinkRecord {
  readonly v: 1
  readonly link: Uint8Array
  readonly nextSeq: number
  readonly cursor: number
}

export class Outbox {
  readonly #numbered = new Link()
  #id: Uint8Array
  #dirty = false
  #puts = new Map<number, Uint8Array>()
  /** Deletions of what was acknowledged: they ride along with the next commit instead of asking for one. */
  #forget = new Set<number>()
  #restored: { record: LinkRecord | undefined; pending: NumberedFrame[] } | undefined

  /** `id` is used when the records name none. */
  constructor(id: Uint8Array) {
    this.#id = id
  }

  /** One of its own records; the others are ignored. Throws TypeError when it is damaged. Followed by `restored()`. */
  restore(key: string, value: Uint8Array): void {
    this.#restored ??= { record: undefined, pending: [] }
    if (key === LINK_KEY) {
      const record: LinkRecord = dagCbor.decode(value)
      if (record.v !== 1 || !(record.link instanceof Uint8Array) || !Number.isSafeInteger(record.nextSeq) || !Number.isSafeInteger(record.cursor))
        throw new TypeError("the node's record of its link to the project is damaged")
      this.#restored.record = record
    } else if (key.startsWith(OUT_PREFIX)) {
      const seq = Number.parseInt(key.slice(OUT_PREFIX.length), 16)
      // A good-bye of the node's life before must not be said again now that it is back; its number must.
      const bye = decodeFrame(value)?.bye !== undefined
      this.#restored.pending.push({ seq, bytes: bye ? Frame.encode({ seq, progress: { replicas: [] } }) : value })
    }
  }

  /** All records were given. */
  restored(): void {
    const { record, pending } = this.#restored ?? {}
    this.#restored = undefined
    if (record === undefined || pending === undefined) return
    this.#id = record.link
    this.#numbered.restore({ nextSeq: record.nextSeq, cursor: record.cursor, pending })
  }

  get link(): Uint8Array {
    return this.#id
  }
  get received(): number {
    return this.#numbered.cursor
  }
  /** Number of the last frame added. */
  get sent(): number {
    return this.#numbered.nextSeq - 1
  }
  /** Frames sent and not known to be durable at the coordinator. */
  get unacknowledged(): number {
    return this.#numbered.size
  }

  /** Numbers a frame and keeps it until it is acknowledged. Throws LinkError when too many wait. */
  add(frame: FrameBody): Uint8Array {
    const { seq, bytes } = this.#numbered.push(frame)
    this.#puts.set(seq, bytes)
    this.#dirty = true
    return bytes
  }

  acknowledged(seq: number): void {
    for (const forgotten of this.#numbered.acked(seq)) if (!this.#puts.delete(forgotten)) this.#forget.add(forgotten)
  }

  /** `new` when the frame is the one expected; then it counts as received. */
  receive(seq: number): 'new' | 'duplicate' | 'gap' {
    const place = this.#numbered.accept(seq)
    if (place === 'new') this.#dirty = true
    return place
  }

  /** Whether the coordinator, which holds everything up to `received`, goes on where we are. */
  resumable(received: number): boolean {
    return this.#numbered.resumable(received)
  }

  /** In order, for replay after a reconnect. */
  pending(): Uint8Array[] {
    return this.#numbered.pending().map(({ bytes }) => bytes)
  }

  /** Numbering begins anew in both directions. */
  reset(link: Uint8Array): void {
    this.acknowledged(this.sent)
    this.#numbered.reset()
    this.#id = link
    this.#dirty = true
  }

  /** What must be made durable. With `others` false, deletions wait. */
  take(others: boolean): Change[] {
    const changes: Change[] = []
    if (this.#dirty || others) {
      for (const seq of this.#forget) changes.push({ key: keyOf(seq), value: null })
      this.#forget.clear()
    }
    if (this.#dirty) {
      const record: LinkRecord = { v: 1, link: this.#id, nextSeq: this.#numbered.nextSeq, cursor: this.#numbered.cursor }
      changes.push({ key: LINK_KEY, value: dagCbor.encode(record) })
    }
    for (const [seq, value] of this.#puts) changes.push({ key: keyOf(seq), value })
    this.#puts.clear()
    this.#dirty = false
    return changes
  }
}

function keyOf(seq: number): string {
  return OUT_PREFIX + seq.toString(16).padStart(14, '0')
}
