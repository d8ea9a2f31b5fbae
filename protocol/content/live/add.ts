/** Adds files where they lie: one pass of reading and hashing, rows in the index, no second copy. The shape of the DAG is build.ts's. */
import { isUtf8 } from 'node:buffer'
import { closeSync, type Dirent, fstatSync, lstatSync, read, readdirSync, readSync, type Stats } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { CID } from 'multiformats/cid'
import { type Built, type BuiltEntry, buildDirectory, FileBuilder } from '../build.ts'
import { blockIdOf, cidOfBytes, RAW } from '../cid.ts'
import { type AddOptions, ContentError, EMPTY_FILE } from '../content.ts'
import { nameProblem } from '../names.ts'
import { LEAF_BYTES, TREE_DEPTH_MAX, TREE_ENTRIES_MAX, TREE_PATH_BYTES_MAX } from '../policy.ts'
import type { BlockIndex } from './index.ts'
import type { TreeNumber } from './rows.ts'
import { entryPath, errno, type OpenDirectory, openDirectory, openFile, openRoot } from './safe-open.ts'

const readAsync = promisify(read)
/** Files added in one go before others get a turn: about a millisecond of work. */
const FILES_PER_TURN = 64

export interface Counted extends Built {
  readonly files: number
  readonly skipped: number
  readonly executables: readonly string[]
}

/** One run over a file or folder, into the rows of one tree. */
export class Adder {
  readonly #index: BlockIndex
  readonly #tree: TreeNumber
  readonly #options: AddOptions
  readonly #buffers = [Buffer.allocUnsafeSlow(LEAF_BYTES), Buffer.allocUnsafeSlow(LEAF_BYTES)] as const
  readonly #executables: string[] = []
  #bytes = 0
  #files = 0
  #entries = 0
  #skipped = 0
  #sinceTurn = 0

  constructor(index: BlockIndex, tree: TreeNumber, options: AddOptions) {
    this.#index = index
    this.#tree = tree
    this.#options = options
  }

  /** `path` is a real path (no links in it). `cuts` are for a file with leaves of given sizes. */
  async add(path: string, cuts?: readonly number[]): Promise<Counted> {
    const stats = lstatSync(path)
    let built: Built
    if (stats.isDirectory() && cuts === undefined) {
      const directory = openRoot(path)
      try {
        built = await this.#directory(directory, '', 0)
      } finally {
        closeSync(directory.fd)
      }
    } else if (stats.isFile()) {
      built = await this.#rootFile(path, cuts)
    } else {
      throw new ContentError('special_file', `${path} is neither a file nor a folder`)
    }
    return { ...built, files: this.#files, skipped: this.#skipped, executables: this.#executables.sort() }
  }

  async #rootFile(path: string, cuts: readonly number[] | undefined): Promise<Built> {
    const folder = openRoot(dirname(path))
    try {
      const { fd, stats } = openFile(entryPath(folder, path.slice(path.lastIndexOf('/') + 1)))
      try {
        return cuts === undefined && stats.size <= LEAF_BYTES ? this.#smallFile(fd, stats, '') : await this.#largeFile(fd, stats, '', cuts)
      } finally {
        closeSync(fd)
      }
    } finally {
      closeSync(folder.fd)
    }
  }

