/**
 * Sends a file while somebody writes it. A reader is told where the data goes on whenever that is not where it ended: when the
 * file was cut or rewritten (the bytes before the offset are no longer those that were sent), and when another one stands in
 * its place (a log that was rotated), whose old self is sent to its end first.
 */
import { close, fstatSync, read as readFile } from 'node:fs'
import { promisify } from 'node:util'
import { LIVE_PIECE_BYTES_MAX, LIVE_SEEN_BYTES_MAX, type LiveRequest } from '#protocol/live/messages'
import { tailOffset } from '#protocol/live/tail'
import { identityBelow, LiveFault, type OpenFile, openFileBelow, openSiblingBelow } from './below.ts'
import { watchGrowth } from './growth.ts'

const readAsync = promisify(readFile)
const NONE = new Uint8Array()
/** A file up to this size is read as it is at one moment. */
const WHOLE_BYTES_MAX = 1024 * 1024
/** How often that is tried while somebody writes it. */
const WHOLE_TRIES_MAX = 5

/** Where the data from here on begins. */
export interface Place {
  readonly offset: number
  readonly identity: string
  /** What the reader had was of a file that is gone, with what it may have had more. */
  readonly missed: boolean
}

export interface Reader {
  place(place: Place): Promise<void>
  data(bytes: Uint8Array): Promise<void>
  readonly gone: AbortSignal
}

export interface Followed {
  readonly folder: string
  readonly path: readonly string[]
  /** Watched for changes; a folder that no task writes to. */
  readonly watched?: string
  /** `complete`: its files do not change any more. undefined: it is not here. */
  state(): 'coming' | 'running' | 'complete' | undefined
}

type Asked = Pick<LiveRequest, 'offset' | 'until' | 'lines' | 'identity' | 'seen' | 'follow'>

/** Sends what there is, or all that comes. False when the replica went away meanwhile: what was sent may not be all. Throws LiveFault. */
export async function sendFile(followed: Followed, asked: Asked, reader: Reader): Promise<boolean> {
  return asked.follow ? new Following(followed, asked, reader).run() : readOnce(followed, asked, reader)
}

class Following {
  readonly #followed: Followed
  readonly #reader: Reader
  #file: OpenFile | undefined
  /** The file that the reader has something of, when it had one before. */
  #identity: string
  #at: number
  #lines: number
  #seen: Uint8Array

  constructor(followed: Followed, asked: Asked, reader: Reader) {
    this.#followed = followed
    this.#reader = reader
    this.#identity = asked.identity
    this.#at = asked.offset
    this.#lines = asked.lines
    this.#seen = asked.seen
  }

