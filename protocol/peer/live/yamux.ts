/**
 * Yamux (https://github.com/hashicorp/yamux/blob/master/spec.md) that gives a peer its window back in larger parts. The library
 * says so after every message, which for the small messages of a control stream is as much work as the messages: a record to
 * encrypt, to send, to receive and to decrypt.
 */
import type { Stream, StreamMuxer, StreamMuxerFactory } from '@libp2p/interface'
import { type FrameHeader, yamux as library, type YamuxMuxerInit } from '@libp2p/yamux'

const WINDOW_UPDATE = 1
/** As many bytes as every stream may be sent before its first update: the specification's. */
export const FIRST_WINDOW_BYTES = 256 * 1024
/** Half of the smallest window: whoever sends has the other half meanwhile. */
export const UPDATE_BYTES_MIN = FIRST_WINDOW_BYTES / 2

/** Of the library's multiplexer: every frame that leaves it. */
interface Sending {
  sendFrame(header: FrameHeader, data?: unknown): boolean
}

export function yamux(init: YamuxMuxerInit): () => StreamMuxerFactory {
  const make = library(init)
  return () => {
    const factory = make()
    return { protocol: factory.protocol, createStreamMuxer: (connection) => gathering(factory.createStreamMuxer(connection)) }
  }
}

function gathering<Muxer extends StreamMuxer>(muxer: Muxer): Muxer {
  const sending = muxer as unknown as Sending
  const send = sending.sendFrame.bind(muxer)
  /** Bytes that peers may send and were not told of, by stream. */
  const untold = new Map<number, number>()
  sending.sendFrame = (header, data) => {
    const { type, flag, streamID, length } = header
    // What opens or ends a stream is not kept back.
    if (type !== WINDOW_UPDATE || flag !== 0) return send(header, data)
    const before = untold.get(streamID)
    if (before === undefined) streamOf(muxer, streamID)?.addEventListener('close', () => untold.delete(streamID), { once: true })
    const bytes = (before ?? 0) + length
    untold.set(streamID, bytes < UPDATE_BYTES_MIN ? bytes : 0)
    return bytes < UPDATE_BYTES_MIN || send({ ...header, length: bytes })
  }
  return muxer
}

function streamOf({ streams }: StreamMuxer, id: number): Stream | undefined {
  return streams.find((stream) => 'streamId' in stream && stream.streamId === id)
}
