/**
 * What of a tree is to be fetched next: a pure walk of the DAG in depth-first order, so that files are written from front to
 * back, that looks past nodes which are still on their way. Memory is one row of links for each node being walked.
 */
import type { CID } from 'multiformats/cid'
import { type BlockId, blockIdOf, RAW } from './cid.ts'
import { ContentError } from './content.ts'
import { type DagNode, decodeNode, type FilePart, type NamedLink } from './dag.ts'
import { BLOCK_BYTES_MAX, NODE_BYTES_GUESS, SHARD_DEPTH_MAX, TREE_DEPTH_MAX, TREE_ENTRIES_MAX, TREE_PATH_BYTES_MAX } from './policy.ts'

/** A file of more than one block while its parts arrive. */
export interface PlannedFile {
  readonly cid: CID
  readonly path: string
  readonly bytes: number
  /** Parts that are not on disk yet. */
  left: number
}

type Place =
  | { readonly kind: 'entry'; readonly path: string; readonly depth: number }
  | { readonly kind: 'part'; readonly file: PlannedFile; readonly offset: number; readonly bytes: number; readonly depth: number }
  | { readonly kind: 'shard'; readonly path: string; readonly names: Set<string>; readonly depth: number; readonly shardDepth: number }

/** One block to be had, and where it belongs. */
export interface Want {
  readonly cid: CID
  readonly id: BlockId
  readonly place: Place
  /** What it will weigh, as far as known. */
  readonly bytesGuess: number
}

/** What an accepted block means on disk. */
export type Step =
  | { readonly kind: 'directory'; readonly path: string }
  | { readonly kind: 'file'; readonly path: string; readonly data: Uint8Array }
  | { readonly kind: 'open'; readonly file: PlannedFile; readonly data: Uint8Array }
  | { readonly kind: 'part'; readonly file: PlannedFile; readonly offset: number; readonly data: Uint8Array }
  | { readonly kind: 'nothing' }

/** Links whose blocks are still to be asked for; `waiting` while the node that holds them is on its way. */
interface Row {
  waiting: boolean
  next: number
  count: number
  want: (index: number) => Want
  after: Row | undefined
}

const FILE_NODES_DEPTH_MAX = 12
const NONE = (): Want => {
  throw new RangeError('an empty row has no want')
}

export class TreePlan {
  readonly #first: Row
  readonly #again: Want[] = []
  readonly #waiting = new Map<Want, Row>()
  readonly #bytesMax: number
  #bytes = 0
  #entries = 1
  /** Bytes of the whole DAG as its root claims; 0 until known. */
  totalBytes = 0

  constructor(root: CID, bytesMax = Number.POSITIVE_INFINITY) {
    this.#bytesMax = bytesMax
    const want = wantOf(root, { kind: 'entry', path: '', depth: 0 }, BLOCK_BYTES_MAX)
    const row: Row = { waiting: false, next: 0, count: 1, want: () => want, after: undefined }
    this.#first = { waiting: true, next: 0, count: 0, want: NONE, after: row }
  }

  /** The next block in order; undefined when all that is known has been given out. */
  next(): Want | undefined {
    const again = this.#again.pop()
    if (again !== undefined) return again
    let before = this.#first
    for (let row = before.after; row !== undefined; row = before.after) {
      if (row.waiting) before = row
      else if (row.next >= row.count) before.after = row.after
      else {
        const want = row.want(row.next++)
        if (want.cid.code !== RAW) {
          const below: Row = { waiting: true, next: 0, count: 0, want: NONE, after: row }
          before.after = below
          this.#waiting.set(want, below)
        }
        return want
      }
    }
    return undefined
  }

  /** Gives a want back that was not met. */
  again(want: Want): void {
    this.#again.push(want)
  }

  /** Takes the verified block of a want. Throws ContentError `bad_tree` or `too_large`. */
  accept(want: Want, bytes: Uint8Array): Step {
    const { place } = want
    this.#count(bytes.length)
    const node = decodeNode(want.cid, bytes)
    switch (place.kind) {
      case 'entry':
        return this.#acceptEntry(want, place, node, bytes.length)
      case 'part':
        return this.#acceptPart(want, place, node)
      case 'shard': {
        if (node.kind !== 'shard') throw bad(want, 'should be a shard of a folder')
        this.#expandShard(want, node, place)
        return { kind: 'nothing' }
      }
    }
  }

  /** Counts a leaf that is on disk already, without looking at it again. */
  skip(bytes: number): void {
    this.#count(bytes)
  }

