/** Nodes of a DAG as they come from anywhere: decoded, bounded and checked before anyone looks at them. */
import * as dagCbor from '@ipld/dag-cbor'
import * as dagPb from '@ipld/dag-pb'
import { UnixFS } from 'ipfs-unixfs'
import { CID } from 'multiformats/cid'
import { messageOf } from '../message-of.ts'
import { acceptCid, DAG_CBOR, DAG_PB, RAW } from './cid.ts'
import { ContentError } from './content.ts'
import { nameProblem } from './names.ts'
import { BLOCK_BYTES_MAX, NODE_LINKS_MAX } from './policy.ts'

export interface NamedLink {
  readonly name: string
  readonly cid: CID
  /** As the parent claims: the size of all blocks below, a hint only. */
  readonly dagBytes: number
}

export interface FilePart {
  readonly cid: CID
  /** Bytes of the file in this part; the part must keep it. */
  readonly bytes: number
}

export type DagNode =
  | { readonly kind: 'leaf'; readonly bytes: Uint8Array }
  | { readonly kind: 'file'; readonly bytes: number; readonly data: Uint8Array; readonly parts: readonly FilePart[] }
  | { readonly kind: 'directory'; readonly entries: readonly NamedLink[] }
  | { readonly kind: 'shard'; readonly entries: readonly NamedLink[]; readonly shards: readonly { readonly cid: CID; readonly slot: number }[] }
  | { readonly kind: 'links'; readonly links: readonly CID[] }

const NO_DATA = new Uint8Array(0)
const BYTE_ORDER_MARK = Buffer.from([0xef, 0xbb, 0xbf])
const SHARD_LABEL = /^[0-9A-F]+$/

/** Decodes a verified block. Throws ContentError `bad_tree` for what talko does not restore: links, unknown kinds, names that leave their folder, sums that are wrong. */
export function decodeNode(cid: CID, bytes: Uint8Array): DagNode {
  if (bytes.length > BLOCK_BYTES_MAX) throw bad(cid, `is larger than ${BLOCK_BYTES_MAX} bytes`)
  if (cid.code === RAW) return { kind: 'leaf', bytes }
  try {
    if (cid.code === DAG_PB) return decodeUnixFs(cid, bytes)
    if (cid.code === DAG_CBOR) return { kind: 'links', links: cborLinks(cid, dagCbor.decode(bytes)) }
  } catch (error) {
    if (error instanceof ContentError) throw error
    throw new ContentError('bad_tree', `${cid} is not a valid node: ${messageOf(error)}`, { cause: error })
  }
  throw bad(cid, `has the unknown codec ${cid.code}`)
}

function decodeUnixFs(cid: CID, bytes: Uint8Array): DagNode {
  const node = dagPb.decode(bytes)
  // decoding drops a byte order mark, so that two names would become one
  if (Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(BYTE_ORDER_MARK) && Buffer.compare(dagPb.encode(dagPb.prepare(node)), bytes) !== 0) {
    throw bad(cid, 'has a name that begins with a byte order mark, or is not canonical')
  }
  if (node.Data === undefined) throw bad(cid, 'is no UnixFS node')
  const unixfs = UnixFS.unmarshal(node.Data)
  switch (unixfs.type) {
    case 'directory':
      return { kind: 'directory', entries: namedLinks(cid, node.Links, 0) }
    case 'hamt-sharded-directory':
      return decodeShard(cid, node.Links, Number(unixfs.fanout ?? 0n))
    case 'file':
    case 'raw':
      return decodeFile(cid, node.Links, unixfs)
    default:
      throw bad(cid, `is a ${unixfs.type}, which is not restored`)
  }
}

function decodeFile(cid: CID, links: readonly dagPb.PBLink[], unixfs: UnixFS): DagNode {
  if (links.length !== unixfs.blockSizes.length) throw bad(cid, 'does not say how large its parts are')
  const data = unixfs.data ?? NO_DATA
  let total = data.length
  const parts = links.map((link, index) => {
    const bytes = Number(unixfs.blockSizes[index])
    if (!Number.isSafeInteger(bytes) || bytes < 0) throw bad(cid, 'has a part of impossible size')
    total += bytes
    return { cid: checkedCid(cid, link.Hash), bytes }
  })
  if (!Number.isSafeInteger(total)) throw bad(cid, 'is impossibly large')
  return { kind: 'file', bytes: total, data, parts }
}

function decodeShard(cid: CID, links: readonly dagPb.PBLink[], fanout: number): DagNode {
  if (fanout < 8 || fanout > 1024 || !Number.isInteger(Math.log2(fanout))) throw bad(cid, `has ${fanout} slots`)
  const width = (fanout - 1).toString(16).length
  const shards: { cid: CID; slot: number }[] = []
  const named: dagPb.PBLink[] = []
  for (const link of links) {
    const label = link.Name?.slice(0, width) ?? ''
    if (label.length !== width || !SHARD_LABEL.test(label)) throw bad(cid, 'has an entry in no slot')
    if (link.Name?.length === width) shards.push({ cid: checkedCid(cid, link.Hash), slot: Number.parseInt(label, 16) })
    else named.push(link)
  }
  return { kind: 'shard', entries: namedLinks(cid, named, width), shards }
}

function namedLinks(cid: CID, links: readonly dagPb.PBLink[], skip: number): NamedLink[] {
  const seen = new Set<string>()
  return links.map((link) => {
    const name = (link.Name ?? '').slice(skip)
    const problem = nameProblem(name)
    if (problem !== undefined) throw bad(cid, `has an entry whose name ${problem}: ${JSON.stringify(name.slice(0, 100))}`)
    if (seen.has(name)) throw bad(cid, `has two entries named ${JSON.stringify(name)}`)
    seen.add(name)
    return { name, cid: checkedCid(cid, link.Hash), dagBytes: link.Tsize ?? 0 }
  })
}

function cborLinks(cid: CID, value: unknown): CID[] {
  const links: CID[] = []
  const waiting: unknown[] = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    const link = CID.asCID(next)
    if (link !== null) {
      if (links.length >= NODE_LINKS_MAX) throw bad(cid, `has more than ${NODE_LINKS_MAX} links`)
      links.push(checkedCid(cid, link))
    } else if (Array.isArray(next)) {
      for (const item of next) waiting.push(item)
    } else if (typeof next === 'object' && next !== null && !(next instanceof Uint8Array)) {
      for (const item of Object.values(next)) waiting.push(item)
    }
  }
  return links.reverse()
}

function checkedCid(parent: CID, link: CID): CID {
  const { version, multihash, code } = link
  if (version === 1 && multihash.code === 0x12 && multihash.digest.length === 32 && (code === RAW || code === DAG_PB || code === DAG_CBOR)) return link
  const accepted = acceptCid(link.toV1().bytes)
  if (accepted === undefined) throw bad(parent, `links to ${link}, which is neither sha2-256 nor of a known codec`)
  return accepted
}

function bad(cid: CID, what: string): ContentError {
  return new ContentError('bad_tree', `${cid} ${what}`)
}
