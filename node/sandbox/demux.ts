/**
 * Docker's multiplexed log stream: frames of an 8-byte header (stream, 0, 0, 0, length big-endian) and data. Nothing is
 * joined or held back: what arrived of a frame is passed on at once, so memory is the chunk itself and the reader's pace is
 * the task's (the library's own demultiplexer grew to 1.1 GB in 3 s behind a slow reader).
 */
export interface LogPiece {
  readonly stream: 'stdout' | 'stderr'
  readonly bytes: Uint8Array
}

const HEADER_BYTES = 8

/** The bytes are no multiplexed log stream. */
export class DemuxError extends Error {
  override readonly name = 'DemuxError'
}

export class Demux {
  readonly #header = new Uint8Array(HEADER_BYTES)
  #headerBytes = 0
  #stream: LogPiece['stream'] = 'stdout'
  #left = 0

  /** The pieces in a chunk, in order; they are views of it. Throws DemuxError. */
  push(chunk: Uint8Array): LogPiece[] {
    const pieces: LogPiece[] = []
    let at = 0
    while (at < chunk.length) {
      if (this.#left > 0) {
        const step = Math.min(this.#left, chunk.length - at)
        pieces.push({ stream: this.#stream, bytes: chunk.subarray(at, at + step) })
        this.#left -= step
        at += step
        continue
      }
      const step = Math.min(HEADER_BYTES - this.#headerBytes, chunk.length - at)
      this.#header.set(chunk.subarray(at, at + step), this.#headerBytes)
      this.#headerBytes += step
      at += step
      if (this.#headerBytes === HEADER_BYTES) this.#frame()
    }
    return pieces
  }

  #frame(): void {
    const [stream = 0, a = 0, b = 0, c = 0] = this.#header
    if (stream > 2 || (a | b | c) !== 0) throw new DemuxError('the engine sent something else than a multiplexed log')
    this.#headerBytes = 0
    this.#stream = stream === 2 ? 'stderr' : 'stdout'
    this.#left = new DataView(this.#header.buffer).getUint32(4)
  }
}
