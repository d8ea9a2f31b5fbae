/** Makes UnixFS nodes exactly as kubo's unixfs-v1-2025 profile does: 1 MiB raw leaves, 1024 links, version 1, directories sharded beyond 256 KiB by the size of their block. */
import * as dagPb from '@ipld/dag-pb'
import { murmur364 } from '@multiformats/murmur3'
import { UnixFS } from 'ipfs-unixfs'
import type { CID } from 'multiformats/cid'
import { cidOfBytes, DAG_PB } from './cid.ts'
import { ContentError } from './content.ts'
import { FILE_LINKS_MAX, FLAT_DIRECTORY_BYTES_MAX, SHARD_DEPTH_MAX, SHARD_FANOUT } from './policy.ts'

/** The root of a finished DAG. */
export interface Built {
  readonly cid: CID
  /** All blocks below and of the root together. */
  readonly dagBytes: number
  /** Bytes of the file or of all files below. */
  readonly contentBytes: number
}

export interface BuiltEntry extends Built {
  readonly name: string
}

/** Takes each finished node; nodes below come before those above. */
export type PutNode = (cid: CID, bytes: Uint8Array) => void

const DIRECTORY_DATA = new UnixFS({ type: 'directory' }).marshal()
const LABEL_WIDTH = (SHARD_FANOUT - 1).toString(16).length

/** The nodes above the leaves of one file, made while the leaves arrive: memory is one row of links for each level. */
export class FileBuilder {
  readonly #put: PutNode
  readonly #levels: Built[][] = []

  constructor(put: PutNode) {
    this.#put = put
  }

  /** The next leaf in order. */
  leaf(cid: CID, bytes: number): void {
    this.#push(0, { cid, dagBytes: bytes, contentBytes: bytes })
  }

  /** The file; there must have been a leaf (an empty file has one of 0 bytes). */
  finish(): Built {
    for (let level = 0; ; level++) {
      const row = this.#levels[level] ?? []
      const top = level >= this.#levels.length - 1
      const only = row[0]
      if (top && row.length === 1 && only !== undefined) return only
      if (top && row.length === 0) throw new Error('a file without leaves has no root')
      if (row.length > 0) this.#close(level)
    }
  }

  #push(level: number, built: Built): void {
    const row = this.#levels[level]
    if (row === undefined) this.#levels.push([built])
    else {
      if (row.length === FILE_LINKS_MAX) this.#close(level)
      this.#levels[level]?.push(built)
    }
  }

  #close(level: number): void {
    const row = this.#levels[level] ?? []
    this.#levels[level] = []
    const unixfs = new UnixFS({ type: 'file' })
    for (const { contentBytes } of row) unixfs.addBlockSize(BigInt(contentBytes))
    const links = row.map(({ cid, dagBytes }) => ({ Name: '', Tsize: dagBytes, Hash: cid }))
    this.#push(level + 1, node(this.#put, unixfs.marshal(), links, sum(row, 'dagBytes'), sum(row, 'contentBytes')))
  }
}

/** A directory of finished entries, sharded when one block would be too large. Throws ContentError `bad_tree` when names cannot be told apart by their hash. */
export function buildDirectory(entries: readonly BuiltEntry[], put: PutNode): Built {
  const links = entries.map(({ name, cid, dagBytes }) => ({ Name: name, Tsize: dagBytes, Hash: cid }))
  const bytes = encode(DIRECTORY_DATA, links)
  if (bytes.length > FLAT_DIRECTORY_BYTES_MAX) return buildShards(entries, put)
  const cid = cidOfBytes(DAG_PB, bytes)
  put(cid, bytes)
  return { cid, dagBytes: sum(entries, 'dagBytes') + bytes.length, contentBytes: sum(entries, 'contentBytes') }
}

interface Hashed {
  readonly entry: BuiltEntry
  readonly hash: Uint8Array
}

function buildShards(entries: readonly BuiltEntry[], put: PutNode): Built {
  return shard(
    entries.map((entry) => ({ entry, hash: nameHash(entry.name) })),
    0,
    put
  )
}

function shard(hashed: readonly Hashed[], depth: number, put: PutNode): Built {
  if (depth >= SHARD_DEPTH_MAX) throw new ContentError('bad_tree', 'a folder has names made to have one hash; rename some')
  const slots = new Map<number, Hashed[]>()
  for (const item of hashed) {
    const slot = item.hash[depth] ?? 0
    const row = slots.get(slot)
    if (row === undefined) slots.set(slot, [item])
    else row.push(item)
  }
  const bits = new Uint8Array(SHARD_FANOUT / 8)
  const links: dagPb.PBLink[] = []
  let below = 0
  let contentBytes = 0
  for (let slot = 0; slot < SHARD_FANOUT; slot++) {
    const row = slots.get(slot)
    const only = row?.[0]
    if (row === undefined || only === undefined) continue
    const at = bits.length - 1 - (slot >>> 3)
    bits[at] = (bits[at] ?? 0) | (1 << (slot & 7))
    const label = slotLabel(slot)
    const child = row.length === 1 ? only.entry : shard(row, depth + 1, put)
    links.push({ Name: row.length === 1 ? label + only.entry.name : label, Tsize: child.dagBytes, Hash: child.cid })
    below += child.dagBytes
    contentBytes += child.contentBytes
  }
  const first = bits.findIndex((byte) => byte !== 0)
  const data = new UnixFS({ type: 'hamt-sharded-directory', data: bits.subarray(first), fanout: BigInt(SHARD_FANOUT), hashType: 0x22n })
  return node(put, data.marshal(), links, below, contentBytes)
}

/** First 64 bits of murmur3-128, one byte for each level of shards. */
export function nameHash(name: string): Uint8Array {
  const hash = murmur364.encode(Buffer.from(name))
  if (hash instanceof Promise) throw new Error('murmur3 is expected to answer at once')
  return hash
}

/** How the links of a shard begin. */
export function slotLabel(slot: number): string {
  return slot.toString(16).toUpperCase().padStart(LABEL_WIDTH, '0')
}

function node(put: PutNode, data: Uint8Array, links: dagPb.PBLink[], below: number, contentBytes: number): Built {
  const bytes = encode(data, links)
  const cid = cidOfBytes(DAG_PB, bytes)
  put(cid, bytes)
  return { cid, dagBytes: below + bytes.length, contentBytes }
}

function encode(data: Uint8Array, links: dagPb.PBLink[]): Uint8Array {
  return dagPb.encode(dagPb.prepare({ Data: data, Links: links }))
}

function sum(items: readonly Built[], what: 'dagBytes' | 'contentBytes'): number {
  let total = 0
  for (const item of items) total += item[what]
  return total
}
