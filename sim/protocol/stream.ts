/** One end of a simulated stream of frames, as production reads and writes it. */

import type { PeerIdString } from '#protocol/ids'
import { type FrameListener, type FrameStream, StreamError } from '#protocol/peer/host'
import type { Process } from '../engine/process.ts'
import { Gone } from './gone.ts'
import type { UnrulyWay } from './unruly.ts'

/** As the real streams': more queued bytes make `write` wait, and still more reset the stream. */
const WRITE_WAIT_BYTES = 1024 * 1024
const WRITE_QUEUE_BYTES_MAX = 64 * 1024 * 1024
const LINGER_MS_MAX = 330_000

type Read = IteratorResult<Uint8Array, void>

/** The end of a connection that a stream belongs to. */
export interface StreamEnd {
  readonly process: Process
  readonly remotePeer: PeerIdString
  readonly remoteAddress: string
  send(deliver: () => void, bytes?: number): void
  /** Every frame as it is written. */
  wrote(frame: Uint8Array, protocol: string): void
  /** A frame has arrived at it. */
  arrived(frame: Uint8Array, protocol: string): void
  /** The stream is gone at this end. */
  gone(stream: SimStream): void
  /** The other side broke a protocol. */
  accuse?(what: string): void
}

/** What of a stream is over. */
class Ending {
  error: StreamError | undefined
  closedHere = false
  closedThere = false
  abandoned = false
}

const OPEN: Readonly<Ending> = new Ending()

export class SimStream implements FrameStream {
  /** The other end, once it is there. */
  peer: SimStream | undefined
  /** The one that was opened before it at the same end. */
  before: SimStream | undefined
  readonly protocol: string
  readonly #end: StreamEnd
  readonly #frameBytesMax: number
  readonly #way: UnrulyWay | undefined
  #gone: Gone | undefined
  /** Came, and were not read yet. */
  #frames: Uint8Array[] | undefined
  #reader: PromiseWithResolvers<Read> | undefined
  #listener: FrameListener | undefined
  /** The listener is not ready for more. */
  #busy = false
  #onWay = 0
  /** Writers that wait. */
  #waiting: (() => void)[] | undefined
  /** Undefined while nothing of it is over. */
  #ending: Ending | undefined

  /** `way`: what becomes of the frames that are written here, where they do not all come once and in order. */
  constructor(end: StreamEnd, frameBytesMax: number, { protocol = '', way }: { readonly protocol?: string; readonly way?: UnrulyWay | undefined } = {}) {
    this.#end = end
    this.protocol = protocol
    this.#frameBytesMax = frameBytesMax
    this.#way = way
  }

  get remotePeer(): PeerIdString {
    return this.#end.remotePeer
  }

  get remoteAddress(): string {
    return this.#end.remoteAddress
  }

  get gone(): AbortSignal {
    if (this.#gone === undefined) {
      this.#gone = new Gone()
      if (this.#error !== undefined) this.#gone.abort(this.#error)
    }
    return this.#gone
  }

  get isGone(): boolean {
    return this.#error !== undefined
  }

  get #state(): Readonly<Ending> {
    return this.#ending ?? OPEN
  }

