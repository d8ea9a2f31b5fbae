/** The node's end of the numbered link, with its durable records: a `kill -9` of either side loses and doubles nothing (R05). */
import * as dagCbor from '@ipld/dag-cbor'
import { Link, type Numbered } from '#protocol/control/link'
import { decodeFrame, FRAME_BYTES_MAX, Frame } from '#protocol/control/messages'
import type { Change } from './events.ts'
import { OUTBOX_BYTES_MAX, OUTBOX_FRAMES_MAX } from './policy.ts'

const LINK_KEY = 'link'
const OUT_PREFIX = 'out/'

/** A frame's contents, without the numbers that the link gives it. */
export type FrameBody = Omit<Frame, 'seq' | 'ack'>

interface LinkRecord {
  readonly v: 1
  readonly link: Uint8Array
  readonly nextSeq: number
  readonly cursor: number
}

export class Outbox {
  #numbered: Link<Uint8Array>
  #bytes = 0
  #dirty = false
  /** Not written yet. */
  #puts: Map<number, Uint8Array> | undefined
  /** Deletions of what was acknowledged: they ride along with the next commit instead of asking for one. */
  #forget: Set<number> | undefined
  #restored: { record: LinkRecord | undefined; pending: Numbered<Uint8Array>[] } | undefined

  /** `id` is used when the records name none. */
  constructor(id: Uint8Array) {
    this.#numbered = new Link({ id: hex(id), sent: 0, received: 0 })
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
      this.#restored.pending.push({ seq, payload: bye ? Frame.encode({ seq, progress: { replicas: [] } }) : value })
    }
  }

  /** All records were given. */
  restored(): void {
    const { record, pending } = this.#restored ?? {}
    this.#restored = undefined
    if (record === undefined || pending === undefined) return
    pending.sort((a, b) => a.seq - b.seq)
    this.#numbered = new Link({ id: hex(record.link), sent: record.nextSeq - 1, received: record.cursor }, pending)
    this.#bytes = pending.reduce((sum, { payload }) => sum + payload.length, 0)
  }

  get link(): Uint8Array {
    return new Uint8Array(Buffer.from(this.#numbered.id, 'hex'))
  }
  get received(): number {
    return this.#numbered.received
  }
  /** Number of the last frame added. */
  get sent(): number {
    return this.#numbered.sent
  }
  /** Frames sent and not known to be durable at the coordinator. */
  get unacknowledged(): number {
    return this.#numbered.waiting
  }

  /** Numbers a frame and keeps it until it is acknowledged; the bytes are what is sent now and after each reconnect. Throws RangeError when too much waits or the frame is too large: both are bugs here. */
  add(frame: FrameBody): Uint8Array {
    if (this.#numbered.waiting >= OUTBOX_FRAMES_MAX || this.#bytes >= OUTBOX_BYTES_MAX)
      throw new RangeError(`${this.#numbered.waiting} frames (${this.#bytes} bytes) wait for the coordinator's word; no more are kept`)
    const seq = this.#numbered.sent + 1
    const bytes = Frame.encode({ ...frame, seq, ack: 0 })
    if (bytes.length > FRAME_BYTES_MAX) throw new RangeError(`a frame has ${bytes.length} bytes, at most ${FRAME_BYTES_MAX} are allowed`)
    this.#numbered.push(bytes)
    this.#bytes += bytes.length
    this.#puts ??= new Map()
    this.#puts.set(seq, bytes)
    this.#dirty = true
    return bytes
  }

  acknowledged(upTo: number): void {
    for (const { seq, payload } of this.#numbered.acknowledge(upTo)) {
      this.#bytes -= payload.length
      if (this.#puts?.delete(seq) === true) continue
      this.#forget ??= new Set()
      this.#forget.add(seq)
    }
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
    return this.#numbered.pending().map(({ payload }) => payload)
  }

  /** Numbering begins anew in both directions. */
  reset(link: Uint8Array): void {
    this.acknowledged(this.sent)
    this.#numbered = new Link({ id: hex(link), sent: 0, received: 0 })
    this.#dirty = true
  }

  /** What must be made durable. With `others` false, deletions wait. */
  take(others: boolean): Change[] {
    const changes: Change[] = []
    if (this.#dirty || others) {
      for (const seq of this.#forget ?? []) changes.push({ key: keyOf(seq), value: null })
      this.#forget = undefined
    }
    if (this.#dirty) {
      const record: LinkRecord = { v: 1, link: this.link, nextSeq: this.sent + 1, cursor: this.received }
      changes.push({ key: LINK_KEY, value: dagCbor.encode(record) })
    }
    for (const [seq, value] of this.#puts ?? []) changes.push({ key: keyOf(seq), value })
    this.#puts = undefined
    this.#dirty = false
    return changes
  }
}

function keyOf(seq: number): string {
  return OUT_PREFIX + seq.toString(16).padStart(14, '0')
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
