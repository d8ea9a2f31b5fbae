/**
 * Writes one tree of checked names into a folder of its own. Every file is opened anew (`wx`) in a folder just made, so nothing
 * that was planted can be followed; after an interruption the same tree is taken up where it was, each leaf compared by its id.
 */
import { closeSync, constants, fchmodSync, fstatSync, ftruncateSync, lstatSync, mkdirSync, openSync, readSync, statfsSync, write } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { ContentError } from '../content.ts'
import { type BlockId, sha256Text } from '../hash.ts'
import type { PlannedFile, Want } from '../plan.ts'
import { DISK_CHECK_BYTES, DISK_RESERVE_BYTES, LEAF_BYTES } from '../policy.ts'
import type { TreeSink } from '../tree-work.ts'
import { type Aside, AsideError, type Write, type Written } from './aside.ts'
import { createFile, settleMode, writeFile } from './create.ts'
import { asContentError, type BlockIndex, diskFull } from './index.ts'
import type { TreeNumber } from './rows.ts'
import { errno } from './safe-open.ts'

const writeAsync = promisify(write)
const { O_RDWR, O_RDONLY, O_NOFOLLOW } = constants
/** Files and leaves handled before others get a turn. */
const STEPS_PER_TURN = 64
const STEPS_OF_A_LEAF = 8

export interface TreeWriterOptions {
  /** Where the tree's root comes to lie; its parent folder exists. */
  readonly path: string
  /** Take up what an earlier attempt left at `path`. */
  readonly resume: boolean
  /** Mode of files: 0444 in the store, 0644 for a user's copy. */
  readonly mode: number
  /** A thread that checks and writes what arrives from peers; without it this one does. */
  readonly aside?: Aside
  /** Where the files are noted; a user's copy is not. */
  readonly index?: { readonly rows: BlockIndex; readonly tree: TreeNumber }
}

interface Marks {
  readonly size: number
  readonly mtimeMs: number
  readonly ino: number
}

const NO_BYTES = new Uint8Array(0)

interface OpenFile {
  readonly fd: number
  readonly number: number
  /** Bytes an earlier attempt left. */
  readonly before: number
}

export class TreeWriter implements TreeSink {
  readonly #options: TreeWriterOptions
  readonly #open = new Map<PlannedFile, OpenFile>()
  #files = 0
  #steps = 0
  /** Bytes since the last look at the disk; the first write looks. */
  #unchecked = DISK_CHECK_BYTES
  /** Bytes handed to the thread beside this one and not on disk yet. */
  #beingWritten = 0
  /** Bytes of all files noted so far. */
  contentBytes = 0

  constructor(options: TreeWriterOptions) {
    this.#options = options
  }

