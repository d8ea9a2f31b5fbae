/** Walks a DAG whose blocks are at hand: paths, listings, byte ranges. */
import type { CID } from 'multiformats/cid'
import { nameHash } from './build.ts'
import { DAG_CBOR, RAW } from './cid.ts'
import { ContentError } from './content.ts'
import { type DagNode, decodeNode, type FilePart, type NamedLink } from './dag.ts'
import { splitPath } from './names.ts'
import { NODE_DEPTH_MAX, SHARD_DEPTH_MAX, TREE_ENTRIES_MAX } from './policy.ts'

/** A verified block; throws ContentError when it is not to be had. */
export type GetBlock = (cid: CID) => Promise<Uint8Array>

const NO_BYTES = new Uint8Array(0)
/** File nodes within file nodes: 1024 links each, so 6 levels are more than any disk holds. */
const FILE_DEPTH_MAX = 12

/** Where a path leads: to an id, or to a node that is not at hand. */
export type Resolved = { readonly cid: CID } | { readonly missing: CID }

/** The id of what lies at `path` below `root`, reading only the nodes on the way, with `get` for those at hand. Throws ContentError `not_found` or `not_a_directory`. */
export function resolvePath(root: CID, path: string | undefined, get: (cid: CID) => Uint8Array | undefined): Resolved {
  let at = root
  for (const name of splitPath(path)) {
    const bytes = at.code === RAW ? NO_BYTES : get(at)
    if (bytes === undefined) return { missing: at }
    const node = decodeNode(at, bytes)
    if (node.kind !== 'directory' && node.kind !== 'shard')
      throw new ContentError('not_a_directory', `${at} is no folder, so it has no ${JSON.stringify(name)} (in ${root}/${path})`)
    const found = node.kind === 'directory' ? linkNamed(node.entries, name) : findInShards(node, name, get)
    if (found === undefined) throw new ContentError('not_found', `there is no ${JSON.stringify(name)} in ${root}/${path}`)
    if ('missing' in found) return found
    at = found.cid
  }
  return { cid: at }
}

function linkNamed(entries: readonly NamedLink[], name: string): { cid: CID } | undefined {
  return entries.find((entry) => entry.name === name)
}

function findInShards(top: Extract<DagNode, { kind: 'shard' }>, name: string, get: (cid: CID) => Uint8Array | undefined): Resolved | undefined {
  const hash = nameHash(name)
  let node = top
  for (let depth = 0; depth < SHARD_DEPTH_MAX; depth++) {
    const entry = linkNamed(node.entries, name)
    if (entry !== undefined) return entry
    const below = node.shards.find((candidate) => candidate.slot === hash[depth])
    if (below === undefined) return undefined
    const bytes = get(below.cid)
    if (bytes === undefined) return { missing: below.cid }
    const next = decodeNode(below.cid, bytes)
    if (next.kind !== 'shard') throw new ContentError('bad_tree', `${below.cid} should be a shard of a folder`)
    node = next
  }
  return undefined
}

/** All entries of a directory, sharded or not, in no particular order. Throws ContentError `not_a_directory`. */
export async function directoryEntries(cid: CID, get: GetBlock): Promise<NamedLink[]> {
  const top = await nodeOf(cid, get)
  if (top.kind === 'directory') return [...top.entries]
  if (top.kind !== 'shard') throw new ContentError('not_a_directory', `${cid} is not a folder`)
  const entries: NamedLink[] = []
  const waiting = [{ node: top, depth: 0 }]
  for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
    entries.push(...item.node.entries)
    if (entries.length > TREE_ENTRIES_MAX) throw new ContentError('too_large', `${cid} has more than ${TREE_ENTRIES_MAX} entries`)
    if (item.depth > SHARD_DEPTH_MAX) throw new ContentError('bad_tree', `${cid} is sharded too deeply`)
    for (const shard of item.node.shards) {
      const node = await nodeOf(shard.cid, get)
      if (node.kind !== 'shard') throw new ContentError('bad_tree', `${shard.cid} should be a shard of a folder`)
      waiting.push({ node, depth: item.depth + 1 })
    }
  }
  return entries
}

