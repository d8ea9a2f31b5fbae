/**
 * Frames over one libp2p stream, with the back-pressure that @libp2p/utils 7 leaves to its user:
 * - `stream.onDrain()` resolves for ever after the first drain, so writing waits for the `drain` event instead, and hands
 *   the stream no more while it needs to drain;
 * - the stream's async iterator queues without limit, so reading listens to `message` and pauses the stream;
 * - `pause()` inside a `message` handler is lost when `resume()` delivered the message, so pausing happens in a microtask.
 * A paused stream still receives what the sender's window allows: the host keeps the muxer's largest window below its
 * largest read buffer (peer/live/host.ts).
 */
import { setMaxListeners } from 'node:events'
import type { Stream, StreamCloseEvent, StreamMessageEvent } from '@libp2p/interface'
import { Uint8ArrayList } from 'uint8arraylist'
import type { PeerIdString } from '../ids.ts'
import { type FrameStream, StreamError } from '../peer/host.ts'
import { frameDecoder, frameLength } from './decoder.ts'

/** Bytes that wait for the reader before the stream is paused; it goes on at half of it. */
export const READ_AHEAD_BYTES = 1024 * 1024
/** `write` waits while this much has not been handed to the muxer. */
export const WRITE_WAIT_BYTES = 1024 * 1024
/** Callers that do not wait for `write` may queue this much; then the stream is reset, because the peer does not read. */
export const WRITE_QUEUE_BYTES_MAX = 64 * 1024 * 1024
/** Frames up to this size are copied together into one send; larger ones are sent as they are. */
const COALESCE_BYTES_MAX = 16 * 1024
/** Size of one such joined send. */
const COALESCED_BYTES = 64 * 1024
/** After so many frames that were there already, everybody else gets a turn: a peer can send a million empty frames at once. */
const FRAMES_PER_TURN = 128
/** Of the frames that were there when the stream was lost, so many are still handed over: a good-bye is among them, a flood ends with its stream. */
export const LAST_FRAMES_MAX = 256

export interface FrameStreamOptions {
  readonly remotePeer: PeerIdString
  readonly remoteAddress: string
  /** Longer frames: an incoming one resets the stream, an outgoing one is refused. */
  readonly frameBytesMax: number
  /** Resolves when everybody else had a turn of the event loop. */
  turn(): Promise<void>
  /** Told what the peer did when it breaks the framing. */
  readonly accuse?: NonNullable<FrameStream['accuse']>
  /** Opens a further stream over the same connection. */
  readonly beside?: NonNullable<FrameStream['beside']>
}

/** Takes over `stream`: nothing else may read, write or pause it from now on. */
export function frameStream(stream: Stream, { remotePeer, remoteAddress, frameBytesMax, turn, accuse, beside }: FrameStreamOptions): FrameStream {
  const gone = new AbortController()
  setMaxListeners(0, gone.signal)
  let abortReason: Error | undefined
  const abort = (error: Error): void => {
    abortReason ??= error
    stream.abort(error)
  }
  const reader = frameReader(stream, { frameBytesMax, abort, turn, accuse })
  const writer = frameWriter(stream, { frameBytesMax, abort })

  stream.addEventListener('close', (event: StreamCloseEvent) => {
    const cause = abortReason ?? event.error
    const error = cause instanceof StreamError ? cause : lost(remotePeer, cause)
    writer.fail(error)
    // Both sides ended theirs: what came before that is still to be read, all of it.
    if (cause !== undefined || !reader.peerEnded) reader.fail(error)
    gone.abort(error)
  })
  if (stream.status !== 'open' && stream.status !== 'closing') {
    const error = lost(remotePeer, undefined)
    writer.fail(error)
    reader.fail(error)
    gone.abort(error)
  }

  return {
    remotePeer,
    remoteAddress,
    gone: gone.signal,
    frames: reader.frames,
    write: (frame) => {
      try {
        return writer.write(frame)
      } catch (error) {
        return Promise.reject(error)
      }
    },
    close: writer.close,
    abort,
    ...(accuse === undefined ? {} : { accuse }),
    ...(beside === undefined ? {} : { beside })
  }
}

