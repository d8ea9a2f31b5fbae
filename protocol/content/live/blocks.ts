/** Reads blocks back: nodes from the index, leaves from the files they lie in, as long as size, time and inode are what they were. */
import { closeSync, constants, fstatSync, openSync, read, readSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sha256 } from '../cid.ts'
import { LARGE_BLOCK_BYTES } from '../policy.ts'
import type { BlockIndex } from './index.ts'
import { type BlockRow, LOOSE, type TreeRow } from './rows.ts'

const readAsync = promisify(read)

export type Found =
  | { readonly kind: 'found' /** The block at `headroom`. */; readonly frame: Uint8Array }
  | { readonly kind: 'changed'; readonly path: string }
  | { readonly kind: 'missing' }

export class Blocks {
  readonly #index: BlockIndex
  readonly #trees: string

  constructor(index: BlockIndex, trees: string) {
    this.#index = index
    this.#trees = trees
  }

  /** Where a tree lies. */
  pathOf(tree: TreeRow): string {
    return tree.path ?? join(this.#trees, tree.root)
  }

  /** A block from any of its places. With `verify` it is hashed, and a place that lies counts as changed. */
  async read(digest: Uint8Array, headroom: number, verify: boolean): Promise<Found> {
    const row = this.#index.block(digest)
    if (row === undefined) return { kind: 'missing' }
    const first = await this.#readFrom(row, digest, headroom, verify)
    if (first.kind === 'found') return first
    for (const other of this.#index.alternates(digest)) {
      if (other.kind !== 'leaf') continue
      const found = await this.#readFrom(other, digest, headroom, verify)
      if (found.kind === 'found') return found
    }
    return first
  }

  async #readFrom(row: BlockRow, digest: Uint8Array, headroom: number, verify: boolean): Promise<Found> {
    if (row.kind === 'node') {
      if (headroom === 0) return { kind: 'found', frame: row.bytes }
      const frame = Buffer.allocUnsafe(headroom + row.bytes.length)
      frame.set(row.bytes, headroom)
      return { kind: 'found', frame }
    }
    const tree = this.#index.tree(row.tree)
    const file = this.#index.file(row.tree, row.file)
    if (row.tree === LOOSE || tree === undefined || tree.status === 'removing' || file === undefined) return { kind: 'missing' }
    const path = file.path === '' ? this.pathOf(tree) : `${this.pathOf(tree)}/${file.path}`
    let fd: number
    try {
      fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    } catch {
      return { kind: 'changed', path }
    }
    try {
      const stats = fstatSync(fd)
      if (stats.size !== file.size || stats.mtimeMs !== file.mtimeMs || stats.ino !== file.ino || !stats.isFile()) return { kind: 'changed', path }
      const frame = Buffer.allocUnsafe(headroom + row.length)
      for (let got = 0; got < row.length; ) {
        const left = row.length - got
        const count =
          left < LARGE_BLOCK_BYTES
            ? readSync(fd, frame, headroom + got, left, row.offset + got)
            : (await readAsync(fd, frame, headroom + got, left, row.offset + got)).bytesRead
        if (count <= 0) return { kind: 'changed', path }
        got += count
      }
      if (verify && Buffer.compare(sha256(frame.subarray(headroom)), digest) !== 0) return { kind: 'changed', path }
      return { kind: 'found', frame }
    } finally {
      closeSync(fd)
    }
  }
}
