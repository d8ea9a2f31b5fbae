/** A scripted coordinator for tests of the client: owner streams in memory, and a clock that a test moves. */
import * as dagCbor from '@ipld/dag-cbor'
import { Answer, decodeRequest, type Request } from '#protocol/owner/messages'
import { type FrameStream, HostError, StreamError } from '#protocol/peer/host'

export class ManualClock {
  #nowMs = 1_000_000
  readonly #timers = new Set<{ readonly atMs: number; readonly call: () => void }>()

  nowMs(): number {
    return this.#nowMs
  }

  after(ms: number, call: () => void): () => void {
    const timer = { atMs: this.#nowMs + ms, call }
    this.#timers.add(timer)
    return () => this.#timers.delete(timer)
  }

  /** Moves on, calling what is due in order, with the work each call starts done before the next. */
  async advance(ms: number): Promise<void> {
    const end = this.#nowMs + ms
    for (;;) {
      await settled()
      const [next] = [...this.#timers].filter(({ atMs }) => atMs <= end).sort((a, b) => a.atMs - b.atMs)
      if (next === undefined) break
      this.#timers.delete(next)
      this.#nowMs = Math.max(this.#nowMs, next.atMs)
      next.call()
    }
    this.#nowMs = end
    await settled()
  }
}

/** Everything that needs no timer and no world is done. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** One owner stream as its coordinator sees it. */
export class FakeStream implements FrameStream {
  readonly remotePeer = 'project'
  readonly remoteAddress = '/memory'
  readonly requests: Request[] = []
  readonly #coordinator: FakeCoordinator
  readonly #gone = new AbortController()
  #queue: Uint8Array[] = []
  #wake = (): void => {}
  #closed = false

  constructor(coordinator: FakeCoordinator) {
    this.#coordinator = coordinator
  }

  get gone(): AbortSignal {
    return this.#gone.signal
  }

  async *frames(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      const frame = this.#queue.shift()
      if (frame !== undefined) yield frame
      else if (this.#gone.signal.aborted) throw new StreamError('reset', 'the stream was reset')
      else if (this.#closed) return
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve
        })
    }
  }

  async write(frame: Uint8Array): Promise<void> {
    if (this.#gone.signal.aborted || this.#closed) throw new StreamError('closed', 'the stream is closed')
    const request = decodeRequest(frame)
    if (request === undefined) throw new Error('the client sent what is not a request')
    this.requests.push(request)
    this.#coordinator.requested(request, this)
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#wake()
  }

  abort(): void {
    this.#queue = []
    this.#gone.abort(new StreamError('reset', 'the stream was reset'))
    this.#wake()
  }

  /** The coordinator answers. */
  answer(answer: {
    readonly id: number
    readonly end?: boolean
    readonly code?: string
    readonly message?: string
    readonly body?: unknown
    readonly data?: Uint8Array
  }): void {
    const { id, end = true, code, message, body, data } = answer
    this.raw(
      Answer.encode({
        id,
        end,
        ...(code === undefined ? {} : { code }),
        ...(message === undefined ? {} : { message }),
        ...(body === undefined ? {} : { body: dagCbor.encode(body) as Uint8Array<ArrayBuffer> }),
        ...(data === undefined ? {} : { data: data as Uint8Array<ArrayBuffer> })
      })
    )
  }

  raw(frame: Uint8Array): void {
    this.#queue.push(frame)
    this.#wake()
  }
}

/** Hands out streams and shows every request to the test's handler. */
export class FakeCoordinator {
  readonly streams: FakeStream[] = []
  /** Refuses connections while true. */
  down = false
  /** How often somebody tried to connect. */
  tries = 0
  handle: (request: Request, stream: FakeStream) => void = () => {}

  readonly open = async (): Promise<FrameStream> => {
    this.tries++
    if (this.down) throw new HostError('unreachable', 'nobody is there')
    const stream = new FakeStream(this)
    this.streams.push(stream)
    return stream
  }

  get last(): FakeStream {
    const stream = this.streams.at(-1)
    if (stream === undefined) throw new Error('no stream was opened')
    return stream
  }

  requested(request: Request, stream: FakeStream): void {
    // As over a network: never answered before the write has returned.
    queueMicrotask(() => this.handle(request, stream))
  }
}