function lost(peer: PeerIdString, cause: Error | undefined): StreamError {
  const why = cause === undefined ? '' : `: ${cause.message}`
  return new StreamError('reset', `the stream with ${peer} is gone${why}`, { cause })
}

interface FrameReader {
  /** The peer ended its side in order. */
  readonly peerEnded: boolean
  frames(): AsyncGenerator<Uint8Array, void, undefined>
  fail(error: StreamError): void
}

interface Limits {
  readonly frameBytesMax: number
  abort(error: Error): void
}

function frameReader(
  stream: Stream,
  { frameBytesMax, abort, turn, accuse }: Limits & Pick<FrameStreamOptions, 'turn'> & { readonly accuse: FrameStreamOptions['accuse'] | undefined }
): FrameReader {
  const decoder = frameDecoder(frameBytesMax)
  let state: 'reading' | 'ended' | 'abandoned' = 'reading'
  let failure: StreamError | undefined
  let peerClosed = stream.status === 'open' && stream.remoteWriteStatus === 'closed'
  let pausing = false
  let wake: (() => void) | undefined

  const pauseWhenFull = (): void => {
    if (pausing || decoder.bytesAhead < READ_AHEAD_BYTES) return
    pausing = true
    queueMicrotask(() => {
      if (pausing && stream.readStatus === 'readable') stream.pause()
    })
  }
  const resume = (): void => {
    pausing = false
    if (stream.readStatus !== 'paused') return
    try {
      stream.resume()
    } catch {
      // The connection is gone: what had arrived was delivered, and `close` has told the rest.
    }
  }
  const resumeWhenLow = (): void => {
    if (pausing && decoder.bytesAhead < READ_AHEAD_BYTES / 2) resume()
  }

  stream.addEventListener('message', ({ data }: StreamMessageEvent) => {
    if (state === 'abandoned') return
    if (data instanceof Uint8Array) decoder.push(data)
    else for (const piece of data) decoder.push(piece)
    pauseWhenFull()
    wake?.()
  })
  stream.addEventListener('remoteCloseWrite', () => {
    peerClosed = true
  })
  stream.addEventListener('end', () => {
    if (state === 'reading') state = 'ended'
    wake?.()
  })
  if (stream.readableEnded) state = 'ended'

  return {
    get peerEnded() {
      return peerClosed
    },
    fail: (error) => {
      failure ??= error
      wake?.()
    },
    async *frames() {
      let [taken, last] = [0, 0]
      try {
        while (true) {
          if (failure !== undefined && ++last > LAST_FRAMES_MAX) throw failure
          const frame = decoder.next()
          resumeWhenLow()
          if (frame !== undefined) {
            yield frame
            taken += 1
            if (taken % FRAMES_PER_TURN === 0) await turn()
          } else if (decoder.bytesAhead > 0) {
            // Resuming delivered what the stream had kept.
          } else if (state === 'ended' && peerClosed) {
            if (decoder.atBoundary) return
            throw new StreamError('malformed', 'the peer ended its stream in the middle of a frame')
          } else if (failure !== undefined) {
            throw failure
          } else {
            await new Promise<void>((resolve) => {
              wake = resolve
            })
            wake = undefined
          }
        }
      } catch (error) {
        if (error instanceof StreamError && error !== failure) {
          abort(error)
          if (error.code === 'frame_too_large' || error.code === 'malformed') accuse?.(error.message)
        }
        throw error
      } finally {
        state = 'abandoned'
        resume()
      }
    }
  }
}

interface FrameWriter {
  write(frame: Uint8Array): Promise<void>
  close(): Promise<void>
  fail(error: StreamError): void
}