/** The bytes of a file from `from` up to `to`, in order, a leaf at a time; memory is one leaf. Throws ContentError `bad_tree` for a folder. */
export async function* fileBytes(cid: CID, get: GetBlock, range?: { from: number; to: number }): AsyncGenerator<Uint8Array, void, undefined> {
  const from = Math.max(0, range?.from ?? 0)
  const to = range?.to ?? Number.POSITIVE_INFINITY
  const cut = (bytes: Uint8Array, at: number): Uint8Array => bytes.subarray(Math.max(0, from - at), Math.max(0, Math.min(bytes.length, to - at)))
  const top = await nodeOf(cid, get)
  if (top.kind === 'leaf') {
    const bytes = cut(top.bytes, 0)
    if (bytes.length > 0) yield bytes
    return
  }
  const stack: { parts: readonly FilePart[]; next: number; at: number }[] = []
  const enter = (node: DagNode, at: number, expected?: number): Uint8Array => {
    if (node.kind !== 'file') throw new ContentError('bad_tree', `${cid} is not a file`)
    if (expected !== undefined && node.bytes !== expected) throw new ContentError('bad_tree', `a part of ${cid} has another size than said`)
    if (stack.length > FILE_DEPTH_MAX) throw new ContentError('bad_tree', `${cid} is nested too deeply`)
    stack.push({ parts: node.parts, next: 0, at: at + node.data.length })
    return cut(node.data, at)
  }
  const inline = enter(top, 0)
  if (inline.length > 0) yield inline
  for (let row = stack.at(-1); row !== undefined; row = stack.at(-1)) {
    const part = row.parts[row.next++]
    if (part === undefined || row.at >= to) {
      stack.pop()
      continue
    }
    const at = row.at
    row.at += part.bytes
    if (row.at <= from || part.bytes === 0) continue
    const node = await nodeOf(part.cid, get)
    if (node.kind === 'leaf' && node.bytes.length !== part.bytes) throw new ContentError('bad_tree', `a part of ${cid} has another size than said`)
    const bytes = node.kind === 'leaf' ? cut(node.bytes, at) : enter(node, at, part.bytes)
    if (bytes.length > 0) yield bytes
  }
}

/** Every block of a DAG once, parents before children. */
export async function* allBlocks(root: CID, get: GetBlock): AsyncGenerator<{ cid: CID; bytes: Uint8Array }, void, undefined> {
  const seen = new Set<string>()
  const waiting: { cid: CID; nodes: number }[] = [{ cid: root, nodes: 0 }]
  for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
    const { cid, nodes } = item
    if (seen.has(cid.toString())) continue
    if (seen.size > TREE_ENTRIES_MAX) throw new ContentError('too_large', `${root} has more than ${TREE_ENTRIES_MAX} blocks`)
    if (nodes > NODE_DEPTH_MAX) throw new ContentError('bad_tree', `${root} links too deeply`)
    seen.add(cid.toString())
    const bytes = await get(cid)
    yield { cid, bytes }
    if (cid.code === RAW) continue
    const deeper = cid.code === DAG_CBOR ? nodes + 1 : nodes
    for (const child of linksOf(decodeNode(cid, bytes)).reverse()) waiting.push({ cid: child, nodes: deeper })
  }
}

/** What a node links to, in order. */
export function linksOf(node: DagNode): CID[] {
  switch (node.kind) {
    case 'leaf':
      return []
    case 'file':
      return node.parts.map((part) => part.cid)
    case 'directory':
      return node.entries.map((entry) => entry.cid)
    case 'shard':
      return [...node.entries.map((entry) => entry.cid), ...node.shards.map((shard) => shard.cid)]
    case 'links':
      return [...node.links]
  }
}

/** What `list` shows of one entry. A file's size is exact; a folder's is that of all blocks below, as its parent claims. */
export async function describeEntry(link: NamedLink, get: GetBlock): Promise<{ name: string; cid: CID; bytes: number; directory: boolean }> {
  const { name, cid, dagBytes } = link
  if (cid.code === RAW) return { name, cid, bytes: dagBytes, directory: false }
  const node = await nodeOf(cid, get)
  return { name, cid, bytes: node.kind === 'file' ? node.bytes : dagBytes, directory: node.kind === 'directory' || node.kind === 'shard' }
}

async function nodeOf(cid: CID, get: GetBlock): Promise<DagNode> {
  return decodeNode(cid, await get(cid))
}