  async run(): Promise<boolean> {
    const { gone } = this.#reader
    const { state, watched } = this.#followed
    const growth = watchGrowth(watched, gone)
    try {
      while (!gone.aborted) {
        // Asked before reading: what is complete now has been written whole by now.
        const now = state()
        growth.arm()
        await this.#read()
        const replaced = await this.#replaced()
        // No file means that nothing was written, unless it was taken away with the replica just now.
        if (now === undefined || (this.#file === undefined && !replaced && state() === undefined)) return false
        if (now === 'complete' && !replaced) return true
        // Once more, then: nothing is replaced any more.
        if (now !== 'complete') await growth.next()
      }
      return true
    } finally {
      growth.stop()
      await this.#close()
    }
  }

  async #read(): Promise<void> {
    if (this.#file === undefined && !(await this.#open())) return
    await this.#drain()
  }

  async #open(): Promise<boolean> {
    const { folder, path } = this.#followed
    const file = await openKnown(folder, path, this.#identity)
    if (file === undefined) return false
    this.#file = file
    const missed = this.#identity !== '' && file.identity !== this.#identity
    if (missed) this.#begin()
    if (this.#lines > 0) this.#at = await tailOf(file, this.#lines)
    this.#lines = 0
    await this.#tell(missed)
    return true
  }

  /** From the beginning of what stands there. */
  #begin(): void {
    this.#at = 0
    this.#seen = NONE
  }

  async #tell(missed = false): Promise<void> {
    this.#identity = this.#file?.identity ?? ''
    await this.#reader.place({ offset: this.#at, identity: this.#identity, missed })
  }

  /** To the present end. What was read follows what was sent only if that still stands before it, which is asked after the reading: else the file was cut or rewritten. */
  async #drain(): Promise<void> {
    const file = this.#file
    // A task that rewrites its file again and again is looked at like any other.
    for (let rewound = false; file !== undefined && !this.#reader.gone.aborted; ) {
      const fresh = await readAt(file, this.#at, LIVE_PIECE_BYTES_MAX)
      const before = this.#seen.length === 0 ? NONE : await readAt(file, this.#at - this.#seen.length, this.#seen.length)
      if (Buffer.compare(before, this.#seen) !== 0) {
        if (rewound) return
        rewound = true
        this.#begin()
        await this.#tell()
        continue
      }
      if (fresh.length === 0) return
      this.#at += fresh.length
      this.#seen = Buffer.concat([this.#seen, fresh.subarray(-LIVE_SEEN_BYTES_MAX)]).subarray(-LIVE_SEEN_BYTES_MAX)
      await this.#reader.data(fresh)
    }
  }

  /** Whether another file stands there by now: then the old one is sent to its end, and the next reading is of the new one. */
  async #replaced(): Promise<boolean> {
    const { folder, path } = this.#followed
    if (this.#file === undefined) return false
    const now = identityBelow(folder, path)
    if (now === undefined || now === this.#file.identity) return false
    await this.#drain()
    await this.#close()
    this.#identity = ''
    this.#begin()
    return true
  }

  async #close(): Promise<void> {
    const file = this.#file
    this.#file = undefined
    if (file !== undefined) await closeFile(file)
  }
}

/** What there is now, and no more, however fast it grows. */
async function readOnce({ folder, path, state }: Followed, asked: Asked, reader: Reader): Promise<boolean> {
  const now = state()
  const file = await openKnown(folder, path, asked.identity)
  if (file === undefined) {
    if (now === undefined || state() === undefined) return false
    // stdout and stderr of what printed nothing.
    if (path.length === 1) return true
    openFileBelow(folder, path)
    throw new LiveFault('changed', 'the file was put there this very moment; read it again')
  }
  try {
    const before = asked.seen.length === 0 ? NONE : await readAt(file, asked.offset - asked.seen.length, asked.seen.length)
    const missed = (asked.identity !== '' && asked.identity !== file.identity) || Buffer.compare(before, asked.seen) !== 0
    const size = sizeOf(file)
    const from = asked.lines > 0 ? await tailOf(file, asked.lines) : missed ? 0 : asked.offset
    const to = asked.until > 0 ? Math.min(asked.until, size) : size
    const whole = from === 0 && to === size && size <= WHOLE_BYTES_MAX && path.length > 1 ? await readWhole(file) : undefined
    await reader.place({ offset: from, identity: file.identity, missed })
    if (whole === undefined) await sendRange(file, from, to, reader)
    else for (let at = 0; at < whole.length; at += LIVE_PIECE_BYTES_MAX) await reader.data(whole.subarray(at, at + LIVE_PIECE_BYTES_MAX))
    return now !== undefined
  } finally {
    await closeFile(file)
  }
}

async function sendRange(file: OpenFile, from: number, to: number, reader: Reader): Promise<void> {
  const before = fstatSync(file.fd, { bigint: true })
  for (let at = from; at < to && !reader.gone.aborted; ) {
    const bytes = await readAt(file, at, Math.min(LIVE_PIECE_BYTES_MAX, to - at))
    if (bytes.length === 0) throw new LiveFault('changed', 'the file was cut while it was read; read it again')
    await reader.data(bytes)
    at += bytes.length
  }
  const after = fstatSync(file.fd, { bigint: true })
  // One that only grew has the same begin; one that was written and did not grow has another.
  if (after.size < before.size || (after.size === before.size && after.mtimeNs !== before.mtimeNs))
    throw new LiveFault('changed', 'the file was rewritten while it was read; read it again')
}

/** All of a small file, as it was at one moment: read until two readings in a row are the same (Afek et al. 1993, a double collect), as far as the first one goes. */
async function readWhole(file: OpenFile): Promise<Uint8Array> {
  let last = await readAt(file, 0, Math.min(sizeOf(file), WHOLE_BYTES_MAX))
  for (let tries = 0; tries < WHOLE_TRIES_MAX; tries++) {
    const again = await readAt(file, 0, Math.min(sizeOf(file), WHOLE_BYTES_MAX))
    if (again.length >= last.length && Buffer.compare(again.subarray(0, last.length), last) === 0) return last
    last = again
  }
  throw new LiveFault('changed', 'the file was rewritten each time it was read; read it again')
}

/** Up to `bytes` of a file from `at` on; fewer only at its end. */
async function readAt({ fd }: OpenFile, at: number, bytes: number): Promise<Uint8Array> {
  const buffer = new Uint8Array(bytes)
  let filled = 0
  while (filled < bytes) {
    const { bytesRead } = await readAsync(fd, buffer, filled, bytes - filled, at + filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return buffer.subarray(0, filled)
}

function tailOf(file: OpenFile, lines: number): Promise<number> {
  return tailOffset(sizeOf(file), lines, (from, to) => readAt(file, from, to - from))
}

function sizeOf({ fd }: OpenFile): number {
  return Math.min(fstatSync(fd).size, Number.MAX_SAFE_INTEGER)
}

/** The file of that identity, at the path or beside it; else the one at the path, if there is one. */
async function openKnown(folder: string, path: readonly string[], identity: string): Promise<OpenFile | undefined> {
  const file = openIfThere(folder, path)
  if (identity === '' || file?.identity === identity) return file
  const old = openSiblingBelow(folder, path, identity)
  if (old === undefined) return file
  if (file !== undefined) await closeFile(file)
  return old
}

function openIfThere(folder: string, path: readonly string[]): OpenFile | undefined {
  try {
    return openFileBelow(folder, path)
  } catch (error) {
    if (error instanceof LiveFault && error.code === 'no_file') return undefined
    throw error
  }
}

const closeFile = ({ fd }: OpenFile): Promise<void> => promisify(close)(fd)
