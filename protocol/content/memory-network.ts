/** Hosts in one process, for tests: streams are queues of frames with back-pressure, and a test can cut, count, hold or change what passes. */
import type { PeerIdString } from '../ids.ts'
import { type FrameStream, type Host, HostError, StreamError, type StreamOptions } from '../peer/host.ts'

/** Bytes that wait in one direction before `write` waits. */
const QUEUE_BYTES = 1024 * 1024

/** Sees each frame that `from` sends; what it answers is delivered instead. It may wait, and may throw to reset the stream. */
export type Passing = (frame: Uint8Array, from: PeerIdString) => Uint8Array | Promise<Uint8Array>

export class MemoryNetwork {
  readonly #hosts = new Map<PeerIdString, MemoryHost>()
  passing: Passing = (frame) => frame
  streamsOpened = 0

  host(peerId: PeerIdString): MemoryHost {
    const host = new MemoryHost(peerId, this)
    this.#hosts.set(peerId, host)
    return host
  }

  find(peer: PeerIdString): MemoryHost | undefined {
    return this.#hosts.get(peer)
  }
}

interface Handler {
  readonly options: StreamOptions
  readonly handler: (stream: FrameStream) => Promise<void>
}

export class MemoryHost implements Host {
  readonly peerId: PeerIdString
  readonly handlers = new Map<string, Handler>()
  readonly #network: MemoryNetwork

  constructor(peerId: PeerIdString, network: MemoryNetwork) {
    this.peerId = peerId
    this.#network = network
  }

  addresses(): string[] {
    return []
  }

  async handle(protocol: string, options: StreamOptions, handler: (stream: FrameStream) => Promise<void>): Promise<void> {
    this.handlers.set(protocol, { options, handler })
  }

  async connect(): Promise<void> {}

  isConnected(peer: PeerIdString): boolean {
    return this.#network.find(peer) !== undefined
  }

  async open(peer: PeerIdString, protocol: string, options: StreamOptions, signal?: AbortSignal): Promise<FrameStream> {
    signal?.throwIfAborted()
    const far = this.#network.find(peer)
    if (far === undefined) throw new HostError('not_connected', `not connected to ${peer}`)
    const served = far.handlers.get(protocol)
    if (served === undefined) throw new HostError('protocol_unsupported', `${peer} does not speak ${protocol}`)
    this.#network.streamsOpened++
    const gone = new AbortController()
    const there = new Pipe(served.options.frameBytesMax, gone)
    const back = new Pipe(options.frameBytesMax, gone)
    const pass = this.#network
    const serving = served.handler(end(there, back, this.peerId, (frame) => pass.passing(frame, peer), gone))
    serving.catch((error: unknown) => gone.abort(error))
    return end(back, there, peer, (frame) => pass.passing(frame, this.peerId), gone)
  }

  async disconnect(): Promise<void> {}

  async publishRecord(): Promise<void> {
    throw new HostError('dht_unavailable', 'there is no DHT in memory')
  }

  async findRecord(): Promise<Uint8Array | undefined> {
    throw new HostError('dht_unavailable', 'there is no DHT in memory')
  }

  async stop(): Promise<void> {
    this.handlers.clear()
  }
}

class Pipe {
  readonly frameBytesMax: number
  readonly #gone: AbortController
  readonly #queue: Uint8Array[] = []
  #bytes = 0
  #ended = false
  #wakes: (() => void)[] = []

  constructor(frameBytesMax: number, gone: AbortController) {
    this.frameBytesMax = frameBytesMax
    this.#gone = gone
    gone.signal.addEventListener('abort', () => this.#wake())
  }

  async write(frame: Uint8Array): Promise<void> {
    this.#gone.signal.throwIfAborted()
    if (frame.length > this.frameBytesMax) {
      this.#gone.abort(new StreamError('frame_too_large', `a frame of ${frame.length} bytes`))
      this.#gone.signal.throwIfAborted()
    }
    this.#queue.push(frame)
    this.#bytes += frame.length
    this.#wake()
    while (this.#bytes > QUEUE_BYTES) {
      await this.#change()
      this.#gone.signal.throwIfAborted()
    }
  }

  end(): void {
    this.#ended = true
    this.#wake()
  }

  async *frames(): AsyncGenerator<Uint8Array, void, undefined> {
    for (;;) {
      this.#gone.signal.throwIfAborted()
      const frame = this.#queue.shift()
      if (frame !== undefined) {
        this.#bytes -= frame.length
        this.#wake()
        yield frame
      } else if (this.#ended) return
      else await this.#change()
    }
  }

  #change(): Promise<void> {
    return new Promise((resolve) => this.#wakes.push(resolve))
  }

  #wake(): void {
    const wakes = this.#wakes
    this.#wakes = []
    for (const wake of wakes) wake()
  }
}

function end(
  from: Pipe,
  to: Pipe,
  remotePeer: PeerIdString,
  passing: (frame: Uint8Array) => Uint8Array | Promise<Uint8Array>,
  gone: AbortController
): FrameStream {
  const abort = (error: Error): void => gone.abort(new StreamError('reset', error.message, { cause: error }))
  return {
    remotePeer,
    remoteAddress: '/memory',
    frames: () => from.frames(),
    write: async (frame) => {
      let passed: Uint8Array
      try {
        passed = await passing(frame)
      } catch (error) {
        abort(error instanceof Error ? error : new Error(String(error)))
        throw gone.signal.reason
      }
      await to.write(passed)
    },
    close: async () => to.end(),
    abort,
    gone: gone.signal
  }
}
