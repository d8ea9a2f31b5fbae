/** Reading the logs of a running replica: messages and bounds. Everything a peer sends is decoded here before anyone looks at it. */
import { LiveFrame, LiveOpen } from './live.js'

export * from './live.js'

export const LIVE_PROTOCOL = '/talko/live/1.0.0'
/** Either side's frames. A node sends logs in smaller pieces. */
export const LIVE_FRAME_BYTES_MAX = 1024 * 1024
/** Bytes of a log in one frame. */
export const LIVE_PIECE_BYTES_MAX = 64 * 1024
const REPLICA_CHARS_MAX = 64

export type LiveFile = 'stdout' | 'stderr'

/** Why a log cannot be read; crosses the wire. */
export type LiveErrorCode = 'not_found' | 'not_allowed' | 'malformed' | 'failed'

/** undefined for bytes that are not a request of this shape and bounds. */
export function decodeLiveOpen(bytes: Uint8Array): (LiveOpen & { readonly file: LiveFile }) | undefined {
  if (bytes.length > LIVE_FRAME_BYTES_MAX) return undefined
  try {
    const open = LiveOpen.decode(bytes)
    const { file, offset, replica } = open
    if (!isLiveFile(file) || !Number.isSafeInteger(offset) || offset < 0 || replica.length > REPLICA_CHARS_MAX) return undefined
    return { ...open, file }
  } catch {
    return undefined
  }
}

/** undefined for bytes that are not an answer of this shape and bounds. */
export function decodeLiveFrame(bytes: Uint8Array): LiveFrame | undefined {
  if (bytes.length > LIVE_FRAME_BYTES_MAX) return undefined
  try {
    return LiveFrame.decode(bytes)
  } catch {
    return undefined
  }
}

function isLiveFile(file: string): file is LiveFile {
  return file === 'stdout' || file === 'stderr'
}
