/** One end of a simulated stream of frames, as production reads and writes it. */

import type { PeerIdString } from '#protocol/ids'
import { type FrameStream, StreamError } from '#protocol/peer/host'
import type { Process } from '../engine/process.ts'
import type { Lane } from './lane.ts'

/** As the real streams': more queued bytes make `write` wait, and still more reset the stream. */
const WRITE_WAIT_BYTES = 1024 * 1024
const WRITE_QUEUE_BYTES_MAX = 64 * 1024 * 1024

type Read = IteratorResult<Uint8Array, void>

export interface StreamWorld {
  readonly process: Process
  readonly lane: Lane
  readonly remotePeer: PeerIdString
  readonly frameBytesMax: number
  /** Every frame as it is written: for those who watch. */
  readonly onWrite: (frame: Uint8Array) => void
  /** It is gone at this end. */
  readonly onGone: () => void
}

export class SimStream implements FrameStream {
  readonly remotePeer: PeerIdString
  readonly remoteAddress: string
  /** The other end, once it is there. */
  peer: SimStream | undefined
  readonly #world: StreamWorld
  readonly #gone = new AbortController()
  readonly #frames: Uint8Array[] = []
  #reader: { resolve(read: Read): void; reject(error: unknown): void } | undefined
  #onWay = 0
  #waiting: (() => void)[] = []
  #error: StreamError | undefined
  #closedHere = false
  #closedThere = false
  #abandoned = false

  constructor(world: StreamWorld) {
    this.#world = world
    this.remotePeer = world.remotePeer
    this.remoteAddress = `/sim/${world.remotePeer}`
  }

  get gone(): AbortSignal {
    return this.#gone.signal
  }

  get isGone(): boolean {
    return this.#gone.signal.aborted
  }

  frames(): AsyncGenerator<Uint8Array, void, undefined> {
    return new Frames(
      () => this.#read(),
      () => {
        this.#abandoned = true
        this.#frames.length = 0
      }
    )
  }

  write(frame: Uint8Array): Promise<void> {
    if (!this.#world.process.alive) return new Promise(() => undefined)
    if (this.#error !== undefined || this.#closedHere) return Promise.reject(this.#error ?? new StreamError('closed', 'this side of the stream is closed'))
    if (frame.length > this.#world.frameBytesMax) return Promise.reject(new StreamError('frame_too_large', `a frame of ${frame.length} bytes`))
    this.#world.onWrite(frame)
    this.#onWay += frame.length
    if (this.#onWay > WRITE_QUEUE_BYTES_MAX) {
      this.abort(new StreamError('reset', 'the peer does not read'))
      return Promise.reject(this.#error)
    }
    this.#world.lane.send(() => {
      this.peer?.receive(frame)
      this.#onWay -= frame.length
      if (this.#onWay < WRITE_WAIT_BYTES && this.#waiting.length > 0) this.#wake()
    })
    if (this.#onWay < WRITE_WAIT_BYTES) return Promise.resolve()
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  close(): Promise<void> {
    if (!this.#closedHere && this.#error === undefined && this.#world.process.alive) {
      this.#closedHere = true
      this.#world.lane.send(() => this.peer?.receiveEnd())
      if (this.#closedThere) this.fail(new StreamError('closed', 'both sides are closed'))
    }
    return Promise.resolve()
  }

  abort(error: Error): void {
    if (this.#error !== undefined || !this.#world.process.alive) return
    this.#world.lane.send(() => this.peer?.receiveReset())
    this.fail(error instanceof StreamError ? error : new StreamError('reset', error.message, { cause: error }))
  }

  /** From the other end. */
  receive(frame: Uint8Array): void {
    const { process } = this.#world
    process.engine.foldBytes(frame)
    process.enter(() => {
      if (this.#error !== undefined || this.#abandoned) return
      if (frame.length > this.#world.frameBytesMax) this.abort(new StreamError('frame_too_large', `a frame of ${frame.length} bytes`))
      else if (this.#reader === undefined) this.#frames.push(frame)
      else this.#answer({ done: false, value: frame })
    })
  }

  receiveEnd(): void {
    this.#world.process.enter(() => {
      this.#closedThere = true
      if (this.#frames.length === 0) this.#answer({ done: true, value: undefined })
      if (this.#closedHere) this.fail(new StreamError('closed', 'both sides are closed'))
    })
  }

  receiveReset(): void {
    this.#world.process.enter(() => this.fail(new StreamError('reset', 'the other side reset the stream')))
  }

  /** It is over at this end, whatever the other knows. */
  fail(error: StreamError): void {
    if (this.#error !== undefined) return
    this.#error = error
    this.#reader?.reject(error)
    this.#reader = undefined
    this.#wake()
    this.#gone.abort(error)
    this.#world.onGone()
  }

  #read(): Promise<Read> {
    const frame = this.#frames.shift()
    if (frame !== undefined) return Promise.resolve({ done: false, value: frame })
    if (this.#closedThere) return Promise.resolve({ done: true, value: undefined })
    if (this.#error !== undefined) return Promise.reject(this.#error)
    return new Promise((resolve, reject) => {
      this.#reader = { resolve, reject }
    })
  }

  #answer(read: Read): void {
    const reader = this.#reader
    this.#reader = undefined
    reader?.resolve(read)
  }

  #wake(): void {
    for (const resolve of this.#waiting.splice(0)) this.#world.process.enter(resolve)
  }
}

/** What an async generator function would give, at a fifth of its promises. */
class Frames implements AsyncGenerator<Uint8Array, void, undefined> {
  readonly #read: () => Promise<Read>
  readonly #left: () => void

  constructor(read: () => Promise<Read>, left: () => void) {
    this.#read = read
    this.#left = left
  }

  next(): Promise<Read> {
    return this.#read()
  }

  return(): Promise<Read> {
    this.#left()
    return Promise.resolve({ done: true, value: undefined })
  }

  throw(error: unknown): Promise<Read> {
    this.#left()
    return Promise.reject(error)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#left()
  }
}
