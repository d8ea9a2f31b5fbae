/** Reads blocks back: nodes from the index, leaves from the files they lie in, as long as size, time and inode are what they were. */
import { closeSync, constants, fstatSync, openSync, read, readSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sha256 } from '../hash.ts'
import { LARGE_BLOCK_BYTES } from '../policy.ts'
import type { BlockIndex } from './index.ts'
import { type BlockRow, type FileRow, LOOSE, type TreeRow } from './rows.ts'

const readAsync = promisify(read)
/** A read that takes longer came from a disk and not from the page cache, in milliseconds; from the cache, another thread costs more than the read. */
const SLOW_READ_MS = 3
/** Large reads that go to another thread after a slow one. */
const ASIDE_READS = 64

export type Found =
  | { readonly kind: 'found' /** The block at `headroom`. */; readonly frame: Uint8Array }
  | { readonly kind: 'changed'; readonly path: string }
  | { readonly kind: 'missing' }

export class Blocks {
  readonly #index: BlockIndex
  readonly #trees: string
  /** Large reads that still go to another thread. */
  #asideLeft = 0

  constructor(index: BlockIndex, trees: string) {
    this.#index = index
    this.#trees = trees
  }

  /** Where a tree lies. */
  pathOf(tree: TreeRow): string {
    return tree.path ?? join(this.#trees, tree.root)
  }

  /** A block from any of its places; small ones at once, without a promise. With `verify` it is hashed, and a place that lies counts as changed. */
  read(digest: Uint8Array, headroom: number, verify: boolean): Found | Promise<Found> {
    const row = this.#index.block(digest)
    if (row === undefined) return MISSING
    const orElsewhere = (first: Found): Found | Promise<Found> => (first.kind === 'found' ? first : this.#elsewhere(first, digest, headroom, verify))
    const first = this.#readFrom(row, digest, headroom, verify)
    return first instanceof Promise ? first.then(orElsewhere) : orElsewhere(first)
  }

  async #elsewhere(first: Found, digest: Uint8Array, headroom: number, verify: boolean): Promise<Found> {
    for (const other of this.#index.alternates(digest)) {
      if (other.kind === 'node') continue
      const found = await this.#readFrom(other, digest, headroom, verify)
      if (found.kind === 'found') return found
    }
    return first
  }

  #readFrom(row: BlockRow, digest: Uint8Array, headroom: number, verify: boolean): Found | Promise<Found> {
    if (row.kind === 'node') {
      if (headroom === 0) return { kind: 'found', frame: row.bytes }
      const frame = Buffer.allocUnsafe(headroom + row.bytes.length)
      frame.set(row.bytes, headroom)
      return { kind: 'found', frame }
    }
    const tree = this.#index.tree(row.tree)
    const file = row.kind === 'whole' ? row.file : this.#index.file(row.tree, row.file)
    if (row.tree === LOOSE || tree === undefined || tree.status === 'removing' || file === undefined) return MISSING
    const path = file.path === '' ? this.pathOf(tree) : `${this.pathOf(tree)}/${file.path}`
    const changed: Found = { kind: 'changed', path }
    const fd = openUnchanged(path, file)
    if (fd === undefined) return changed
    const { offset, length } = row.kind === 'whole' ? { offset: 0, length: file.size } : row
    const frame = Buffer.allocUnsafe(headroom + length)
    const judge = (whole: boolean): Found => {
      if (!whole || (verify && Buffer.compare(sha256(frame.subarray(headroom)), digest) !== 0)) return changed
      return { kind: 'found', frame }
    }
    if (length >= LARGE_BLOCK_BYTES && this.#asideLeft > 0) {
      this.#asideLeft--
      return readAside(fd, frame, headroom, offset)
        .then(judge)
        .finally(() => closeSync(fd))
    }
    try {
      const started = performance.now()
      const found = judge(readNow(fd, frame, headroom, offset))
      if (performance.now() - started > SLOW_READ_MS) this.#asideLeft = ASIDE_READS
      return found
    } finally {
      closeSync(fd)
    }
  }
}

const MISSING: Found = { kind: 'missing' }

/** The open file, if it is still the one that was noted. */
function openUnchanged(path: string, file: FileRow): number | undefined {
  let fd: number
  try {
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  } catch {
    return undefined
  }
  const stats = fstatSync(fd)
  if (stats.size === file.size && stats.mtimeMs === file.mtimeMs && stats.ino === file.ino && stats.isFile()) return fd
  closeSync(fd)
  return undefined
}

/** Fills `frame` from `from` on; false when the file is too short. */
function readNow(fd: number, frame: Buffer, from: number, position: number): boolean {
  for (let at = from; at < frame.length; ) {
    const count = readSync(fd, frame, at, frame.length - at, position + at - from)
    if (count <= 0) return false
    at += count
  }
  return true
}

async function readAside(fd: number, frame: Buffer, from: number, position: number): Promise<boolean> {
  for (let at = from; at < frame.length; ) {
    const { bytesRead } = await readAsync(fd, frame, at, frame.length - at, position + at - from)
    if (bytesRead <= 0) return false
    at += bytesRead
  }
  return true
}
