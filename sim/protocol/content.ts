/** Content stores without blocks: a tree is its root, and fetching it takes a while over the connection to who holds it. */
import type { CID } from 'multiformats/cid'
import { cidOfBytes } from '#protocol/content/cid'
import { ContentError, type ContentStore, EMPTY_DIRECTORY, EMPTY_FILE, type FetchOptions } from '#protocol/content/content'
import type { PeerIdString } from '#protocol/ids'
import type { Machine } from './machine.ts'
import type { SimHost } from './network.ts'
import { idOf } from './truth.ts'

export interface ContentWorld {
  /** Roots that this store holds; outlives the process. */
  readonly roots: Set<string>
  /** Asks a peer for a root; true when it gave it, false when it has none or cannot be asked. Rejects with the signal's reason. */
  readonly ask: (peer: PeerIdString, root: string, signal: AbortSignal | undefined) => Promise<boolean>
  /** Text of a folder's tree or file; only nodes publish. */
  readonly textAt?: (path: string) => string
  /** Nothing can be added. */
  readonly full?: () => boolean
}

/** Beyond the round trip. */
const TRANSFER_MS = 5

/** Asks over the simulated network. `has`: whether that peer would hand the root over now. */
export function askOver(host: SimHost, has: (peer: PeerIdString, root: string) => boolean): ContentWorld['ask'] {
  const { process } = host
  return async (peer, root, signal) => {
    const connection = host.connectionTo(peer)
    if (connection === undefined) return false
    let leave = (): void => {}
    return await new Promise<boolean>((resolve, reject) => {
      leave = host.onAbort(signal, () => reject(signal?.reason))
      if (signal?.aborted === true) reject(signal.reason)
      const here = connection.endOf(host)
      const there = connection.otherThan(here)
      connection.watch(here)
      here.lane.send(() =>
        there.host.process.enter(() => {
          const found = has(peer, root)
          there.host.process.after(TRANSFER_MS, () => there.lane.send(() => process.enter(() => resolve(found && here.open))))
          connection.watch(there)
        })
      )
      host.onLost(connection, () => resolve(false))
    }).finally(() => leave())
  }
}

export function contentStore({ roots, ask, textAt, full }: ContentWorld): ContentStore {
  const holds = (root: CID): boolean => {
    const text = root.toString()
    return text === EMPTY_DIRECTORY || text === EMPTY_FILE || roots.has(text)
  }
  const room = (): void => {
    if (full?.() === true) throw new ContentError('disk_full', 'no space is left')
  }
  const fetch = async (root: CID, { from, signal, onProgress }: FetchOptions): Promise<{ bytes: number }> => {
    if (holds(root)) return { bytes: 0 }
    for (const peer of from) {
      const got = await ask(peer, root.toString(), signal)
      if (!got) continue
      roots.add(root.toString())
      onProgress?.({ bytes: 1, totalBytes: 1, blocks: 1 })
      return { bytes: 1 }
    }
    throw new ContentError('unreachable', `nobody gives ${root}`)
  }
  return {
    addTree: async (path) => {
      room()
      const text = textAt?.(path) ?? ''
      const root = idOf(text)
      roots.add(root.toString())
      return { root, bytes: text.length, files: 1, executables: [], skipped: 0 }
    },
    putBlock: async (codec, bytes) => {
      room()
      const cid = cidOfBytes(codec, bytes)
      roots.add(cid.toString())
      return cid
    },
    has: holds,
    locate: (root) => (holds(root) ? `/content/${root}` : undefined),
    sizeOf: (root) => (holds(root) ? 1 : undefined),
    fetch,
    pin: async () => undefined,
    unpin: async () => undefined,
    remove: async (root) => {
      roots.delete(root.toString())
    },
    close: async () => undefined,
    addFileCut: missing,
    getBlock: missing,
    list: missing,
    restore: missing,
    read: () => {
      throw new Error('the simulated content store has no blocks')
    }
  }
}

async function missing(): Promise<never> {
  throw new Error('the simulated content store has no blocks')
}

/** What a machine's folders hold at a path. */
export function textAt({ folders }: Machine, path: string): string {
  const [, , replica = '', file = ''] = path.split('/')
  const folder = folders.get(replica)
  return (file === 'stdout' ? folder?.stdout : file === 'stderr' ? folder?.stderr : folder?.out) ?? ''
}
