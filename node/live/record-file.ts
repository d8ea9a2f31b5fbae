/** The project's last signed record, kept beside the node's settings: where the project was, for when nobody can be asked. */
import { readFile, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { RECORD_BYTES_MAX } from '#protocol/record/record'

const FILE = 'project.record'

export class RecordFile {
  readonly #path: string
  #bytes: Uint8Array | undefined
  #writing: Promise<void> = Promise.resolve()

  private constructor(path: string, bytes: Uint8Array | undefined) {
    this.#path = path
    this.#bytes = bytes
  }

  /** One that cannot be read is as good as none. */
  static async open(dir: string): Promise<RecordFile> {
    const path = join(dir, FILE)
    const bytes = await readFile(path).catch(() => undefined)
    return new RecordFile(path, bytes === undefined || bytes.length > RECORD_BYTES_MAX ? undefined : new Uint8Array(bytes))
  }

  get bytes(): Uint8Array | undefined {
    return this.#bytes
  }

  /** What cannot be written is only kept in memory. */
  keep(bytes: Uint8Array): void {
    this.#bytes = bytes
    this.#writing = this.#writing
      .then(() => writeFile(`${this.#path}.part`, bytes))
      .then(() => rename(`${this.#path}.part`, this.#path))
      .catch(() => undefined)
  }

  /** Resolves when the last one is written. */
  close(): Promise<void> {
    return this.#writing
  }
}
