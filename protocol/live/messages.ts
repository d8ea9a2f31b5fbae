/** Looking into a running replica: messages and bounds. Everything a peer sends is decoded here before anyone looks at it. */
import { LiveFrame, LiveOpen } from './live.js'
import { parseLivePath } from './path.ts'

export * from './live.js'

export const LIVE_PROTOCOL = '/talko/live/1.0.0'
/** Either side's frames. A node sends files in smaller pieces. */
export const LIVE_FRAME_BYTES_MAX = 1024 * 1024
/** Bytes of a file in one frame. */
export const LIVE_PIECE_BYTES_MAX = 64 * 1024
/** Bytes that can be written into a running replica at once. */
export const LIVE_WRITE_BYTES_MAX = 64 * 1024
/** Entries of a folder that are shown. */
export const LIVE_ENTRIES_MAX = 10_000
/** Lines from the end that can be asked for, and how far back they are looked for. */
export const LIVE_LINES_MAX = 100_000
export const LIVE_TAIL_BYTES_MAX = 1024 * 1024
/** Bytes before an offset by which a reader knows its file again. */
export const LIVE_SEEN_BYTES_MAX = 64
/** Characters of a link's target that are shown. */
export const LIVE_TARGET_CHARS_MAX = 1024
const IDENTITY_CHARS_MAX = 64
const REPLICA_CHARS_MAX = 64
/** Entries in one frame: each at most NAME_BYTES_MAX and four bytes for each character of a target, and some numbers. */
export const LIVE_FRAME_ENTRIES_MAX = 200

export type LiveFile = 'stdout' | 'stderr' | 'out'
export type LiveVerb = 'read' | 'list' | 'write'
export type LiveKind = 'file' | 'directory' | 'link' | 'special'

/** A request of this version's shape and bounds. */
export interface LiveRequest extends Omit<LiveOpen, 'file' | 'verb' | 'path'> {
  readonly file: LiveFile
  readonly verb: LiveVerb
  /** Components below the output folder; none with stdout and stderr. */
  readonly path: readonly string[]
}

/**
 * Why something cannot be read, listed or written; crosses the wire.
 * - `not_found`: the replica is not on this node (any more). `no_file`: it is, and there is nothing of that name.
 * - `is_directory`, `not_a_directory`, `link`, `special`: what stands there is something else than was asked for.
 * - `changed`: the file was cut or rewritten while it was read. `not_running`: it has ended, or has not begun.
 */
export type LiveErrorCode =
  | 'not_found'
  | 'not_allowed'
  | 'malformed'
  | 'failed'
  | 'no_file'
  | 'is_directory'
  | 'not_a_directory'
  | 'link'
  | 'special'
  | 'changed'
  | 'not_running'
  | 'too_large'

/** undefined for bytes that are not a request of this shape and bounds. */
export function decodeLiveOpen(bytes: Uint8Array): LiveRequest | undefined {
  if (bytes.length > LIVE_FRAME_BYTES_MAX) return undefined
  try {
    const open = LiveOpen.decode(bytes)
    const { file, offset, until, replica, identity, seen, data, lines } = open
    const verb = open.verb === '' ? 'read' : open.verb
    const path = parseLivePath(open.path)
    if (!isLiveFile(file) || !isLiveVerb(verb) || path === undefined || replica.length > REPLICA_CHARS_MAX) return undefined
    if (file !== 'out' && (verb !== 'read' || path.length > 0)) return undefined
    if (![offset, until].every((at) => Number.isSafeInteger(at) && at >= 0) || lines > LIVE_LINES_MAX) return undefined
    if (identity.length > IDENTITY_CHARS_MAX || seen.length > Math.min(offset, LIVE_SEEN_BYTES_MAX) || data.length > LIVE_WRITE_BYTES_MAX) return undefined
    return { ...open, file, verb, path }
  } catch {
    return undefined
  }
}

/** undefined for bytes that are not an answer of this shape and bounds. */
export function decodeLiveFrame(bytes: Uint8Array): LiveFrame | undefined {
  if (bytes.length > LIVE_FRAME_BYTES_MAX) return undefined
  try {
    const frame = LiveFrame.decode(bytes, { limits: { entries: LIVE_ENTRIES_MAX } })
    if (frame.offset !== undefined && !Number.isSafeInteger(frame.offset)) return undefined
    return frame.identity.length > IDENTITY_CHARS_MAX ? undefined : frame
  } catch {
    return undefined
  }
}

export function isLiveFile(file: string): file is LiveFile {
  return file === 'stdout' || file === 'stderr' || file === 'out'
}

function isLiveVerb(verb: string): verb is LiveVerb {
  return verb === 'read' || verb === 'list' || verb === 'write'
}
