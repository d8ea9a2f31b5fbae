/**
 * Length-prefixed frames out of a byte stream, whatever pieces it arrives in: an unsigned varint (shortest form), then so
 * many bytes. What comes in is hostile: nothing is allocated for a frame before its length was found to be allowed, and a
 * frame that trickles in costs memory in proportion to what has arrived.
 */
import { StreamError } from '../peer/host.ts'

/** Lengths up to 2^28 - 1 take at most four bytes; more bytes than this is no length of ours. */
const LENGTH_BYTES_MAX = 4
export const FRAME_BYTES_LIMIT = 2 ** 28 - 1
/** A frame's buffer starts no larger than this, and becomes as large as announced once so much of it has arrived. */
const FIRST_BYTES = 64 * 1024

/** Pieces below this size that must wait are copied together, so that a sender of single bytes does not cost an object for each. */
const PIECE_BYTES_MIN = 1024
const JOINED_BYTES = 16 * 1024

export interface FrameDecoder {
  /** Takes the next piece. The decoder may keep a reference, so its bytes must not change. */
  push(chunk: Uint8Array): void
  /**
   * The next whole frame, undefined when more bytes are needed. A frame that lies within one piece is a view of it: copy
   * what is kept long. Throws StreamError `frame_too_large` or `malformed`, from then on always.
   */
  next(): Uint8Array | undefined
  /** Bytes taken in that `next` has not looked at yet. */
  readonly bytesAhead: number
  /** True when every byte taken in belongs to a frame that was given out. */
  readonly atBoundary: boolean
}

/** `frameBytesMax`: longer frames are refused, at most FRAME_BYTES_LIMIT. */
export function frameDecoder(frameBytesMax: number): FrameDecoder {
  if (!Number.isSafeInteger(frameBytesMax) || frameBytesMax < 0 || frameBytesMax > FRAME_BYTES_LIMIT)
    throw new RangeError(`a frame limit is a whole number up to ${FRAME_BYTES_LIMIT}, got ${frameBytesMax}`)
  let chunks: Uint8Array[] = []
  let first = 0
  let offset = 0
  let bytesAhead = 0
  let length = 0
  let lengthBytes = 0
  let hasLength = false
  let partial: Uint8Array | undefined
  let filled = 0
  let failure: StreamError | undefined
  /** The last chunk when it is one of ours, and how much of it is filled. */
  let joined: Uint8Array | undefined
  let joinedBytes = 0

  const fail = (error: StreamError): never => {
    failure = error
    chunks = []
    first = 0
    bytesAhead = 0
    partial = undefined
    joined = undefined
    throw error
  }

  const drop = (bytes: number): void => {
    offset += bytes
    bytesAhead -= bytes
    if (offset < (chunks[first] as Uint8Array).length) return
    offset = 0
    first += 1
    if (first === chunks.length) joined = undefined
    if (first < 64 && first < chunks.length) return
    chunks = chunks.slice(first)
    first = 0
  }

  const readLength = (): boolean => {
    while (bytesAhead > 0) {
      const byte = (chunks[first] as Uint8Array)[offset] as number
      drop(1)
      length += (byte & 127) * 2 ** (7 * lengthBytes)
      lengthBytes += 1
      if (length > frameBytesMax)
        fail(new StreamError('frame_too_large', `the peer announced a frame of at least ${length} bytes, at most ${frameBytesMax} are allowed`))
      if (byte < 128) {
        if (byte === 0 && lengthBytes > 1) fail(new StreamError('malformed', "a frame's length is not in its shortest form"))
        return true
      }
      if (lengthBytes === LENGTH_BYTES_MAX) fail(new StreamError('malformed', `a frame's length has more than ${LENGTH_BYTES_MAX} bytes`))
    }
    return false
  }

  const finish = (frame: Uint8Array): Uint8Array => {
    length = 0
    lengthBytes = 0
    hasLength = false
    partial = undefined
    filled = 0
    return frame
  }

  return {
    push: (chunk) => {
      if (failure !== undefined || chunk.length === 0) return
      bytesAhead += chunk.length
      if (chunk.length >= PIECE_BYTES_MIN || chunks.length === 0) {
        chunks.push(chunk)
        joined = undefined
        return
      }
      if (joined === undefined || joinedBytes + chunk.length > joined.length) {
        joined = new Uint8Array(JOINED_BYTES)
        joinedBytes = 0
        chunks.push(chunk)
      }
      joined.set(chunk, joinedBytes)
      joinedBytes += chunk.length
      chunks[chunks.length - 1] = joined.subarray(0, joinedBytes)
    },
    next: () => {
      if (failure !== undefined) throw failure
      if (!hasLength) {
        hasLength = readLength()
        if (!hasLength) return undefined
      }
      if (length === 0) return finish(new Uint8Array(0))
      const chunk = chunks[first]
      if (chunk === undefined) return undefined
      if (partial === undefined && chunk.length - offset >= length) {
        const frame = new Uint8Array(chunk.buffer, chunk.byteOffset + offset, length)
        drop(length)
        return finish(frame)
      }
      partial ??= buffer(Math.min(length, FIRST_BYTES))
      while (filled < length && bytesAhead > 0) {
        if (filled === partial.length) {
          const whole = buffer(length)
          whole.set(partial)
          partial = whole
        }
        const from = chunks[first] as Uint8Array
        const take = Math.min(from.length - offset, partial.length - filled)
        partial.set(from.subarray(offset, offset + take), filled)
        filled += take
        drop(take)
      }
      return filled === length ? finish(partial) : undefined
    },
    get bytesAhead() {
      return bytesAhead
    },
    get atBoundary() {
      return bytesAhead === 0 && lengthBytes === 0
    }
  }
}

/** The prefix of a frame of so many bytes. */
export function frameLength(bytes: number): Uint8Array {
  const prefix: number[] = []
  let rest = bytes
  while (rest > 127) {
    prefix.push((rest & 127) | 128)
    rest >>>= 7
  }
  prefix.push(rest)
  return Uint8Array.from(prefix)
}

/** Not cleared, because every byte is written before the frame is given out; a plain Uint8Array, so that `slice` copies. */
function buffer(bytes: number): Uint8Array {
  return new Uint8Array(Buffer.allocUnsafeSlow(bytes).buffer)
}
