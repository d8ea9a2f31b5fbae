/** What the project said last, kept beside the node's settings for when nobody can be asked: its signed record, and whom to ask for a newer one. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from '#protocol/content/live/durable'

export class RecordFile {
  readonly #path: string
  #bytes: Uint8Array | undefined
  #writing: Promise<void> = Promise.resolve()

  private constructor(path: string, bytes: Uint8Array | undefined) {
    this.#path = path
    this.#bytes = bytes
  }

  /** One that cannot be read, or is longer than it may be, is as good as none. */
  static async open(dir: string, file: string, bytesMax: number): Promise<RecordFile> {
    const path = join(dir, file)
    const bytes = await readFile(path).catch(() => undefined)
    return new RecordFile(path, bytes === undefined || bytes.length > bytesMax ? undefined : new Uint8Array(bytes))
  }

  get bytes(): Uint8Array | undefined {
    return this.#bytes
  }

  /** What cannot be written is only kept in memory. */
  keep(bytes: Uint8Array): void {
    this.#bytes = bytes
    this.#writing = this.#writing.then(() => writeDurably(this.#path, bytes, 0o666)).catch(() => undefined)
  }

  /** Resolves when the last one is written. */
  close(): Promise<void> {
    return this.#writing
  }
}
