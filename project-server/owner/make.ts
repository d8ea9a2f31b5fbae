/** Directories made of what the project already holds: only the directory blocks are new. */

import * as dagPb from '@ipld/dag-pb'
import { UnixFS } from 'ipfs-unixfs'
import type { CID } from 'multiformats/cid'
import { isRelativePath } from '#protocol/bundle/manifest'
import { acceptCid, cidOfBytes, DAG_PB, RAW } from '#protocol/content/cid'
import type { ContentStore } from '#protocol/content/content'
import type { Made, Make } from '#protocol/owner/messages'
import { OwnerError } from './request.ts'

/** Kubo shards directories beyond this; a tree made here is kept plain, and a bigger directory is refused. */
const DIRECTORY_BYTES_MAX = 256 * 1024
const DEPTH_MAX = 32

type Folder = Map<string, Folder | CID>

interface Built {
  readonly cid: CID
  /** Cumulative size as dag-pb links state it. */
  readonly tsize: number
}

/** Builds and pins the tree; throws OwnerError. */
export async function makeTree(
  request: Make,
  content: Pick<ContentStore, 'has' | 'getBlock' | 'putBlock' | 'pin' | 'sizeOf'>
): Promise<Made & { readonly cid: CID }> {
  const entries = request.entries.map(({ path, root }) => {
    const cid = acceptCid(root)
    if (cid === undefined || (cid.code !== DAG_PB && cid.code !== RAW))
      throw new OwnerError('malformed', `the entry ${JSON.stringify(path)} does not name a file or folder`)
    return { path, root: cid }
  })
  const { cid } = await makeFolder(entries, content)
  return { cid, root: cid.toString(), bytes: content.sizeOf(cid) ?? 0 }
}

/** The same of roots that are known to be files or folders. */
export async function makeFolder(
  entries: readonly { readonly path: string; readonly root: CID }[],
  content: Pick<ContentStore, 'has' | 'getBlock' | 'putBlock' | 'pin'>
): Promise<{ readonly cid: CID }> {
  const top: Folder = new Map()
  for (const { path, root } of entries) place(top, path, root)
  for (const cid of new Set(leaves(top))) if (!content.has(cid)) throw new OwnerError('missing_content', `the project does not hold ${cid}`)
  const { cid } = await build(top, content)
  await content.pin(cid)
  return { cid }
}

function place(top: Folder, path: string, cid: CID): void {
  if (path === '' || !isRelativePath(path) || !path.isWellFormed())
    throw new OwnerError('malformed', `${JSON.stringify(path)} is not a relative path without . and ..`)
  const parts = path.split('/')
  const name = parts.pop() ?? ''
  if (parts.length > DEPTH_MAX) throw new OwnerError('malformed', `a path has at most ${DEPTH_MAX} folders`)
  let folder = top
  for (const part of parts) {
    const next = folder.get(part) ?? new Map()
    if (!(next instanceof Map)) throw new OwnerError('malformed', `${JSON.stringify(path)} lies below another entry`)
    folder.set(part, next)
    folder = next
  }
  if (folder.has(name)) throw new OwnerError('malformed', `two entries are at ${JSON.stringify(path)}`)
  folder.set(name, cid)
}

function* leaves(folder: Folder): Generator<CID> {
  for (const entry of folder.values()) {
    if (entry instanceof Map) yield* leaves(entry)
    else yield entry
  }
}

async function build(folder: Folder, content: Pick<ContentStore, 'getBlock' | 'putBlock'>): Promise<Built> {
  const links: dagPb.PBLink[] = []
  let total = 0
  for (const [name, entry] of folder) {
    const { cid, tsize } = entry instanceof Map ? await build(entry, content) : await sized(entry, content)
    links.push(dagPb.createLink(name, tsize, cid))
    total += tsize
  }
  const bytes = dagPb.encode(dagPb.prepare({ Data: new UnixFS({ type: 'directory' }).marshal(), Links: links }))
  if (bytes.length > DIRECTORY_BYTES_MAX)
    throw new OwnerError('too_large', `one directory has ${links.length} entries, which is too many: spread them over several folders`)
  await content.putBlock(DAG_PB, bytes)
  return { cid: cidOfBytes(DAG_PB, bytes), tsize: total + bytes.length }
}

async function sized(cid: CID, content: Pick<ContentStore, 'getBlock'>): Promise<Built> {
  const bytes = await content.getBlock(cid)
  if (bytes === undefined) throw new OwnerError('missing_content', `the project no longer holds ${cid}`)
  const below = cid.code === RAW ? 0 : dagPb.decode(bytes).Links.reduce((sum, { Tsize }) => sum + (Tsize ?? 0), 0)
  return { cid, tsize: bytes.length + below }
}
