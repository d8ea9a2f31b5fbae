/** What a run prints, written to `stdout` and `stderr` as it arrives. A slow disk slows the task, never fills memory. */
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { Demux, type LogPiece } from '../../sandbox/demux.ts'

/** The engine's log does not begin with what the files hold: some of it was thrown away meanwhile. */
export class OutputGap extends Error {
  override readonly name = 'OutputGap'
}

interface Target {
  readonly file: FileHandle
  bytes: number
  /** What the next log bytes must equal, because it was written before the node's restart. */
  known: number
  matched: number
}

export class OutputFiles {
  readonly #targets: Readonly<Record<LogPiece['stream'], Target>>
  readonly #bytesMax: number
  #full = false

  private constructor(stdout: Target, stderr: Target, bytesMax: number) {
    this.#targets = { stdout, stderr }
    this.#bytesMax = bytesMax
  }

  /** Opens `stdout` and `stderr` in the replica's folder; `fresh` empties them. */
  static async open(folder: string, bytesMax: number, fresh: boolean): Promise<OutputFiles> {
    const target = async (name: string): Promise<Target> => {
      const file = await open(join(folder, name), fresh ? 'w' : 'a+', 0o600)
      const bytes = fresh ? 0 : (await file.stat()).size
      return { file, bytes, known: bytes, matched: 0 }
    }
    return new OutputFiles(await target('stdout'), await target('stderr'), bytesMax)
  }

  get bytes(): number {
    return this.#targets.stdout.bytes + this.#targets.stderr.bytes
  }

  /** True once something did not fit. */
  get full(): boolean {
    return this.#full
  }

  /** When the files were last written, in milliseconds. */
  async writtenAtMs(): Promise<number> {
    const times = await Promise.all(Object.values(this.#targets).map(async ({ file }) => (await file.stat()).mtimeMs))
    return Math.max(...times)
  }

  /**
   * Writes a multiplexed stream to its end, or until the files hold `bytesMax` bytes (`over`). With `replay` the stream is
   * the engine's log from its begin, and what the files hold already is compared and skipped; throws OutputGap when it differs.
   */
  async consume(stream: AsyncIterable<Uint8Array>, replay = false): Promise<'end' | 'over'> {
    for (const target of Object.values(this.#targets)) {
      target.known = replay ? target.bytes : 0
      target.matched = 0
    }
    const demux = new Demux()
    for await (const chunk of stream) {
      for (const { stream: name, bytes } of demux.push(chunk)) await this.#write(this.#targets[name], bytes)
      if (this.full) return 'over'
    }
    return 'end'
  }

  async #write(target: Target, piece: Uint8Array): Promise<void> {
    let bytes = piece
    if (target.matched < target.known) {
      const same = Math.min(bytes.length, target.known - target.matched)
      const { buffer, bytesRead } = await target.file.read(Buffer.alloc(same), 0, same, target.matched)
      if (bytesRead !== same || buffer.compare(bytes, 0, same) !== 0) throw new OutputGap('the log no longer holds the begin of the output')
      target.matched += same
      bytes = bytes.subarray(same)
    }
    const room = Math.max(0, this.#bytesMax - this.bytes)
    if (bytes.length > room) {
      this.#full = true
      bytes = bytes.subarray(0, room)
    }
    for (let at = 0; at < bytes.length; ) {
      const { bytesWritten } = await target.file.write(bytes, at)
      at += bytesWritten
      target.bytes += bytesWritten
    }
  }

  async append(name: LogPiece['stream'], text: string): Promise<void> {
    await this.#write(this.#targets[name], Buffer.from(text))
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.#targets).map(({ file }) => file.close()))
  }
}