  get #error(): StreamError | undefined {
    return this.#ending?.error
  }

  /** The same, to be changed. */
  get #over(): Ending {
    this.#ending ??= new Ending()
    return this.#ending
  }

  listen(listener: FrameListener): void {
    this.#listener = listener
    this.#handOver()
  }

  frames(): AsyncGenerator<Uint8Array, void, undefined> {
    return new Frames(this)
  }

  write(frame: Uint8Array): Promise<void> {
    if (!this.#end.process.alive) return new Promise(() => undefined)
    if (this.#error !== undefined || this.#state.closedHere)
      return Promise.reject(this.#error ?? new StreamError('closed', 'this side of the stream is closed'))
    if (frame.length > this.#frameBytesMax) return Promise.reject(new StreamError('frame_too_large', `a frame of ${frame.length} bytes`))
    this.#end.wrote(frame, this.protocol)
    this.#onWay += frame.length
    if (this.#onWay > WRITE_QUEUE_BYTES_MAX) {
      this.abort(new StreamError('reset', 'the peer does not read'))
      return Promise.reject(this.#error)
    }
    this.#end.send(() => {
      if (this.#way !== undefined) this.#way.pass(() => this.peer?.receive(frame))
      else if (this.peer !== undefined) {
        this.peer.receive(frame)
        return
      }
      this.#sent(frame)
    }, frame.length)
    if (this.#onWay < WRITE_WAIT_BYTES) return Promise.resolve()
    return new Promise((resolve) => {
      this.#waiting ??= []
      this.#waiting.push(resolve)
    })
  }

  /** It is no longer on its way: the reader has it, so more may follow. */
  #sent(frame: Uint8Array): void {
    this.#onWay -= frame.length
    if (this.#onWay < WRITE_WAIT_BYTES) this.#wake()
  }

  /** A frame that came is read here, or never will be. */
  #took(frame: Uint8Array): void {
    if (this.peer !== undefined && this.peer.#way === undefined) this.peer.#sent(frame)
  }

  close(): Promise<void> {
    if (!this.#state.closedHere && this.#error === undefined && this.#end.process.alive) {
      this.#over.closedHere = true
      this.#end.send(() => this.peer?.receiveEnd())
      if (this.#state.closedThere) this.fail(new StreamError('closed', 'both sides are closed'))
    }
    return Promise.resolve()
  }

  abort(error: Error): void {
    if (this.#error !== undefined || !this.#end.process.alive) return
    this.#end.send(() => this.peer?.receiveReset())
    this.fail(error instanceof StreamError ? error : new StreamError('reset', error.message, { cause: error }))
  }

  /** Its handler has ended, with an error when it failed: as the real host does it, our side is ended, and the peer's is not waited for without end. */
  served(error: unknown): void {
    if (error !== undefined) {
      this.abort(error instanceof Error ? error : new Error(String(error)))
      return
    }
    if (this.isGone) return
    this.#end.process.after(LINGER_MS_MAX, () => this.abort(new StreamError('closed', 'the peer did not end its side of the stream')))
    void this.close()
  }

  /** From the other end. */
  receive(frame: Uint8Array): void {
    const { process } = this.#end
    process.engine.foldBytes(frame)
    this.#end.arrived(frame, this.protocol)
    process.enter(() => {
      const waits = this.#reader === undefined && (this.#listener === undefined || this.#busy)
      if (this.#error === undefined && !this.#state.abandoned && frame.length <= this.#frameBytesMax && waits) {
        if (this.#frames === undefined) this.#frames = [frame]
        else this.#frames.push(frame)
        return
      }
      this.#took(frame)
      if (this.#error !== undefined || this.#state.abandoned) return
      if (frame.length > this.#frameBytesMax) {
        this.accuse('a frame is larger than its protocol allows')
        this.abort(new StreamError('frame_too_large', `a frame of ${frame.length} bytes`))
      } else if (this.#reader !== undefined) this.#answer({ done: false, value: frame })
      else if (this.#listener !== undefined) this.#give(this.#listener, frame)
    })
  }

  receiveEnd(): void {
    this.#end.process.enter(() => {
      this.#over.closedThere = true
      if (this.#frames === undefined) this.#answer({ done: true, value: undefined })
      if (this.#frames === undefined && !this.#busy) this.#tellOver(undefined)
      if (this.#state.closedHere) this.fail(new StreamError('closed', 'both sides are closed'))
    })
  }

  receiveReset(): void {
    this.#end.process.enter(() => this.fail(new StreamError('reset', 'the other side reset the stream')))
  }

  /** It is over at this end, whatever the other knows. */
  fail(error: StreamError): void {
    if (this.#error !== undefined) return
    this.#over.error = error
    this.#reader?.reject(error)
    this.#reader = undefined
    this.#fails()
    this.#wake()
    this.#gone?.abort(error)
    this.#end.gone(this)
  }

  /** The next frame; asked for one at a time. */
  read(): Promise<Read> {
    const frame = this.#next()
    if (frame !== undefined) return Promise.resolve({ done: false, value: frame })
    if (this.#state.closedThere) return Promise.resolve({ done: true, value: undefined })
    if (this.#error !== undefined) return Promise.reject(this.#error)
    this.#reader = Promise.withResolvers()
    return this.#reader.promise
  }

  /** The first of those that came and were not read yet. */
  #next(): Uint8Array | undefined {
    const frame = this.#frames?.shift()
    if (this.#frames?.length === 0) this.#frames = undefined
    if (frame !== undefined) this.#took(frame)
    return frame
  }

  /** Nobody reads any more. */
  abandon(): void {
    this.#over.abandoned = true
    for (const frame of this.#frames ?? []) this.#took(frame)
    this.#frames = undefined
  }

  accuse(what: string): void {
    this.#end.accuse?.(what)
  }

  /** What has come already, as long as the listener is ready for it. */
  #handOver(): void {
    while (this.#listener !== undefined && !this.#busy) {
      const frame = this.#next()
      if (frame !== undefined) this.#give(this.#listener, frame)
      else if (this.#state.closedThere || this.#error !== undefined) this.#tellOver(this.#error)
      else return
    }
  }

  #give(listener: FrameListener, frame: Uint8Array): void {
    try {
      const busy = listener.frame(frame)
      if (busy === undefined) return
      this.#busy = true
      busy.then(
        () => {
          this.#busy = false
          this.#handOver()
        },
        (error: unknown) => this.#tellOver(error)
      )
    } catch (error) {
      this.#tellOver(error)
    }
  }

  /** Frames that came before are handed over first, as a reader would get them. */
  #fails(): void {
    if (this.#listener === undefined || this.#busy || this.#frames !== undefined) return
    // As a promise that is rejected: after what the caller does now.
    queueMicrotask(() => this.#tellOver(this.#error))
  }

  #tellOver(error: unknown): void {
    const listener = this.#listener
    this.#listener = undefined
    if (listener === undefined) return
    this.abandon()
    listener.over(error)
  }

  #answer(read: Read): void {
    const reader = this.#reader
    this.#reader = undefined
    reader?.resolve(read)
  }

  #wake(): void {
    const waiting = this.#waiting ?? []
    this.#waiting = undefined
    for (const resolve of waiting) this.#end.process.enter(resolve)
  }
}

/** What an async generator function would give, at a fifth of its promises. */
class Frames implements AsyncGenerator<Uint8Array, void, undefined> {
  readonly #stream: SimStream

  constructor(stream: SimStream) {
    this.#stream = stream
  }

  next(): Promise<Read> {
    return this.#stream.read()
  }

  return(): Promise<Read> {
    this.#stream.abandon()
    return Promise.resolve({ done: true, value: undefined })
  }

  throw(error: unknown): Promise<Read> {
    this.#stream.abandon()
    return Promise.reject(error)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stream.abandon()
  }
}
