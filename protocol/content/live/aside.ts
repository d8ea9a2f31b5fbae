/**
 * A thread beside the store's that hashes and writes what arrives, while the store's decrypts the next: bytes are handed over
 * without a copy where they stand alone in their memory. It is started at the first use.
 */
import { Worker } from 'node:worker_threads'
import { asContentError } from './index.ts'

/** Bytes to be written if they are what the digest says: a new file, or a leaf of one that is open. */
export type Write = { readonly digest: Uint8Array; readonly data: Uint8Array; readonly path: string } & (
  | { readonly kind: 'file' }
  | { readonly kind: 'leaf'; readonly fd: number; readonly offset: number }
)

/** What the thread is told; the answer carries the same number. A few large values instead of many small ones: each costs microseconds to hand over. */
export interface Order {
  readonly number: number
  /** Of new files. */
  readonly mode: number
  readonly resume: boolean
  /** Where all the bytes stand. */
  readonly frame: Uint8Array
  /** For each write: where its bytes begin in `frame` and how many they are; descriptor (-1: a new file) and offset in its file. */
  readonly spans: Float64Array<ArrayBuffer>
  /** 32 bytes for each write. */
  readonly digests: Uint8Array<ArrayBuffer>
  /** Of all writes, with NUL between them, which no path contains. */
  readonly paths: string
}

export const SPAN_FIELDS = 4
/** Of each write in an answer: 1 when it was right and is written, then size, time and inode of a new file. */
export const MARK_FIELDS = 4

/** `false` for bytes that are not what their digest says: nothing was written of them. */
export type Written = false | { readonly size: number; readonly mtimeMs: number; readonly ino: number }

export type Answer =
  | { readonly kind: 'written'; readonly number: number; readonly marks: Float64Array<ArrayBuffer> }
  | {
      readonly kind: 'failed'
      readonly number: number
      readonly index: number
      readonly code: string | undefined
      readonly syscall: string | undefined
      readonly message: string
    }

interface Waiting {
  readonly resolve: (files: readonly Written[]) => void
  readonly reject: (error: Error) => void
  readonly paths: readonly string[]
}

/** A failed system call of the thread, as it would have been here, with the path it was about. */
export class AsideError extends Error {
  override readonly name = 'AsideError'
  readonly code: string | undefined
  readonly syscall: string | undefined
  readonly path: string
  constructor(answer: Extract<Answer, { kind: 'failed' }>, path: string) {
    super(answer.message)
    this.code = answer.code
    this.syscall = answer.syscall
    this.path = path
  }
}

export class Aside {
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #next = 0

  /** Writes what is right, in order, and says which was; the bytes, which stand in `frame`, must not be used afterwards. */
  write({ mode, resume, writes }: { mode: number; resume: boolean; writes: readonly Write[] }, frame: Uint8Array): Promise<readonly Written[]> {
    const spans = new Float64Array(writes.length * SPAN_FIELDS)
    const digests = new Uint8Array(writes.length * 32)
    for (const [index, write] of writes.entries()) {
      const { data } = write
      const place = write.kind === 'leaf' ? [write.fd, write.offset] : [-1, 0]
      spans.set([data.byteOffset - frame.byteOffset, data.length, ...place], index * SPAN_FIELDS)
      digests.set(write.digest, index * 32)
    }
    // memory that holds more than this frame stays here, and the frame is copied
    const own = frame.byteOffset === 0 && frame.byteLength === frame.buffer.byteLength ? frame : frame.slice()
    const paths = writes.map(({ path }) => path)
    const order: Order = { number: this.#next++, mode, resume, frame: own, spans, digests, paths: paths.join('\0') }
    const worker = this.#start()
    return new Promise((resolve, reject) => {
      this.#waiting.set(order.number, { resolve, reject, paths })
      worker.ref()
      worker.postMessage(order, [own.buffer as ArrayBuffer, spans.buffer, digests.buffer])
    })
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
  }

  #start(): Worker {
    if (this.#worker !== undefined) return this.#worker
    const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js'
    const worker = new Worker(new URL(`./aside-thread.${extension}`, import.meta.url))
    worker.unref()
    worker.on('message', (answer: Answer) => this.#answered(answer))
    worker.on('error', (error) => this.#failed(error))
    worker.on('exit', () => this.#failed(new Error('the thread that writes has ended')))
    this.#worker = worker
    return worker
  }

  #answered(answer: Answer): void {
    const waiting = this.#waiting.get(answer.number)
    this.#waiting.delete(answer.number)
    if (this.#waiting.size === 0) this.#worker?.unref()
    if (answer.kind === 'written') waiting?.resolve(writtenOf(answer.marks))
    else waiting?.reject(new AsideError(answer, waiting.paths[answer.index] ?? ''))
  }

  #failed(error: unknown): void {
    this.#worker = undefined
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of waiting) reject(asContentError(error, 'the store'))
  }
}

function writtenOf(marks: Float64Array): Written[] {
  return Array.from({ length: marks.length / MARK_FIELDS }, (_, index) => {
    const [right, size = 0, mtimeMs = 0, ino = 0] = marks.subarray(index * MARK_FIELDS, (index + 1) * MARK_FIELDS)
    return right === 1 && { size, mtimeMs, ino }
  })
}
