/**
 * A thread beside the store's that hashes and writes what arrives, while the store's decrypts the next: bytes are handed over
 * without a copy where they stand alone in their memory. It is started at the first use.
 */
import { Worker } from 'node:worker_threads'
import type { BlockId } from '../hash.ts'
import { type Answer, MARK_FIELDS, type Order, SPAN_FIELDS } from './aside-order.ts'
import { asContentError } from './index.ts'

/** Bytes to be written if they are what the id says: a new file, or a leaf of one that is open. */
export type Write = { readonly id: BlockId; readonly data: Uint8Array; readonly path: string } & (
  | { readonly kind: 'file' }
  | { readonly kind: 'leaf'; readonly fd: number; readonly offset: number }
)

/** `false` for bytes that are not what their id says: nothing was written of them. */
export type Written = false | { readonly size: number; readonly mtimeMs: number; readonly ino: number }

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
    let ids = ''
    for (const [index, write] of writes.entries()) {
      const { data } = write
      const at = index * SPAN_FIELDS
      spans[at] = data.byteOffset - frame.byteOffset
      spans[at + 1] = data.length
      spans[at + 2] = write.kind === 'leaf' ? write.fd : -1
      spans[at + 3] = write.kind === 'leaf' ? write.offset : 0
      ids += write.id
    }
    const own = ownMemory(frame)
    const paths = writes.map(({ path }) => path)
    const order: Order = { number: this.#next++, mode, resume, frame: own, spans, ids, paths: paths.join('\0') }
    const worker = this.#start()
    return new Promise((resolve, reject) => {
      this.#waiting.set(order.number, { resolve, reject, paths })
      worker.ref()
      worker.postMessage(order, [own.buffer, spans.buffer])
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

/** The frame, if it is all of its memory; else memory that it shares with others stays here, and the frame is copied. */
function ownMemory(frame: Uint8Array): Uint8Array<ArrayBuffer> {
  const { buffer, byteLength } = frame
  return buffer instanceof ArrayBuffer && buffer.byteLength === byteLength ? new Uint8Array(buffer) : new Uint8Array(frame)
}

function writtenOf(marks: Float64Array): Written[] {
  return Array.from({ length: marks.length / MARK_FIELDS }, (_, index) => {
    const at = index * MARK_FIELDS
    return marks[at] === 1 && { size: marks[at + 1] ?? 0, mtimeMs: marks[at + 2] ?? 0, ino: marks[at + 3] ?? 0 }
  })
}