function frameWriter(stream: Stream, { frameBytesMax, abort }: Limits): FrameWriter {
  let queue: Uint8Array[] = []
  let queueBytes = 0
  let scheduled = false
  let closing: Promise<void> | undefined
  let emptied: PromiseWithResolvers<void> | undefined
  let failure: StreamError | undefined
  let waiters: { resolve: () => void; reject: (error: StreamError) => void }[] = []

  const waiting = (): number => queueBytes + stream.writeBufferLength
  const settle = (): void => {
    if (waiters.length === 0 || waiting() >= WRITE_WAIT_BYTES) return
    const ready = waiters
    waiters = []
    for (const { resolve } of ready) resolve()
  }
  const pump = (): void => {
    scheduled = false
    let index = 0
    while (failure === undefined && index < queue.length && !stream.writableNeedsDrain) {
      const { data, frames } = nextSend(queue, index)
      index += frames
      queueBytes -= sum(queue, index - frames, index)
      try {
        stream.send(data)
      } catch (cause) {
        fail(new StreamError('closed', 'the stream does not take frames any more', { cause }))
      }
    }
    if (index > 0) queue = queue.slice(index)
    if (queue.length === 0) emptied?.resolve()
    settle()
  }
  // After everything that runs now has run, so that what it writes leaves in one piece.
  const schedule = (): void => {
    if (scheduled) return
    scheduled = true
    queueMicrotask(() => process.nextTick(pump))
  }
  const fail = (error: StreamError): void => {
    failure ??= error
    queue = []
    queueBytes = 0
    const rejected = waiters
    waiters = []
    for (const { reject } of rejected) reject(failure)
    emptied?.resolve()
  }
  const room = (): Promise<void> => new Promise((resolve, reject) => waiters.push({ resolve, reject }))

  // The stream sends its own rest first, in a microtask of its own `drain` listener.
  stream.addEventListener('drain', schedule)

  const closeWhenSent = async (): Promise<void> => {
    if (queue.length > 0 && failure === undefined) {
      emptied = Promise.withResolvers()
      await emptied.promise
    }
    if (failure !== undefined) throw failure
    try {
      await stream.close()
    } catch (cause) {
      throw failure ?? new StreamError('reset', 'the stream was lost before everything was sent', { cause })
    }
  }

  return {
    write: (frame) => {
      if (failure !== undefined) throw new StreamError('closed', failure.message, { cause: failure })
      if (closing !== undefined) throw new StreamError('closed', 'this side of the stream has been closed')
      if (frame.length > frameBytesMax)
        throw new StreamError('frame_too_large', `a frame of ${frame.length} bytes was to be sent, at most ${frameBytesMax} are allowed`)
      if (waiting() > WRITE_QUEUE_BYTES_MAX) {
        const full = new StreamError('reset', `${waiting()} bytes wait for a peer that does not read; the stream is reset`)
        abort(full)
        throw full
      }
      queue.push(frame)
      queueBytes += frame.length
      schedule()
      return waiting() < WRITE_WAIT_BYTES ? Promise.resolve() : room()
    },
    close: () => {
      closing ??= closeWhenSent()
      return closing
    },
    fail
  }
}

/** The frames from `index` on that make the next send: several small ones copied together, or one large one as it is. */
function nextSend(queue: readonly Uint8Array[], index: number): { data: Uint8Array | Uint8ArrayList; frames: number } {
  const head = queue[index] as Uint8Array
  if (head.length > COALESCE_BYTES_MAX) return { data: new Uint8ArrayList(frameLength(head.length), head), frames: 1 }
  let end = index
  let bytes = 0
  while (end < queue.length) {
    const frame = queue[end] as Uint8Array
    const size = frame.length + frameLengthBytes(frame.length)
    if (frame.length > COALESCE_BYTES_MAX || (bytes + size > COALESCED_BYTES && end > index)) break
    bytes += size
    end += 1
  }
  const data = new Uint8Array(bytes)
  let at = 0
  for (let i = index; i < end; i += 1) {
    const frame = queue[i] as Uint8Array
    let rest = frame.length
    while (rest > 127) {
      data[at++] = (rest & 127) | 128
      rest >>>= 7
    }
    data[at++] = rest
    data.set(frame, at)
    at += frame.length
  }
  return { data, frames: end - index }
}

function frameLengthBytes(length: number): number {
  return length < 128 ? 1 : length < 16_384 ? 2 : length < 2_097_152 ? 3 : 4
}

function sum(frames: readonly Uint8Array[], from: number, to: number): number {
  let bytes = 0
  for (let i = from; i < to; i += 1) bytes += (frames[i] as Uint8Array).length
  return bytes
}
