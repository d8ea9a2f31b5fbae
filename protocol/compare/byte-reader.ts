/** Bytes that come in chunks, read in portions. */

const NOTHING = new Uint8Array(0)

export class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>
  #left: Uint8Array = NOTHING
  #ended = false

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** The next `count` bytes; fewer only at the end. Its memory is `count` and one chunk. */
  async take(count: number): Promise<Uint8Array> {
    const parts: Uint8Array[] = []
    let missing = count
    while (missing > 0 && (this.#left.length > 0 || (await this.#more()))) {
      const part = this.#left.subarray(0, missing)
      this.#left = this.#left.subarray(part.length)
      missing -= part.length
      parts.push(part)
    }
    const [only = NOTHING] = parts
    return parts.length > 1 ? Buffer.concat(parts) : only
  }

  /** Nothing more is read. */
  async end(): Promise<void> {
    this.#ended = true
    this.#left = NOTHING
    await this.#chunks.return?.()
  }

  async #more(): Promise<boolean> {
    while (!this.#ended && this.#left.length === 0) {
      const { done, value } = await this.#chunks.next()
      if (done === true) this.#ended = true
      else this.#left = value
    }
    return this.#left.length > 0
  }
}
