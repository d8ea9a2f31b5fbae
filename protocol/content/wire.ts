/**
 * Frames of `/talko/content/1.0.0`. A requester sends lists of block ids, a provider answers them in that order:
 * request = 0x01, then 32 bytes of sha2-256 for each block; reply = 0x02, then for each block 4 bytes of length (little-endian;
 * 0xffffffff: not here) and its bytes. One reply may span frames, a block never does. No ids come back: the requester knows
 * what it asked for and checks each block against it.
 */
import type { BlockId } from './hash.ts'
import { BLOCK_BYTES_MAX, REPLY_JOINED_BYTES, REQUEST_FRAME_BYTES_MAX, REQUEST_IDS_MAX } from './policy.ts'

const REQUEST = 1
const REPLY = 2
const ID_BYTES = 32
const MISSING = 0xffffffff
const KIND_BYTES = 1
const LENGTH_BYTES = 4
const NOTHING = new Uint8Array(0)

export class WireError extends Error {
  override readonly name = 'WireError'
}

export function encodeRequest(ids: readonly BlockId[]): Uint8Array {
  return Buffer.from(String.fromCharCode(REQUEST) + ids.join(''), 'latin1')
}

/** The ids of a request frame from anybody; throws WireError for anything else. */
export function decodeRequest(frame: Uint8Array): BlockId[] {
  const count = (frame.length - KIND_BYTES) / ID_BYTES
  if (frame[0] !== REQUEST || frame.length > REQUEST_FRAME_BYTES_MAX || !Number.isInteger(count) || count < 1 || count > REQUEST_IDS_MAX) {
    throw new WireError(`not a request for content (${frame.length} bytes, kind ${frame[0]})`)
  }
  const ids = Buffer.from(frame.buffer, frame.byteOffset + KIND_BYTES, count * ID_BYTES).toString('latin1')
  return Array.from({ length: count }, (_, index) => ids.slice(index * ID_BYTES, (index + 1) * ID_BYTES))
}

/** Frames of a reply while their blocks are read straight into them: small ones are joined, a large one has a frame of its own. */
export class ReplyFrames {
  #left: number
  readonly #memory: (bytes: number) => Uint8Array
  readonly #finished: Uint8Array[] = []
  #frame: Uint8Array = NOTHING
  #end = 0

  /** For so many blocks; `memory` makes the frames, whose bytes need not be cleared. */
  constructor(blocks: number, memory: (bytes: number) => Uint8Array) {
    this.#left = blocks
    this.#memory = memory
  }

  /** Where the next block of so many bytes is to stand; it counts once it is taken. */
  room(bytes: number): Uint8Array {
    this.#need(LENGTH_BYTES + bytes)
    return this.#frame.subarray(this.#end + LENGTH_BYTES, this.#end + LENGTH_BYTES + bytes)
  }

  /** The next block, which stands in the room that was made for it last; undefined: not here. */
  take(block: Uint8Array | undefined): void {
    if (block === undefined) this.#need(LENGTH_BYTES)
    const { buffer, byteOffset, length } = this.#frame
    new DataView(buffer, byteOffset, length).setUint32(this.#end, block?.length ?? MISSING, true)
    this.#end += LENGTH_BYTES + (block?.length ?? 0)
    if (--this.#left === 0 || this.#end === length) this.#finish()
  }

  /** Frames that nothing more is put in, each once. */
  finished(): Uint8Array[] {
    return this.#finished.splice(0)
  }

  #need(bytes: number): void {
    if (this.#frame.length - this.#end >= bytes) return
    this.#finish()
    const alone = KIND_BYTES + bytes
    this.#frame = this.#memory(this.#left === 1 || alone > REPLY_JOINED_BYTES ? alone : REPLY_JOINED_BYTES)
    this.#frame[0] = REPLY
    this.#end = KIND_BYTES
  }

  #finish(): void {
    if (this.#end > KIND_BYTES) this.#finished.push(this.#end === this.#frame.length ? this.#frame : this.#frame.subarray(0, this.#end))
    this.#frame = NOTHING
    this.#end = 0
  }
}

/** The blocks of a reply frame from anybody, as views into it; throws WireError for anything else. */
export function decodeReply(frame: Uint8Array): (Uint8Array | undefined)[] {
  if (frame[0] !== REPLY) throw new WireError(`not a reply with content (kind ${frame[0]})`)
  const view = new DataView(frame.buffer, frame.byteOffset, frame.length)
  const blocks: (Uint8Array | undefined)[] = []
  let at = 1
  while (at < frame.length) {
    if (at + 4 > frame.length) throw new WireError('a reply ends within a length')
    const length = view.getUint32(at, true)
    at += 4
    if (length === MISSING) {
      blocks.push(undefined)
      continue
    }
    if (length > BLOCK_BYTES_MAX || at + length > frame.length) throw new WireError('a reply ends within a block')
    blocks.push(frame.subarray(at, at + length))
    at += length
  }
  return blocks
}
