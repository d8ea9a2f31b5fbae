/** Content stores without blocks: a tree is its root, and fetching it takes a while over the connection to who holds it. */
import type { CID } from 'multiformats/cid'
import { cidOfBytes } from '#protocol/content/cid'
import { type AddedTree, ContentError, type ContentStore, EMPTY_DIRECTORY, EMPTY_FILE, type FetchOptions } from '#protocol/content/content'
import type { PeerIdString } from '#protocol/ids'
import type { Process } from '../engine/process.ts'
import type { Connection } from './connection.ts'
import type { SimHost } from './network.ts'
import { bytesOf, idOf } from './truth.ts'

/** Roots that a store holds, of whatever kind. */
interface Held {
  has(root: string): boolean
  add(root: string): unknown
  delete(root: string): boolean
  isDoubted?(root: string): boolean
  /** Of what is doubted all lies here: it counts again. */
  compare?(root: string): boolean
}

/** What a peer gives that is asked for a root: it, something else instead, or nothing. */
export type Given = boolean | 'corrupt'

export interface ContentWorld {
  /** Roots that this store holds; outlives the process. */
  readonly roots: Held
  /** Asks a peer for a root; false when it has none or cannot be asked. Rejects with the signal's reason. */
  readonly ask: (peer: PeerIdString, root: string, signal: AbortSignal | undefined) => Promise<Given>
  /** Text of a folder's tree or file; only nodes publish. */
  readonly textAt?: (path: string) => string
  /** Nothing can be added. */
  readonly full?: () => boolean
  /** Something was. */
  readonly added?: () => void
  /** Something came from this one, after so many did not give it. */
  readonly came?: (peer: PeerIdString, failed: number) => void
}

/** Beyond the round trip, of each piece. */
const TRANSFER_MS = 5
const PIECES = 3
const PIECE_BYTES = 32 * 1024

/** Asks over the simulated network, piece by piece, each when the last has come. `gives`: what that peer would hand over to this one now. */
export function askOver(host: SimHost, gives: (to: SimHost, peer: PeerIdString, root: string) => Given): ContentWorld['ask'] {
  return (peer, root, signal) => {
    const connection = host.connectionTo(peer)
    return connection === undefined
      ? Promise.resolve(false)
      : transfer({ host, process: host.process, connection, gives: () => gives(host, peer, root) }, signal)
  }
}

interface Transfer {
  readonly host: SimHost
  readonly process: Process
  readonly connection: Connection
  readonly gives: () => Given
}

async function transfer({ host, process, connection, gives }: Transfer, signal: AbortSignal | undefined): Promise<Given> {
  let leave = (): void => {}
  const here = connection.endOf(host)
  const there = here.other
  try {
    return await new Promise((resolve, reject) => {
      leave = host.onAbort(signal, () => reject(signal?.reason))
      if (signal?.aborted === true) reject(signal.reason)
      host.onLost(connection, () => resolve(false))
      const ask = (pieces: number): void => {
        here.send(() =>
          there.process.enter(() => {
            const given = gives()
            const last = given !== true || pieces === 1
            const arrive = (): void => (last ? resolve(here.open && given) : ask(pieces - 1))
            there.process.after(TRANSFER_MS, () => there.send(() => process.enter(arrive), given === false ? 0 : PIECE_BYTES))
            there.watch()
          })
        )
        here.watch()
      }
      ask(PIECES)
    })
  } finally {
    leave()
  }
}

export function contentStore(world: ContentWorld): ContentStore {
  return new SimContent(world)
}

class SimContent implements ContentStore {
  readonly #world: ContentWorld

  constructor(world: ContentWorld) {
    this.#world = world
  }

  async addTree(path: string): Promise<AddedTree & { readonly skipped: number }> {
    const text = this.#world.textAt?.(path) ?? ''
    const root = idOf(text)
    this.#add(root)
    return { root, bytes: text.length, files: 1, executables: [], skipped: 0 }
  }

  async putBlock(codec: number, bytes: Uint8Array): Promise<CID> {
    const cid = cidOfBytes(codec, bytes)
    this.#add(cid)
    return cid
  }

  has(root: CID): boolean {
    const text = root.toString()
    return text === EMPTY_DIRECTORY || text === EMPTY_FILE || this.#world.roots.has(text)
  }

  isDoubted(root: CID): boolean {
    return this.#world.roots.isDoubted?.(root.toString()) === true
  }

  async check(root: CID): Promise<boolean> {
    return this.has(root)
  }

  resolve(root: CID): CID {
    return root
  }

  locate(root: CID): string | undefined {
    return this.has(root) ? `/content/${root}` : undefined
  }

  sizeOf(root: CID): number | undefined {
    return this.has(root) ? bytesOf(root.toString()) : undefined
  }

  /** From the first of these peers that gives it. What comes is looked at as it comes: what is corrupt is never kept. */
  async fetch(root: CID, { from, signal, onProgress }: FetchOptions): Promise<{ bytes: number }> {
    if (this.has(root) || this.#world.roots.compare?.(root.toString()) === true) return { bytes: 0 }
    let corrupt = false
    for (const [failed, peer] of from.entries()) {
      const given = await this.#world.ask(peer, root.toString(), signal)
      corrupt ||= given === 'corrupt'
      if (given !== true) continue
      this.#world.roots.add(root.toString())
      this.#world.came?.(peer, failed)
      const bytes = bytesOf(root.toString())
      onProgress?.({ bytes, totalBytes: bytes, blocks: 1 })
      return { bytes }
    }
    throw corrupt ? new ContentError('corrupt', `what came for ${root} is something else`) : new ContentError('unreachable', `nobody gives ${root}`)
  }

  async remove(root: CID): Promise<void> {
    this.#world.roots.delete(root.toString())
  }

  /** There is room here for what nobody wants. */
  async drop(): Promise<void> {}

  async pin(): Promise<void> {}

  async unpin(): Promise<void> {}

  async close(): Promise<void> {}

  addFileCut(): Promise<never> {
    return missing()
  }

  getBlock(): Promise<never> {
    return missing()
  }

  list(): Promise<never> {
    return missing()
  }

  restore(): Promise<never> {
    return missing()
  }

  read(): never {
    throw new Error('the simulated content store has no blocks')
  }

  #add(root: CID): void {
    if (this.#world.full?.() === true) throw new ContentError('disk_full', 'no space is left')
    this.#world.roots.add(root.toString())
    this.#world.added?.()
  }
}

async function missing(): Promise<never> {
  throw new Error('the simulated content store has no blocks')
}