  async #directory(directory: OpenDirectory, path: string, depth: number): Promise<Built> {
    if (depth > TREE_DEPTH_MAX) throw new ContentError('too_large', `${directory.path} is more than ${TREE_DEPTH_MAX} folders deep`)
    const listed: Dirent<Buffer>[] = readdirSync(entryPath(directory, ''), { encoding: 'buffer', withFileTypes: true })
    if (listed.length + this.#entries > this.#entriesMax) throw new ContentError('too_large', `${directory.path} has more than ${this.#entriesMax} entries`)
    const entries: BuiltEntry[] = []
    for (const entry of listed) {
      const built = await this.#entry(directory, path, entry, depth)
      if (built !== undefined) entries.push(built)
      if (++this.#sinceTurn >= FILES_PER_TURN) await this.#turn()
    }
    return buildDirectory(entries, (cid, bytes) => this.#node(cid, bytes, path))
  }

  async #entry(directory: OpenDirectory, parent: string, entry: Dirent<Buffer>, depth: number): Promise<BuiltEntry | undefined> {
    this.#entries++
    const name = entry.name.toString()
    const problem = isUtf8(entry.name) ? nameProblem(name) : 'is not UTF-8'
    if (problem !== undefined) return this.#special(`${join(directory.path, JSON.stringify(name))}: the name ${problem}`)
    const path = parent === '' ? name : `${parent}/${name}`
    if (Buffer.byteLength(path) > TREE_PATH_BYTES_MAX)
      return this.#special(`${join(directory.path, name)}: the path is longer than ${TREE_PATH_BYTES_MAX} bytes`)
    try {
      const kind = kindOf(directory, entry, name)
      if (kind === 'file') return { name, ...(await this.#file(entryPath(directory, name), path)) }
      if (kind !== 'directory') return this.#special(`${join(directory.path, name)} is a ${kind}, which cannot be part of a tree`)
      const below = openDirectory(directory, name)
      try {
        return { name, ...(await this.#directory(below, path, depth + 1)) }
      } finally {
        closeSync(below.fd)
      }
    } catch (error) {
      if (error instanceof ContentError && error.code === 'special_file' && this.#options.special === 'skip') return this.#special('')
      const code = errno(error)
      if (code === undefined || code === 'ENOSPC') throw error
      // what was listed is gone, has turned into something else, or may not be read
      if (this.#options.special === 'skip') return this.#special('')
      const where = join(directory.path, name)
      if (code === 'EACCES' || code === 'EPERM') throw new ContentError('bad_tree', `${where} cannot be read: ${code}`, { cause: error })
      throw new ContentError('changed', `${where} changed while it was being added (${code}); add it again when it is quiet`, { cause: error })
    }
  }

  /** Refuses the tree or leaves the entry out, as the caller chose. */
  #special(what: string): undefined {
    if (this.#options.special !== 'skip') throw new ContentError('special_file', what)
    this.#skipped++
    return undefined
  }

  async #file(path: string, treePath: string): Promise<Built> {
    const { fd, stats } = openFile(path)
    try {
      return stats.size <= LEAF_BYTES ? this.#smallFile(fd, stats, treePath) : await this.#largeFile(fd, stats, treePath, undefined)
    } finally {
      closeSync(fd)
    }
  }

  #smallFile(fd: number, stats: Stats, path: string): Built {
    this.#account(stats, path)
    const buffer = this.#buffers[0]
    const length = stats.size === 0 ? 0 : readFully(fd, buffer, stats.size)
    if (length !== stats.size) throw new ContentError('changed', `${path} became shorter while it was being added`)
    const cid = cidOfBytes(RAW, buffer.subarray(0, length))
    this.#files++
    const { size, mtimeMs, ino } = stats
    if (length > 0) this.#index.putBlock(blockIdOf(cid), { kind: 'whole', tree: this.#tree, file: { size, mtimeMs, ino, path } })
    return { cid, dagBytes: length, contentBytes: length }
  }

  /** Reads ahead into the other buffer while one is hashed. */
  async #largeFile(fd: number, stats: Stats, path: string, cuts: readonly number[] | undefined): Promise<Built> {
    this.#account(stats, path, false)
    const ends = cuts === undefined ? undefined : checkedCuts(cuts, stats.size)
    const builder = new FileBuilder((cid, bytes) => this.#node(cid, bytes, undefined))
    const file = this.#putFile(stats, path)
    if (stats.size === 0) builder.leaf(EMPTY_LEAF, 0)
    const endOf = (index: number): number => ends?.[index] ?? Math.min(stats.size, (index + 1) * LEAF_BYTES)
    const fill = (index: number, from: number): Promise<{ bytesRead: number }> =>
      readAsync(fd, this.#buffers[index % 2 === 0 ? 0 : 1], 0, endOf(index) - from, from)
    let ahead = stats.size === 0 ? undefined : fill(0, 0)
    for (let index = 0, offset = 0; ahead !== undefined; index++) {
      const buffer = this.#buffers[index % 2 === 0 ? 0 : 1]
      const end = endOf(index)
      let { bytesRead } = await ahead
      ahead = end < stats.size ? fill(index + 1, end) : undefined
      bytesRead += readFully(fd, buffer.subarray(bytesRead), end - offset - bytesRead, offset + bytesRead)
      if (bytesRead !== end - offset) {
        await ahead
        throw new ContentError('changed', `${path} became shorter while it was being added`)
      }
      const cid = cidOfBytes(RAW, buffer.subarray(0, bytesRead))
      this.#index.putBlock(blockIdOf(cid), { kind: 'leaf', tree: this.#tree, file, offset, length: bytesRead })
      builder.leaf(cid, bytesRead)
      this.#bytes += bytesRead
      offset = end
      if (index % 8 === 7 || this.#index.full) {
        await this.#turn().catch(async (error: unknown) => {
          await ahead
          throw error
        })
      }
    }
    const after = fstatSync(fd)
    if (after.size !== stats.size || after.mtimeMs !== stats.mtimeMs)
      throw new ContentError('changed', `${path} changed while it was being added; add it again when it is quiet`)
    const built = builder.finish()
    if (built.cid.code !== RAW) this.#index.markPlace(blockIdOf(built.cid), this.#tree, path)
    return built
  }

  #node(cid: CID, bytes: Uint8Array, place: string | undefined): void {
    this.#index.putBlock(blockIdOf(cid), { kind: 'node', tree: this.#tree, place, bytes })
  }

  #account(stats: Stats, path: string, counted = true): void {
    if (this.#bytes + stats.size > (this.#options.bytesMax ?? Number.POSITIVE_INFINITY)) {
      throw new ContentError('too_large', `the tree is larger than ${this.#options.bytesMax} bytes`)
    }
    if (counted) this.#bytes += stats.size
    if ((stats.mode & 0o111) !== 0) this.#executables.push(path)
  }

  #putFile(stats: Stats, path: string): number {
    const file = this.#files++
    this.#index.putFile(this.#tree, file, { size: stats.size, mtimeMs: stats.mtimeMs, ino: stats.ino, path })
    return file
  }

  get #entriesMax(): number {
    return this.#options.entriesMax ?? TREE_ENTRIES_MAX
  }

