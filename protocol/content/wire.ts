/**
 * Frames of `/talko/content/1.0.0`. A requester sends lists of block ids, a provider answers them in that order:
 * request = 0x01, then 32 bytes of sha2-256 for each block; reply = 0x02, then for each block 4 bytes of length (little-endian;
 * 0xffffffff: not here) and its bytes. One reply may span frames, a block never does. No ids come back: the requester knows
 * what it asked for and checks each block against it.
 */
import { BLOCK_BYTES_MAX, REQUEST_FRAME_BYTES_MAX, REQUEST_IDS_MAX } from './policy.ts'

const REQUEST = 1
const REPLY = 2
const ID_BYTES = 32
const MISSING = 0xffffffff
/** What stands before a block in a reply frame of its own. */
export const REPLY_HEAD_BYTES = 5

export class WireError extends Error {
  override readonly name = 'WireError'
}

export function encodeRequest(digests: readonly Uint8Array[]): Uint8Array {
  const frame = new Uint8Array(1 + digests.length * ID_BYTES)
  frame[0] = REQUEST
  for (const [index, digest] of digests.entries()) frame.set(digest, 1 + index * ID_BYTES)
  return frame
}

/** The ids of a request frame from anybody; throws WireError for anything else. */
export function decodeRequest(frame: Uint8Array): Uint8Array[] {
  const count = (frame.length - 1) / ID_BYTES
  if (frame[0] !== REQUEST || frame.length > REQUEST_FRAME_BYTES_MAX || !Number.isInteger(count) || count < 1 || count > REQUEST_IDS_MAX) {
    throw new WireError(`not a request for content (${frame.length} bytes, kind ${frame[0]})`)
  }
  return Array.from({ length: count }, (_, index) => frame.slice(1 + index * ID_BYTES, 1 + (index + 1) * ID_BYTES))
}

/** Fills in the head of a frame whose block of `length` bytes already stands behind it. */
export function sealReply(frame: Uint8Array, length: number): void {
  frame[0] = REPLY
  new DataView(frame.buffer, frame.byteOffset).setUint32(1, length, true)
}

/** Joins small blocks (undefined: not here) in one frame. */
export function encodeReply(blocks: readonly (Uint8Array | undefined)[]): Uint8Array {
  let length = 1
  for (const block of blocks) length += 4 + (block?.length ?? 0)
  const frame = new Uint8Array(length)
  const view = new DataView(frame.buffer)
  frame[0] = REPLY
  let at = 1
  for (const block of blocks) {
    view.setUint32(at, block?.length ?? MISSING, true)
    at += 4
    if (block === undefined) continue
    frame.set(block, at)
    at += block.length
  }
  return frame
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
