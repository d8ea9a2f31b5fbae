/** Reading a running replica's log: one stream a request. What a peer sends is decoded here before anyone looks at it. */
import { LiveFrame, LiveOpen } from './live.js'

export * from './live.js'

export const LIVE_PROTOCOL = '/talko/live/1.0.0'
/** Either side's frames. A node sends logs in smaller pieces. */
export const LIVE_FRAME_BYTES_MAX = 1024 * 1024
/** Bytes of a log in one frame. */
export const LIVE_PIECE_BYTES_MAX = 64 * 1024

/** undefined for bytes that are not the first frame of a live stream. */
export function decodeLiveOpen(bytes: Uint8Array): LiveOpen | undefined {
  return decode(LiveOpen, bytes)
}

/** undefined for bytes that are not a frame of a live stream. */
export function decodeLiveFrame(bytes: Uint8Array): LiveFrame | undefined {
  return decode(LiveFrame, bytes)
}

function decode<T>(codec: { decode(bytes: Uint8Array): T }, bytes: Uint8Array): T | undefined {
  if (bytes.length > LIVE_FRAME_BYTES_MAX) return undefined
  try {
    return codec.decode(bytes)
  } catch {
    return undefined
  }
}