  #acceptEntry(want: Want, place: Extract<Place, { kind: 'entry' }>, node: DagNode, nodeBytes: number): Step {
    const { path, depth } = place
    switch (node.kind) {
      case 'leaf':
        if (path === '') this.totalBytes = nodeBytes
        return { kind: 'file', path, data: node.bytes }
      case 'file': {
        if (node.bytes + this.#bytes - nodeBytes > this.#bytesMax) throw this.#tooLarge()
        if (path === '') this.totalBytes = nodeBytes + node.bytes
        const file: PlannedFile = { cid: want.cid, path, bytes: node.bytes, left: node.parts.length }
        this.#expandParts(want, file, node.parts, node.data.length, 1)
        return { kind: 'open', file, data: node.data }
      }
      case 'directory':
        if (path === '') this.totalBytes = node.entries.reduce((total, entry) => total + entry.dagBytes, nodeBytes)
        this.#expand(want, node.entries.length, this.#entryWants(node.entries, path, depth))
        return { kind: 'directory', path }
      case 'shard':
        if (path === '') this.totalBytes = node.entries.reduce((total, entry) => total + entry.dagBytes, nodeBytes)
        this.#expandShard(want, node, { kind: 'shard', path, names: new Set(), depth, shardDepth: 0 })
        return { kind: 'directory', path }
      case 'links':
        throw bad(want, 'is no file or folder')
    }
  }

  #acceptPart(want: Want, place: Extract<Place, { kind: 'part' }>, node: DagNode): Step {
    const { file, offset, bytes, depth } = place
    if (node.kind === 'leaf') {
      if (node.bytes.length !== bytes) throw bad(want, `has ${node.bytes.length} bytes where its file says ${bytes}`)
      return { kind: 'part', file, offset, data: node.bytes }
    }
    if (node.kind !== 'file') throw bad(want, 'should be a part of a file')
    if (node.bytes !== bytes) throw bad(want, `has ${node.bytes} bytes where its file says ${bytes}`)
    if (depth > FILE_NODES_DEPTH_MAX) throw bad(want, 'is nested too deeply')
    file.left += node.parts.length
    this.#expandParts(want, file, node.parts, offset + node.data.length, depth + 1)
    return { kind: 'part', file, offset, data: node.data }
  }

  #expandParts(want: Want, file: PlannedFile, parts: readonly FilePart[], from: number, depth: number): void {
    let offset = from
    this.#expand(want, parts.length, (index) => {
      const part = parts[index]
      if (part === undefined) throw new RangeError('no such part')
      const place: Place = { kind: 'part', file, offset, bytes: part.bytes, depth }
      offset += part.bytes
      return wantOf(part.cid, place, part.bytes)
    })
  }

  #expandShard(want: Want, node: Extract<DagNode, { kind: 'shard' }>, place: Extract<Place, { kind: 'shard' }>): void {
    const { path, names, depth, shardDepth } = place
    if (shardDepth > SHARD_DEPTH_MAX) throw bad(want, 'is sharded too deeply')
    for (const { name } of node.entries) {
      if (names.has(name)) throw bad(want, `has a second entry named ${JSON.stringify(name)}`)
      names.add(name)
    }
    const entryWant = this.#entryWants(node.entries, path, depth)
    const below: Place = { kind: 'shard', path, names, depth, shardDepth: shardDepth + 1 }
    this.#expand(want, node.entries.length + node.shards.length, (index) => {
      const shard = node.shards[index - node.entries.length]
      return shard === undefined ? entryWant(index) : wantOf(shard.cid, below, 0)
    })
  }

  #entryWants(entries: readonly NamedLink[], parent: string, depth: number): (index: number) => Want {
    this.#entries += entries.length
    if (this.#entries > TREE_ENTRIES_MAX) throw new ContentError('too_large', `the tree has more than ${TREE_ENTRIES_MAX} entries`)
    if (depth > TREE_DEPTH_MAX) throw new ContentError('bad_tree', `the tree is more than ${TREE_DEPTH_MAX} folders deep`)
    return (index) => {
      const entry = entries[index]
      if (entry === undefined) throw new RangeError('no such entry')
      const path = parent === '' ? entry.name : `${parent}/${entry.name}`
      if (path.length > TREE_PATH_BYTES_MAX / 4 && Buffer.byteLength(path) > TREE_PATH_BYTES_MAX)
        throw new ContentError('bad_tree', `a path in the tree is longer than ${TREE_PATH_BYTES_MAX} bytes`)
      return wantOf(entry.cid, { kind: 'entry', path, depth: depth + 1 }, Math.max(entry.dagBytes, 64))
    }
  }

  #expand(want: Want, count: number, make: (index: number) => Want): void {
    const row = this.#waiting.get(want)
    if (row === undefined) throw new Error('a block was accepted twice')
    this.#waiting.delete(want)
    row.waiting = false
    row.count = count
    row.want = make
  }

  #count(bytes: number): void {
    this.#bytes += bytes
    if (this.#bytes > this.#bytesMax) throw this.#tooLarge()
  }

  #tooLarge(): ContentError {
    return new ContentError('too_large', `the content is larger than ${this.#bytesMax} bytes`)
  }
}

/** `leafBytes`: what a leaf should weigh, as others say. */
function wantOf(cid: CID, place: Place, leafBytes: number): Want {
  return { cid, id: blockIdOf(cid), place, bytesGuess: cid.code === RAW ? Math.min(leafBytes, BLOCK_BYTES_MAX) : NODE_BYTES_GUESS }
}

function bad(want: Want, what: string): ContentError {
  return new ContentError('bad_tree', `${want.cid} ${what}`)
}
