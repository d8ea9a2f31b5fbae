/**
 * A thread beside the store's that hashes and writes what arrives, while the store's decrypts the next: bytes are handed over
 * without a copy where they stand alone in their memory. It is started at the first use.
 */
import { Worker } from 'node:worker_threads'
import { asContentError } from './index.ts'

/** Bytes to be written if they are what the digest says: a new file, or a leaf of one that is open. */
export type Write = { readonly data: Uint8Array } & (
  | { readonly kind: 'file'; readonly path: string }
  | { readonly kind: 'leaf'; readonly path: string; readonly fd: number; readonly offset: number }
)

/** What the thread is told; the answer carries the same number. */
export interface Order {
  readonly number: number
  /** Of new files. */
  readonly mode: number
  readonly resume: boolean
  readonly writes: readonly Write[]
  /** 32 bytes for each of them; together, because a view takes all of its memory along. */
  readonly digests: Uint8Array
}

/** `false` for bytes that are not what their digest says: nothing was written of them. */
export type Written = false | { readonly size: number; readonly mtimeMs: number; readonly ino: number }

export type Answer =
  | { readonly kind: 'written'; readonly number: number; readonly files: readonly Written[] }
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
  write(order: Omit<Order, 'number'>, frame: Uint8Array): Promise<readonly Written[]> {
    const number = this.#next++
    const worker = this.#start()
    // memory that holds more than this frame stays here, and is copied
    const transfer = frame.byteOffset === 0 && frame.byteLength === frame.buffer.byteLength ? [frame.buffer as ArrayBuffer] : []
    return new Promise((resolve, reject) => {
      this.#waiting.set(number, { resolve, reject, paths: order.writes.map(({ path }) => path) })
      worker.ref()
      worker.postMessage({ number, ...order } satisfies Order, transfer)
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
    if (answer.kind === 'written') waiting?.resolve(answer.files)
    else waiting?.reject(new AsideError(answer, waiting.paths[answer.index] ?? ''))
  }

  #failed(error: unknown): void {
    this.#worker = undefined
    const waiting = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { reject } of waiting) reject(asContentError(error, 'the store'))
  }
}
