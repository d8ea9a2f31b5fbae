/**
 * Files below a replica's folder, which a hostile program may be changing this very moment. Every component is opened by
 * itself and never through a link (protocol/content/live/safe-open.ts); a file is looked at before it is opened for reading,
 * so that no fifo or device is ever opened, and what was looked at is what is read. What is read, listed and held is bounded.
 */

import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readlinkSync,
  readSync,
  renameSync,
  rmSync,
  type Stats,
  writeSync
} from 'node:fs'
import { opendir } from 'node:fs/promises'
import { join } from 'node:path'
import { entryPath, errno, type OpenDirectory, openDirectory } from '#protocol/content/live/safe-open'
import { LIVE_ENTRIES_MAX, LIVE_TARGET_CHARS_MAX, type LiveEntry, type LiveErrorCode, type LiveKind } from '#protocol/live/messages'

const LINUX = process.platform === 'linux'
/** Names a file without opening it (Linux); Node has no word for it. */
const O_PATH = 0o10000000
const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY } = constants
/** Files beside one that was replaced among which its old self is looked for. */
const SIBLINGS_MAX = 1_000

/** Why something below the folder cannot be had; crosses the wire. */
export class LiveFault extends Error {
  override readonly name = 'LiveFault'
  readonly code: LiveErrorCode
  constructor(code: LiveErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

export interface OpenFile {
  readonly fd: number
  /** Which file it is, whatever it is called by now. An inode's number alone is given away again as soon as it is free. */
  readonly identity: string
}

/** A plain file for reading. Throws LiveFault. */
export function openFileBelow(folder: string, path: readonly string[]): OpenFile {
  return inFolderOf(folder, path, (parent, name) => openPlain(parent, name, path))
}

/** The first bytes of a plain file; undefined when none stands there that may be read. */
export function readStartBelow(folder: string, path: readonly string[], bytesMax: number): Uint8Array | undefined {
  let fd: number | undefined
  try {
    fd = openFileBelow(folder, path).fd
    const bytes = new Uint8Array(bytesMax)
    return bytes.subarray(0, readSync(fd, bytes, 0, bytesMax, 0))
  } catch (error) {
    if (error instanceof LiveFault || errno(error) !== undefined) return undefined
    throw error
  } finally {
    if (fd !== undefined) closeSync(fd)
  }
}

/** Which file stands there now; undefined when none does. */
export function identityBelow(folder: string, path: readonly string[]): string | undefined {
  try {
    return inFolderOf(folder, path, (parent, name) => {
      const stats = lstatSync(entryPath(parent, name), { bigint: true })
      return stats.isFile() ? identityOf(stats) : undefined
    })
  } catch {
    return undefined
  }
}

/** The file that stood at the path when it was this one: it may be called otherwise by now, as a log is that was rotated. undefined when it is not beside it. */
export function openSiblingBelow(folder: string, path: readonly string[], identity: string): OpenFile | undefined {
  try {
    return inFolderOf(folder, path, (parent) => {
      const directory = opendirSync(entryPath(parent, ''))
      try {
        for (let count = 0; count < SIBLINGS_MAX; count++) {
          const entry = directory.readSync()
          if (entry === null) return undefined
          const stats = entry.isFile() ? lstatSync(entryPath(parent, entry.name), { bigint: true, throwIfNoEntry: false }) : undefined
          if (stats === undefined || identityOf(stats) !== identity) continue
          const file = openPlain(parent, entry.name, path)
          if (file.identity === identity) return file
          closeSync(file.fd)
        }
        return undefined
      } finally {
        directory.closeSync()
      }
    })
  } catch {
    return undefined
  }
}

/** Entries of a folder by name, `entriesMax` of them at most; links with what is written in them. Throws LiveFault. */
export async function listBelow(
  folder: string,
  path: readonly string[],
  entriesMax = LIVE_ENTRIES_MAX
): Promise<{ readonly entries: LiveEntry[]; readonly more: boolean }> {
  const directory = openFolderBelow(folder, path)
  try {
    const entries: LiveEntry[] = []
    let more = false
    // Read as it comes, so that a folder of millions costs no more than one that is shown whole.
    for await (const { name } of await opendir(entryPath(directory, ''), { encoding: 'buffer' as BufferEncoding, bufferSize: 256 })) {
      more = entries.length === entriesMax
      if (more) break
      const entry = entryOf(directory, name as unknown as Buffer)
      if (entry !== undefined) entries.push(entry)
    }
    return { entries: entries.sort((a, b) => (a.name < b.name ? -1 : 1)), more }
  } catch (error) {
    throw faultOf(error, path)
  } finally {
    closeSync(directory.fd)
  }
}

/**
 * Puts a file there, whole or not at all: written in `beside`, a folder of the same disk that no task sees, and then moved. A
 * link of that name is replaced, not followed; a folder stays. The file is that user's whose the folder is. Throws LiveFault.
 */
export function writeBelow(folder: string, path: readonly string[], data: Uint8Array, beside: string): void {
  if (path.length === 0) throw new LiveFault('is_directory', 'a file has to be named, not the output folder itself')
  inFolderOf(folder, path, (parent, name) => {
    const { uid, gid } = fstatSync(parent.fd)
    const temporary = join(beside, `write-${randomUUID()}`)
    const fd = openSync(temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0o644)
    try {
      try {
        for (let at = 0; at < data.length; ) at += writeSync(fd, data, at)
        fchmodSync(fd, 0o644)
        if (process.getuid?.() === 0) fchownSync(fd, uid, gid)
      } finally {
        closeSync(fd)
      }
      renameSync(temporary, entryPath(parent, name))
    } catch (error) {
      rmSync(temporary, { force: true })
      throw error
    }
  })
}

/** Calls with the open folder that holds the last component, and closes it. */
function inFolderOf<T>(folder: string, path: readonly string[], call: (parent: OpenDirectory, name: string) => T): T {
  const parent = openFolderBelow(folder, path.slice(0, -1))
  try {
    return call(parent, path.at(-1) ?? '')
  } catch (error) {
    throw faultOf(error, path)
  } finally {
    closeSync(parent.fd)
  }
}

function openFolderBelow(folder: string, path: readonly string[]): OpenDirectory {
  let at: OpenDirectory | undefined
  try {
    at = { fd: openSync(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW), path: folder }
    for (const name of path) {
      const above = at
      at = openDirectory(above, name)
      closeSync(above.fd)
    }
    return at
  } catch (error) {
    if (at !== undefined) closeSync(at.fd)
    throw faultOf(error, path)
  }
}

function openPlain(parent: OpenDirectory, name: string, path: readonly string[]): OpenFile {
  const place = entryPath(parent, name)
  const flags = LINUX ? O_PATH | O_NOFOLLOW : O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
  const looked = openSync(place, flags)
  let keep = false
  try {
    const stats = fstatSync(looked, { bigint: true })
    if (stats.isSymbolicLink()) throw new LiveFault('link', `${shown(path)} is a link to ${targetOf(place)}: links are shown, and never followed`)
    if (stats.isDirectory()) throw new LiveFault('is_directory', `${shown(path)} is a folder: list it (talko ls)`)
    if (!stats.isFile()) throw new LiveFault('special', `${shown(path)} is a fifo, socket or device, and is not read`)
    keep = !LINUX
    // The task may hold a lease on it, for which an open that may wait would wait 45 seconds.
    const fd = LINUX ? openSync(`/proc/self/fd/${looked}`, O_RDONLY | O_NONBLOCK | O_NOCTTY) : looked
    return { fd, identity: identityOf(stats) }
  } finally {
    if (!keep) closeSync(looked)
  }
}

function identityOf({ ino, birthtimeNs }: { readonly ino: bigint; readonly birthtimeNs: bigint }): string {
  return `${ino.toString(36)}-${birthtimeNs.toString(36)}`
}

function entryOf(directory: OpenDirectory, name: Buffer): LiveEntry | undefined {
  const place = Buffer.concat([Buffer.from(entryPath(directory, '.').slice(0, -1)), name])
  const stats = lstatSync(place, { throwIfNoEntry: false })
  if (stats === undefined) return undefined
  const kind = kindOf(stats)
  return {
    name: name.toString(),
    kind,
    bytes: Math.min(stats.size, Number.MAX_SAFE_INTEGER),
    modifiedMs: Math.max(0, Math.trunc(stats.mtimeMs)),
    target: kind === 'link' ? targetOf(place) : ''
  }
}

function kindOf(stats: Stats): LiveKind {
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  return stats.isSymbolicLink() ? 'link' : 'special'
}

function targetOf(place: string | Buffer): string {
  try {
    return readlinkSync(place).slice(0, LIVE_TARGET_CHARS_MAX)
  } catch {
    return ''
  }
}

function shown(path: readonly string[]): string {
  return JSON.stringify(path.slice(path[0] === 'out' ? 1 : 0).join('/'))
}

/** What the file system says, as whoever asked can understand it. Programming errors pass. */
function faultOf(error: unknown, path: readonly string[]): unknown {
  switch (errno(error)) {
    case 'ENOENT':
      return new LiveFault('no_file', `there is no ${shown(path)} now`, { cause: error })
    case 'ENOTDIR':
    case 'ELOOP':
      return new LiveFault('not_a_directory', `a part of ${shown(path)} is a link or a file, and no folder: links are never followed`, { cause: error })
    case 'EISDIR':
    case 'ENOTEMPTY':
    case 'EEXIST':
      return new LiveFault('is_directory', `${shown(path)} is a folder`, { cause: error })
    case 'EACCES':
    case 'EPERM':
    case 'EAGAIN':
    case 'ENAMETOOLONG':
      return new LiveFault('special', `the task keeps ${shown(path)} to itself (${errno(error)})`, { cause: error })
    case undefined:
      return error
    default:
      return new LiveFault('failed', `${shown(path)} cannot be had: ${errno(error)}`, { cause: error })
  }
}