  async #turn(): Promise<void> {
    this.#sinceTurn = 0
    this.#options.signal?.throwIfAborted()
    this.#options.onProgress?.({ bytes: this.#bytes, files: this.#files })
    if (this.#index.full) await this.#index.room()
    await new Promise<void>((resolve) => setImmediate(resolve))
  }
}

const EMPTY_LEAF = cidOfBytes(RAW, new Uint8Array(0))
if (EMPTY_LEAF.toString() !== EMPTY_FILE) throw new Error('the id of the empty file is wrong')

function kindOf(directory: OpenDirectory, entry: Dirent<Buffer>, name: string): string {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'directory'
  if (entry.isSymbolicLink()) return 'symbolic link'
  if (entry.isFIFO()) return 'fifo'
  if (entry.isSocket()) return 'socket'
  if (entry.isBlockDevice() || entry.isCharacterDevice()) return 'device'
  // some file systems do not say in the listing
  const stats = lstatSync(entryPath(directory, name))
  if (stats.isFile()) return 'file'
  if (stats.isDirectory()) return 'directory'
  return stats.isSymbolicLink() ? 'symbolic link' : 'special file'
}

function checkedCuts(cuts: readonly number[], size: number): readonly number[] {
  let before = 0
  for (const cut of cuts) {
    if (!(cut > before && cut - before <= LEAF_BYTES))
      throw new ContentError('bad_tree', `cuts must ascend by 1 to ${LEAF_BYTES} bytes; ${cut} follows ${before}`)
    before = cut
  }
  if (before !== size) throw new ContentError('bad_tree', `the last cut is ${before} but the file has ${size} bytes`)
  return cuts
}

/** Reads at the file's position (or `position`) until `length` bytes or the end; the answer is how many came. */
function readFully(fd: number, buffer: Buffer, length: number, position: number | null = null): number {
  let got = 0
  while (got < length) {
    const count = readSync(fd, buffer, got, length - got, position === null ? null : position + got)
    if (count <= 0) break
    got += count
  }
  return got
}
