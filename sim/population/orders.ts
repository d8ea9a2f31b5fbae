/**
 * What the coordinator's frames tell a host, read from their bytes without decoding the rest: the replicas named in an
 * Assign, Grant, Cancel or Release. Ids are numbers here: the simulator makes the batches, and numbers them.
 */
import { BATCH_ID_CHARS, batchNumber } from './batch-ids.ts'

export type OrderKind = 'lease' | 'grant' | 'refuse' | 'cancel' | 'release'

/** Field numbers of `Frame` (protocol/control/control.proto) and of the messages in it. */
const ASSIGN = 32
const GRANT = 33
const CANCEL = 34
const RELEASE = 35
const LEASES = 1
const REPLICA = 1
const GRANTED = 1
const REFUSED = 2
const LENGTH_DELIMITED = 2

type Tell = (kind: OrderKind, batch: number, index: number, attempt: number) => void

/** Reads frames one after the other; keeps its place in a field, so that no object is made for each of many millions. */
export class OrderReader {
  #bytes = new Uint8Array(0)
  #at = 0

  /** Tells every replica that the frame names, in order. Throws RangeError for bytes that are no frame. */
  read(frame: Uint8Array<ArrayBufferLike>, tell: Tell): void {
    this.#bytes = frame as Uint8Array<ArrayBuffer>
    this.#at = 0
    while (this.#at < frame.length) {
      const tag = this.#varint()
      if ((tag & 7) !== LENGTH_DELIMITED) {
        this.#varint()
        continue
      }
      const field = tag >>> 3
      const end = this.#end()
      if (field === ASSIGN) this.#assign(end, tell)
      else if (field === GRANT) this.#replicas(end, 'grant', 'refuse', tell)
      else if (field === CANCEL) this.#replicas(end, 'cancel', undefined, tell)
      else if (field === RELEASE) this.#replicas(end, 'release', undefined, tell)
      this.#at = end
    }
  }

  #assign(end: number, tell: Tell): void {
    while (this.#at < end) {
      const tag = this.#varint()
      const inner = this.#end()
      if (tag >>> 3 === LEASES) {
        const first = this.#varint()
        if (first >>> 3 !== REPLICA) throw new RangeError('a lease does not begin with its replica')
        this.#replica(this.#end(), 'lease', tell)
      }
      this.#at = inner
    }
  }

  #replicas(end: number, first: OrderKind, second: OrderKind | undefined, tell: Tell): void {
    while (this.#at < end) {
      const field = this.#varint() >>> 3
      const inner = this.#end()
      if (field === GRANTED) this.#replica(inner, first, tell)
      else if (field === REFUSED && second !== undefined) this.#replica(inner, second, tell)
      this.#at = inner
    }
  }

  /** `<batch>.<index>.<attempt>` up to `end`. */
  #replica(end: number, kind: OrderKind, tell: Tell): void {
    const batch = batchNumber(this.#bytes, this.#at)
    let at = this.#at + BATCH_ID_CHARS + 1
    let index = 0
    for (; at < end && this.#bytes[at] !== DOT; at++) index = 10 * index + ((this.#bytes[at] as number) - ZERO)
    let attempt = 0
    for (at++; at < end; at++) attempt = 10 * attempt + ((this.#bytes[at] as number) - ZERO)
    tell(kind, batch, index, attempt)
  }

  #end(): number {
    const length = this.#varint()
    const end = this.#at + length
    if (end > this.#bytes.length) throw new RangeError('a field is longer than its frame')
    return end
  }

  #varint(): number {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.#at++]
      if (byte === undefined) throw new RangeError('a frame ends in a number')
      value += (byte & 127) * scale
      if (byte < 128) return value
    }
  }
}

const DOT = 46
const ZERO = 48
