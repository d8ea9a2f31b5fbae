/**
 * Rows of the index. Keys are one letter and fixed-width fields, so that everything of one tree or one digest lies together:
 * `d <digest>` where a block is; `h <digest>` the tree where else it is, and `a <digest> <tree>` that place and the next such tree (a list, so that every look-up is of one key: ranges become slow among what was deleted); `f <tree> <file>` a file's path and the marks that show a change;
 * `t <tree>` one tree on disk; `r <codec> <digest>` what is known of a root; `m <name>` the store's own.
 */
import type { CID } from 'multiformats/cid'
import { type BlockId, blockIdOf } from '../cid.ts'

/** Counts up from 1; 0 holds the blocks that belong to no tree on disk. */
export type TreeNumber = number
export const LOOSE: TreeNumber = 0
/** Holds nodes read on the way to a path below them: they can be served, but whatever else has them takes them over. */
export const PASSING: TreeNumber = 2 ** 47

export type BlockRow =
  | {
      readonly kind: 'node'
      readonly tree: TreeNumber /** Where this file or folder lies below its tree's root; undefined for nodes within a file or a sharded folder. */
      readonly place: string | undefined
      readonly bytes: Uint8Array
    }
  | { readonly kind: 'leaf'; readonly tree: TreeNumber; readonly file: number; readonly offset: number; readonly length: number }
  /** A file of one leaf: all of it in one row. */
  | { readonly kind: 'whole'; readonly tree: TreeNumber; readonly file: FileRow }

/** Size, time and inode as they were when the file was read or written. */
export interface FileRow {
  readonly size: number
  readonly mtimeMs: number
  readonly ino: number
  /** Below the tree's root; '' when the tree is this one file. */
  readonly path: string
}

export interface TreeRow {
  readonly root: string
  readonly status: 'partial' | 'complete' | 'removing'
  /** Where a published tree lies; null for one in the store's own `trees/`. */
  readonly path: string | null
  readonly bytes: number
  /** The start of the machine in which its files were written or read, where nobody waited until they were on disk. */
  readonly boot?: string
}

export interface RootRow {
  /** Oldest first. */
  readonly trees: readonly TreeNumber[]
  readonly pinned: boolean
  /** Asked for by itself, not only as a part of `parents`. */
  readonly direct: boolean
  /** dag-cbor roots that were fetched with this one as a link. */
  readonly parents: readonly string[]
}

export const NO_ROOT: RootRow = { trees: [], pinned: false, direct: false, parents: [] }

const TREE_BYTES = 6
const NODE = 1
const NODE_WITHOUT_PLACE = 2
const LEAF = 3
const WHOLE = 4
const WHOLE_HEAD_BYTES = 7
const LEAF_BYTES = 21
const NODE_HEAD_BYTES = 9

/** A key as text of one character a byte. */
export type Key = string

export function keyBytes(key: Key): Buffer {
  return Buffer.from(key, 'latin1')
}

export function blockKey(id: BlockId): Key {
  return `d${id}`
}

export function headKey(id: BlockId): Key {
  return `h${id}`
}

export function alternateKey(id: BlockId, tree: TreeNumber): Key {
  return `a${id}${bigEndian(tree, TREE_BYTES)}`
}

export function fileKey(tree: TreeNumber, file: number): Key {
  return `f${bigEndian(tree, TREE_BYTES)}${bigEndian(file, 4)}`
}

export function treeKey(tree: TreeNumber): Key {
  return `t${bigEndian(tree, TREE_BYTES)}`
}

/** The tree that a `treeKey` is of. */
export function treeOfKey(key: Buffer): TreeNumber {
  return key.readUIntBE(1, TREE_BYTES)
}

export function rootKey(cid: CID): Key {
  return `r${String.fromCharCode(cid.code)}${blockIdOf(cid)}`
}

function bigEndian(value: number, bytes: number): string {
  let text = ''
  for (let rest = value, left = bytes; left > 0; left--, rest = Math.floor(rest / 256)) text = String.fromCharCode(rest % 256) + text
  return text
}

