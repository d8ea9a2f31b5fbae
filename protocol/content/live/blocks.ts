/** Reads blocks back: nodes from the index, leaves from the files they lie in, as long as size, time and inode are what they were. */
import { closeSync, constants, fstatSync, lstatSync, openSync, read, readSync, type Stats } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type BlockId, sha256Text } from '../hash.ts'
import { LARGE_BLOCK_BYTES } from '../policy.ts'
import type { Room } from '../serve.ts'
import { isOtherBoot } from './durable.ts'
import type { BlockIndex } from './index.ts'
import { type BlockRow, type FileRow, LOOSE, type TreeRow } from './rows.ts'

const readAsync = promisify(read)
/** A read that takes longer came from a disk and not from the page cache, in milliseconds; from the cache, another thread costs more than the read. */
const SLOW_READ_MS = 3
/** Large reads that go to another thread after a slow one. */
const ASIDE_READS = 64

export type Found = { readonly kind: 'found'; readonly block: Uint8Array } | { readonly kind: 'changed'; readonly path: string } | { readonly kind: 'missing' }

export class Blocks {
  readonly #index: BlockIndex
  readonly #trees: string
  readonly #boot: string
  /** Large reads that still go to another thread. */
  #asideLeft = 0

  constructor(index: BlockIndex, trees: string, boot: string) {
    this.#index = index
    this.#trees = trees
    this.#boot = boot
  }

  /** Where a tree lies. */
  pathOf(tree: TreeRow): string {
    return tree.path ?? join(this.#trees, tree.root)
  }

  /** A block from any of its places; small ones at once, without a promise. With `verify` it is hashed, and a place that lies counts as changed. `room` says where it comes to stand, and may be asked again when it must be read from elsewhere. */
  read(id: BlockId, verify: boolean, room?: Room): Found | Promise<Found> {
    const row = this.#index.block(id)
    if (row === undefined) return MISSING
    const first = this.#readFrom(row, id, verify, room)
    if (first instanceof Promise) return first.then((found) => (found.kind === 'found' ? found : this.#elsewhere(found, id, verify, room)))
    return first.kind === 'found' ? first : this.#elsewhere(first, id, verify, room)
  }

  async #elsewhere(first: Found, id: BlockId, verify: boolean, room: Room | undefined): Promise<Found> {
    for (const other of this.#index.alternates(id)) {
      if (other.kind === 'node') continue
      const found = await this.#readFrom(other, id, verify, room)
      if (found.kind === 'found') return found
    }
    return first
  }

  #readFrom(row: BlockRow, id: BlockId, verify: boolean, room: Room | undefined): Found | Promise<Found> {
    if (row.kind === 'node') {
      if (room === undefined) return { kind: 'found', block: row.bytes }
      const block = room(row.bytes.length)
      block.set(row.bytes)
      return { kind: 'found', block }
    }
    const tree = this.#index.tree(row.tree)
    const file = row.kind === 'whole' ? row.file : this.#index.file(row.tree, row.file)
    if (row.tree === LOOSE || tree === undefined || tree.status === 'removing' || file === undefined) return MISSING
    const path = file.path === '' ? this.pathOf(tree) : `${this.pathOf(tree)}/${file.path}`
    const changed: Found = { kind: 'changed', path }
    const fd = openUnchanged(path, file)
    if (fd === undefined) {
      // It may only be that too many files are open.
      if (!isUnchanged(lstatSync(path, { throwIfNoEntry: false }), file)) this.#index.lose(row.tree)
      return changed
    }
    const offset = row.kind === 'whole' ? 0 : row.offset
    const block = (room ?? Buffer.allocUnsafe)(row.kind === 'whole' ? file.size : row.length)
    // A file that the machine had no time to write may have its size, and nothing in it.
    const doubted = verify || isOtherBoot(tree.boot, this.#boot)
    const judge = (whole: boolean): Found => (whole && (!doubted || sha256Text(block) === id) ? { kind: 'found', block } : changed)
    if (block.length >= LARGE_BLOCK_BYTES && this.#asideLeft > 0) {
      this.#asideLeft--
      return readAside(fd, block, offset)
        .then(judge)
        .finally(() => closeSync(fd))
    }
    try {
      const started = performance.now()
      const found = judge(readNow(fd, block, offset))
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
  if (isUnchanged(fstatSync(fd), file)) return fd
  closeSync(fd)
  return undefined
}

/** Whether it is still the file that was noted, as far as can be told without reading it. */
export function isUnchanged(stats: Stats | undefined, { size, mtimeMs, ino }: Omit<FileRow, 'path'>): boolean {
  return stats?.size === size && stats.mtimeMs === mtimeMs && stats.ino === ino && stats.isFile()
}

/** Fills `block`; false when the file is too short. */
function readNow(fd: number, block: Uint8Array, position: number): boolean {
  for (let at = 0; at < block.length; ) {
    const count = readSync(fd, block, at, block.length - at, position + at)
    if (count <= 0) return false
    at += count
  }
  return true
}

async function readAside(fd: number, block: Uint8Array, position: number): Promise<boolean> {
  for (let at = 0; at < block.length; ) {
    const { bytesRead } = await readAsync(fd, block, at, block.length - at, position + at)
    if (bytesRead <= 0) return false
    at += bytesRead
  }
  return true
}