  /** Leaves the disk some room; files of a few bytes take a block each. */
  #roomFor(bytes: number): void {
    this.#unchecked += Math.max(bytes, 4096)
    if (this.#unchecked < DISK_CHECK_BYTES) return
    const { bavail, bsize } = statfsSync(dirname(this.#options.path))
    if (bavail * bsize - this.#beingWritten < DISK_RESERVE_BYTES) throw diskFull(this.#options.path, undefined)
    this.#unchecked = 0
  }

  /** Closes what an interrupted pull left open. */
  close(): void {
    for (const { fd } of this.#open.values()) closeSync(fd)
    this.#open.clear()
  }

  turn(): Promise<void> | undefined {
    const rows = this.#options.index?.rows
    if (rows?.full === true) return rows.room()
    if (++this.#steps < STEPS_PER_TURN) return undefined
    this.#steps = 0
    return new Promise((resolve) => setImmediate(resolve))
  }

  directory(path: string): void {
    const full = this.#at(path)
    this.#guard(path, () => {
      try {
        mkdirSync(full, 0o755)
      } catch (error) {
        if (errno(error) !== 'EEXIST' || !this.#options.resume || !lstatSync(full).isDirectory()) throw error
      }
    })
  }

  file(path: string, id: BlockId, data: Uint8Array): void {
    this.#guard(path, () => {
      this.#roomFor(data.length)
      this.#noteWhole(path, writeFile(this.#at(path), data, this.#options), id)
    })
  }

  /** Checks leaves and writes them in the thread beside this one; says which were right. The bytes, which stand in `frame`, are gone afterwards. */
  get aside(): TreeSink['aside'] {
    const { aside } = this.#options
    return aside === undefined ? undefined : (wants, blocks, frame) => this.#writeAside(aside, wants, blocks, frame)
  }

  async #writeAside(aside: Aside, wants: readonly Want[], blocks: readonly Uint8Array[], frame: Uint8Array): Promise<boolean[]> {
    const { mode, resume } = this.#options
    const lengths = blocks.map((block) => block.length)
    const writes = wants.map(({ id, place }, index): Write => {
      const data = blocks[index] ?? NO_BYTES
      this.#roomFor(data.length)
      if (place.kind === 'part') return { kind: 'leaf', path: place.file.path, fd: this.#opened(place.file).fd, offset: place.offset, id, data }
      return { kind: 'file', path: this.#at(place.path), id, data }
    })
    const bytes = lengths.reduce((total, length) => total + length, 0)
    let written: readonly Written[]
    this.#beingWritten += bytes
    try {
      written = await aside.write({ mode, resume, writes }, frame)
    } catch (error) {
      throw this.#explain(error instanceof AsideError ? error.path : '', error)
    } finally {
      this.#beingWritten -= bytes
    }
    for (const [index, { id, place }] of wants.entries()) {
      const marks = written[index]
      const length = lengths[index]
      if (marks === undefined || marks === false || length === undefined) continue
      if (place.kind === 'part') this.#noteLeaf(id, this.#opened(place.file).number, place.offset, length)
      else this.#noteWhole(place.path, marks, id)
    }
    const rows = this.#options.index?.rows
    if (rows?.full === true) await rows.room()
    return written.map((marks) => marks !== false)
  }

  open(file: PlannedFile): void {
    this.#guard(file.path, () => {
      const full = this.#at(file.path)
      const left = this.#options.resume ? this.#reopen(full, file.bytes) : undefined
      const fd = left?.fd ?? createFile(full, 0o600, this.#options.resume)
      this.#open.set(file, { fd, number: this.#files++, before: left?.before ?? 0 })
    })
  }

  async write(file: PlannedFile, offset: number, id: BlockId | undefined, data: Uint8Array): Promise<void> {
    const open = this.#opened(file)
    try {
      this.#roomFor(data.length)
      for (let at = 0; at < data.length; ) at += (await writeAsync(open.fd, data, at, data.length - at, offset + at)).bytesWritten
    } catch (error) {
      throw asContentError(error, this.#options.path)
    }
    if (id !== undefined) this.#noteLeaf(id, open.number, offset, data.length)
    const rows = this.#options.index?.rows
    if (rows?.full === true) await rows.room()
  }

  finish(file: PlannedFile): void {
    const { fd, number, before } = this.#opened(file)
    this.#open.delete(file)
    this.#guard(file.path, () => {
      try {
        if (before > file.bytes) ftruncateSync(fd, file.bytes)
        const stats = settleMode(fd, this.#options.mode)
        if (stats.size !== file.bytes) throw new ContentError('bad_tree', `${file.path} has ${stats.size} bytes where its node says ${file.bytes}`)
        const { size, mtimeMs, ino } = stats
        this.contentBytes += size
        this.#options.index?.rows.putFile(this.#options.index.tree, number, { size, mtimeMs, ino, path: file.path })
      } finally {
        closeSync(fd)
      }
    })
  }

  node(id: BlockId, bytes: Uint8Array, path: string | undefined): void {
    const { index } = this.#options
    index?.rows.putBlock(id, { kind: 'node', tree: index.tree, place: path, bytes })
  }

  kept(want: Want): number | undefined {
    if (!this.#options.resume) return undefined
    const { id, place } = want
    if (place.kind === 'entry') return this.#keptFile(place.path, id)
    if (place.kind !== 'part' || place.bytes > LEAF_BYTES * 2) return undefined
    const open = this.#opened(place.file)
    if (place.offset + place.bytes > open.before) return undefined
    const data = Buffer.allocUnsafe(place.bytes)
    if (!readAll(open.fd, data, place.offset) || sha256Text(data) !== id) return undefined
    this.#steps += STEPS_OF_A_LEAF
    this.#noteLeaf(id, open.number, place.offset, place.bytes)
    return place.bytes
  }

  #keptFile(path: string, id: BlockId): number | undefined {
    let fd: number
    try {
      fd = openSync(this.#at(path), O_RDONLY | O_NOFOLLOW)
    } catch {
      return undefined
    }
    try {
      const stats = fstatSync(fd)
      if (!stats.isFile() || stats.size > LEAF_BYTES * 2) return undefined
      const data = Buffer.allocUnsafe(stats.size)
      if (!readAll(fd, data, 0) || sha256Text(data) !== id) return undefined
      this.#noteWhole(path, settleMode(fd, this.#options.mode), id)
      return stats.size
    } finally {
      closeSync(fd)
    }
  }

  /** A large file that an earlier attempt began, or finished, in place. */
  #reopen(full: string, bytes: number): { fd: number; before: number } | undefined {
    try {
      const stats = lstatSync(full)
      if (!stats.isFile()) return undefined
      let fd: number
      try {
        fd = openSync(full, O_RDWR | O_NOFOLLOW)
      } catch (error) {
        if (errno(error) !== 'EACCES') throw error
        const own = openSync(full, O_RDONLY | O_NOFOLLOW)
        fchmodSync(own, 0o600)
        closeSync(own)
        fd = openSync(full, O_RDWR | O_NOFOLLOW)
      }
      if (stats.size > bytes) ftruncateSync(fd, bytes)
      return { fd, before: Math.min(stats.size, bytes) }
    } catch (error) {
      if (errno(error) === 'ENOENT') return undefined
      throw error
    }
  }

  /** A file of one leaf. */
  #noteWhole(path: string, { size, mtimeMs, ino }: Marks, id: BlockId): void {
    const { index } = this.#options
    this.contentBytes += size
    if (size > 0) index?.rows.putBlock(id, { kind: 'whole', tree: index.tree, file: { size, mtimeMs, ino, path } })
  }

  #noteLeaf(id: BlockId, file: number, offset: number, length: number): void {
    const { index } = this.#options
    index?.rows.putBlock(id, { kind: 'leaf', tree: index.tree, file, offset, length })
  }

  #opened(file: PlannedFile): OpenFile {
    const open = this.#open.get(file)
    if (open === undefined) throw new Error(`${file.path} is not open`)
    return open
  }

  #at(path: string): string {
    return path === '' ? this.#options.path : `${this.#options.path}/${path}`
  }

  #guard(path: string, call: () => void): void {
    try {
      call()
    } catch (error) {
      throw this.#explain(path, error)
    }
  }

  #explain(path: string, error: unknown): Error {
    const code = errno(error)
    if (code === 'EEXIST') return new ContentError('bad_tree', `${path} is in the tree twice`, { cause: error })
    if (code === 'ENAMETOOLONG' || code === 'ENOTDIR' || code === 'EINVAL' || code === 'EILSEQ') {
      return new ContentError('bad_tree', `${path} cannot be a file here (${code})`, { cause: error })
    }
    return asContentError(error, this.#options.path)
  }
}

function readAll(fd: number, data: Buffer, position: number): boolean {
  let got = 0
  while (got < data.length) {
    const count = readSync(fd, data, got, data.length - got, position + got)
    if (count <= 0) return false
    got += count
  }
  return true
}