export const NEXT_TREE_KEY: Key = 'mnext-tree'
export const VERSION_KEY: Key = 'mversion'

export function encodeBlock(row: BlockRow): Buffer {
  if (row.kind === 'leaf') {
    const value = Buffer.allocUnsafe(LEAF_BYTES)
    value[0] = LEAF
    value.writeUIntBE(row.tree, 1, 6)
    value.writeUInt32BE(row.file, 7)
    value.writeUIntBE(row.offset, 11, 6)
    value.writeUInt32BE(row.length, 17)
    return value
  }
  if (row.kind === 'whole') {
    const head = Buffer.allocUnsafe(WHOLE_HEAD_BYTES)
    head[0] = WHOLE
    head.writeUIntBE(row.tree, 1, 6)
    return Buffer.concat([head, encodeFile(row.file)])
  }
  const place = Buffer.from(row.place ?? '')
  const value = Buffer.allocUnsafe(NODE_HEAD_BYTES + place.length + row.bytes.length)
  value[0] = row.place === undefined ? NODE_WITHOUT_PLACE : NODE
  value.writeUIntBE(row.tree, 1, 6)
  value.writeUInt16BE(place.length, 7)
  value.set(place, NODE_HEAD_BYTES)
  value.set(row.bytes, NODE_HEAD_BYTES + place.length)
  return value
}

export function decodeBlock(value: Buffer): BlockRow {
  const tree = value.readUIntBE(1, 6)
  if (value[0] === LEAF) {
    return { kind: 'leaf', tree, file: value.readUInt32BE(7), offset: value.readUIntBE(11, 6), length: value.readUInt32BE(17) }
  }
  if (value[0] === WHOLE) return { kind: 'whole', tree, file: decodeFile(value.subarray(WHOLE_HEAD_BYTES)) }
  const end = NODE_HEAD_BYTES + value.readUInt16BE(7)
  return { kind: 'node', tree, place: value[0] === NODE ? value.toString('utf8', NODE_HEAD_BYTES, end) : undefined, bytes: value.subarray(end) }
}

/** A further place of a block and the tree with the one after it (LOOSE: none). */
export interface Alternate {
  readonly next: TreeNumber
  readonly row: BlockRow
}

export function encodeAlternate({ next, row }: Alternate): Buffer {
  return Buffer.concat([encodeTreeNumber(next), encodeBlock(row)])
}

export function decodeAlternate(value: Buffer): Alternate {
  return { next: decodeTreeNumber(value), row: decodeBlock(value.subarray(6)) }
}

export function encodeTreeNumber(tree: TreeNumber): Buffer {
  const value = Buffer.allocUnsafe(6)
  value.writeUIntBE(tree, 0, 6)
  return value
}

export function decodeTreeNumber(value: Buffer): TreeNumber {
  return value.readUIntBE(0, 6)
}

export function encodeFile(row: FileRow): Buffer {
  const path = Buffer.from(row.path)
  const value = Buffer.allocUnsafe(24 + path.length)
  value.writeDoubleBE(row.size, 0)
  value.writeDoubleBE(row.mtimeMs, 8)
  value.writeDoubleBE(row.ino, 16)
  value.set(path, 24)
  return value
}

export function decodeFile(value: Buffer): FileRow {
  return { size: value.readDoubleBE(0), mtimeMs: value.readDoubleBE(8), ino: value.readDoubleBE(16), path: value.toString('utf8', 24) }
}

export function encodeRecord(row: TreeRow | RootRow): Buffer {
  return Buffer.from(JSON.stringify(row))
}

/** Our own rows, written by `encodeRecord`. */
export function decodeTree(value: Buffer): TreeRow {
  return JSON.parse(value.toString()) as TreeRow
}

export function decodeRoot(value: Buffer): RootRow {
  return JSON.parse(value.toString()) as RootRow
}
