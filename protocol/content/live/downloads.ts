/** Fetches, each shared by all who wait for the same thing: trees straight to their place in the store, dag-cbor nodes with all they link to. */
import { chmodSync, lstatSync } from 'node:fs'
import { join } from 'node:path'
import type { CID } from 'multiformats/cid'
import { blockIdOf, DAG_CBOR } from '../cid.ts'
import { ContentError, type FetchOptions, type TransferProgress } from '../content.ts'
import { decodeNode } from '../dag.ts'
import { below, splitPath } from '../names.ts'
import { TreePlan } from '../plan.ts'
import { NODE_BYTES_GUESS, NODE_DEPTH_MAX, STREAMS_PER_CONNECTION_MAX } from '../policy.ts'
import { type Asked, type Clock, type Provider, pull, type Work } from '../pull.ts'
import { linksOf, resolvePath } from '../reader.ts'
import { TreeWork } from '../tree-work.ts'
import type { Aside } from './aside.ts'
import type { Blocks } from './blocks.ts'
import { syncTree } from './durable.ts'
import { blockPassed } from './garbage.ts'
import type { BlockIndex } from './index.ts'
import { LOOSE, PASSING, type TreeNumber } from './rows.ts'
import { TreeWriter } from './tree-writer.ts'
import type { Trees } from './trees.ts'

/** Fetches that may be under way or waiting at once; a node fetches a handful. */
const DOWNLOADS_MAX = 1000
/** Of them, those that have a stream: half of what one connection carries. */
const PULLS_MAX = STREAMS_PER_CONNECTION_MAX / 2

/** One who waits for a download. */
interface Waiter {
  readonly providers: () => readonly Provider[]
  readonly bytesMax: number
  readonly signal: AbortSignal | undefined
  readonly onProgress: ((progress: TransferProgress) => void) | undefined
}

/** A running download and all who wait for it. */
interface Shared {
  /** Below its root; '' for all of it. */
  readonly path: string
  readonly waiters: Set<Waiter>
  readonly controller: AbortController
  progress: { bytes: number; totalBytes: number; blocks: number }
  received: number
  readonly settled: Promise<void>
}

export interface DownloadPorts {
  readonly index: BlockIndex
  readonly blocks: Blocks
  readonly trees: Trees
  readonly folder: string
  readonly clock: Clock
  readonly aside: Aside
  /** Which start of the machine this is; undefined where what is fetched is on disk before it is here. */
  readonly boot: string | undefined
}

export class Downloads {
  readonly #ports: DownloadPorts
  readonly #shared = new Map<string, Shared>()
  /** Downloads of each root that has some, in the order they came: those of which one holds the other take turns, so that what they share is fetched once. */
  readonly #ofRoot = new Map<string, Shared[]>()
  /** Nodes on the way to a path that are being fetched: settles, never rejects. */
  readonly #nodes = new Map<string, Promise<void>>()
  #pulls = 0
  readonly #pullsWaiting: (() => void)[] = []

  constructor(ports: DownloadPorts) {
    this.#ports = ports
  }

  /** See ContentStore.fetch. */
  async fetch(root: CID, options: FetchOptions): Promise<{ bytes: number }> {
    const { path, from, host, executables = [], signal, onProgress, bytesMax = Number.POSITIVE_INFINITY } = options
    signal?.throwIfAborted()
    const providers = from.map((peer) => ({ host, peer }))
    const waiter: Waiter = { providers: () => providers, bytesMax, signal, onProgress }
    const { trees, index } = this.#ports
    let received = 0
    let target = root
    if (splitPath(path).length > 0) {
      const found = resolvePath(root, path, (cid) => trees.nodeBytes(cid))
      if ('missing' in found || !this.#complete(found.cid))
        received += (await this.#share(root, splitPath(path).join('/'), waiter, (shared) => this.#fetchPath(root, path, shared))).received
      const now = resolvePath(root, path, (cid) => trees.nodeBytes(cid))
      if ('missing' in now) throw new ContentError('not_found', `${root}/${path} was removed while it was fetched`)
      target = now.cid
    } else if (!this.#complete(root)) {
      received += (await this.#fetchRoot(root, waiter)).received
    }
    trees.change(target, options.pin === true ? { direct: true, pinned: true } : { direct: true })
    this.#markExecutables(target, below(executables, path))
    await index.flush(true)
    return { bytes: received }
  }

  /** Stops everything. */
  async close(): Promise<void> {
    const reason = new ContentError('unreachable', 'the content store is closing')
    for (const shared of this.#shared.values()) shared.controller.abort(reason)
    await Promise.allSettled([...this.#shared.values()].map(({ settled }) => settled))
  }

  /** Nothing left to fetch: on disk, or (for what is no file or folder) all linked roots are. */
  #complete(cid: CID): boolean {
    const { trees } = this.#ports
    return cid.code === DAG_CBOR ? trees.has(cid) : trees.locate(cid, undefined) !== undefined
  }

  #fetchRoot(root: CID, waiter: Waiter, depth = 0): Promise<Shared> {
    return this.#share(root, '', waiter, (shared) => (root.code === DAG_CBOR ? this.#fetchLinked(root, shared, depth) : this.#fetchTree(root, shared)))
  }

  /** Joins the download of that path or begins it; resolves when it is done, rejects when it failed or this waiter gave up. */
  async #share(root: CID, path: string, waiter: Waiter, run: (shared: Shared) => Promise<void>): Promise<Shared> {
    const name = `${root}/${path}`
    for (;;) {
      const running = this.#shared.get(name)
      if (running?.controller.signal.aborted === true) {
        await running.settled.catch(() => undefined)
        continue
      }
      const shared = running ?? this.#begin(name, { root: root.toString(), path }, run)
      const boundBefore = boundOf(shared)
      shared.waiters.add(waiter)
      waiter.onProgress?.({ ...shared.progress })
      try {
        await this.#untilSettled(shared, waiter)
        return shared
      } catch (error) {
        // somebody else's tighter bound ended it: go on with ours
        if (
          error instanceof ContentError &&
          error.code === 'too_large' &&
          running !== undefined &&
          boundBefore < waiter.bytesMax &&
          waiter.signal?.aborted !== true
        )
          continue
        throw error
      }
    }
  }

  #begin(name: string, { root, path }: { readonly root: string; readonly path: string }, run: (shared: Shared) => Promise<void>): Shared {
    if (this.#shared.size >= DOWNLOADS_MAX) throw new ContentError('too_large', `more than ${DOWNLOADS_MAX} downloads at once; wait for some to end`)
    const controller = new AbortController()
    const siblings = this.#ofRoot.get(root) ?? []
    const before = Promise.allSettled(siblings.filter((other) => overlap(path, other.path)).map(({ settled }) => settled))
    let start: () => void = () => undefined
    const joined = new Promise<void>((resolve) => {
      start = resolve
    })
    const settled: Promise<void> = joined
      .then(() => abortable(before, controller.signal))
      .then(() => run(shared))
      .finally(() => {
        if (this.#shared.get(name) === shared) this.#shared.delete(name)
        siblings.splice(siblings.indexOf(shared), 1)
        if (siblings.length === 0) this.#ofRoot.delete(root)
      })
    const progress = { bytes: 0, totalBytes: 0, blocks: 0 }
    const shared: Shared = { path, waiters: new Set(), controller, progress, received: 0, settled }
    this.#shared.set(name, shared)
    siblings.push(shared)
    this.#ofRoot.set(root, siblings)
    start()
    return shared
  }

  /** When the last waiter gives up, the download is stopped. */
  async #untilSettled(shared: Shared, waiter: Waiter): Promise<void> {
    const { signal } = waiter
    try {
      await (signal === undefined ? shared.settled : abortable(shared.settled, signal))
    } finally {
      shared.waiters.delete(waiter)
      if (shared.waiters.size === 0) shared.controller.abort(signal?.reason)
    }
  }

  /** A part of a larger download: its progress and bytes count for the whole. */
  async #part(root: CID, whole: Shared, depth: number): Promise<void> {
    if (this.#complete(root)) return
    const before = { ...whole.progress }
    const part = await this.#fetchRoot(
      root,
      {
        providers: () => providersOf(whole),
        bytesMax: boundOf(whole),
        signal: whole.controller.signal,
        onProgress: ({ bytes, totalBytes, blocks }) =>
          report(whole, { bytes: before.bytes + bytes, totalBytes: before.totalBytes + totalBytes, blocks: before.blocks + blocks })
      },
      depth
    )
    whole.received += part.received
  }

  async #fetchPath(root: CID, path: string | undefined, shared: Shared): Promise<void> {
    for (;;) {
      const found = resolvePath(root, path, (cid) => this.#ports.trees.nodeBytes(cid))
      if ('cid' in found) return this.#part(found.cid, shared, 0)
      await this.#fetchPassing(found.missing, shared)
    }
  }

  /** A node on the way to a path; once, for however many paths it lies on the way to. */
  async #fetchPassing(cid: CID, shared: Shared): Promise<void> {
    const name = cid.toString()
    for (let other = this.#nodes.get(name); other !== undefined; other = this.#nodes.get(name)) {
      await abortable(other, shared.controller.signal)
      // Who fetched it may have given up; then it is the next one's to fetch.
      if (this.#ports.trees.nodeBytes(cid) !== undefined) return
    }
    const fetching = this.#fetchNode(cid, shared, PASSING)
    this.#nodes.set(
      name,
      fetching.catch(() => undefined).finally(() => this.#nodes.delete(name))
    )
    await fetching
  }

  async #fetchLinked(root: CID, shared: Shared, depth: number): Promise<void> {
    if (depth > NODE_DEPTH_MAX) throw new ContentError('bad_tree', `${root} is linked too deeply`)
    const { trees } = this.#ports
    if (trees.nodeBytes(root) === undefined) await this.#fetchNode(root, shared, LOOSE)
    const bytes = trees.nodeBytes(root)
    if (bytes === undefined) throw new ContentError('not_found', `${root} was removed while it was fetched`)
    for (const link of linksOf(decodeNode(root, bytes))) {
      await this.#part(link, shared, depth + 1)
      const parents = this.#ports.index.root(link)?.parents ?? []
      if (!parents.includes(root.toString())) trees.change(link, { parents: [...parents, root.toString()] })
    }
    await this.#ports.index.flush(true)
  }

  /** One block that is no part of a tree on disk. */
  async #fetchNode(cid: CID, shared: Shared, tree: TreeNumber): Promise<void> {
    const { index } = this.#ports
    const waiting: Asked[] = [{ cid, id: blockIdOf(cid), bytesGuess: NODE_BYTES_GUESS }]
    const work = {
      next: () => waiting.pop(),
      again: (item: Asked) => void waiting.push(item),
      present: async () => false,
      accept: (_item: Asked, bytes: Uint8Array) => {
        decodeNode(cid, bytes)
        count(shared, bytes.length)
        index.putBlock(blockIdOf(cid), { kind: 'node', tree, place: undefined, bytes: new Uint8Array(bytes) })
        return undefined
      }
    }
    await this.#pull(work, shared)
  }

  async #fetchTree(root: CID, shared: Shared): Promise<void> {
    const { index, blocks, trees, folder, aside, boot } = this.#ports
    if (this.#complete(root)) return
    for (const number of index.root(root)?.trees ?? []) if (index.tree(number)?.status === 'partial') await trees.forgetFiles(number)
    const path = join(folder, 'trees', root.toString())
    const resume = lstatSync(path, { throwIfNoEntry: false }) !== undefined
    const number = index.newTree()
    index.putTree(number, { root: root.toString(), status: 'partial', path: null, bytes: 0 })
    trees.attach(root, number, {})
    const writer = new TreeWriter({ path, resume, mode: 0o444, aside, index: { rows: index, tree: number } })
    const plan = new TreePlan(root, boundOf(shared))
    const local = ({ id }: Asked): Promise<Uint8Array | undefined> | undefined => {
      // most are not here, and need no promise to say so
      if (index.block(id) === undefined) return undefined
      return Promise.resolve(blocks.read(id, true)).then((found) => (found.kind === 'found' ? found.block : undefined))
    }
    const work = new TreeWork(plan, writer, local, (bytes) => count(shared, bytes, plan.totalBytes))
    try {
      await this.#pull(work, shared)
      if (boot === undefined) await syncTree(path)
      index.putTree(number, { root: root.toString(), status: 'complete', path: null, bytes: writer.contentBytes, ...(boot === undefined ? {} : { boot }) })
      await index.flush()
    } catch (error) {
      if (error instanceof ContentError && (error.code === 'bad_tree' || error.code === 'too_large')) {
        writer.close()
        await trees.remove(root)
      }
      throw error
    } finally {
      writer.close()
    }
  }

  async #pull<Item extends Asked>(work: Work<Item>, shared: Shared): Promise<void> {
    const { signal } = shared.controller
    while (this.#pulls >= PULLS_MAX) await this.#pullTurn(signal)
    this.#pulls++
    try {
      await pull(work, {
        providers: () => providersOf(shared),
        clock: this.#ports.clock,
        signal,
        onReceived: (bytes) => {
          shared.received += bytes
          blockPassed(bytes, 'received')
        }
      })
    } finally {
      this.#pulls--
      this.#pullsWaiting.shift()?.()
    }
  }

  /** Resolves when a pull has ended. */
  async #pullTurn(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#pullsWaiting.push(resolve)
    try {
      await abortable(promise, signal)
    } catch (error) {
      const at = this.#pullsWaiting.indexOf(resolve)
      // Called at the same moment as it gave up: the next one's turn.
      if (at < 0) this.#pullsWaiting.shift()?.()
      else this.#pullsWaiting.splice(at, 1)
      throw error
    }
  }

  /** Only in trees of the store's own; a user's files keep their modes. */
  #markExecutables(root: CID, list: readonly string[]): void {
    const { trees, blocks } = this.#ports
    const tree = trees.treeOf(root)
    if (tree === undefined || tree.path !== null) return
    markExecutables(blocks.pathOf(tree), list, 0o555)
  }
}

/** Sets the mode of the plain files at these paths below `base`, a tree that holds no links; others are left alone. */
export function markExecutables(base: string, list: readonly string[], mode: number): void {
  for (const path of list) {
    const at = join(base, ...splitPath(path))
    if (lstatSync(at, { throwIfNoEntry: false })?.isFile() === true) chmodSync(at, mode)
  }
}

/** One is the other, or holds it. */
function overlap(one: string, other: string): boolean {
  return one === other || one === '' || other === '' || one.startsWith(`${other}/`) || other.startsWith(`${one}/`)
}

function providersOf(shared: Shared): Provider[] {
  const known = new Map<string, Provider>()
  for (const waiter of shared.waiters) for (const provider of waiter.providers()) if (!known.has(provider.peer)) known.set(provider.peer, provider)
  return [...known.values()]
}

function boundOf(shared: Shared): number {
  let bound = 0
  for (const waiter of shared.waiters) bound = Math.max(bound, waiter.bytesMax)
  return bound
}

function count(shared: Shared, bytes: number, totalBytes = shared.progress.totalBytes): void {
  report(shared, { bytes: shared.progress.bytes + bytes, totalBytes, blocks: shared.progress.blocks + 1 })
}

function report(shared: Shared, progress: TransferProgress): void {
  shared.progress = { ...progress }
  for (const waiter of shared.waiters) waiter.onProgress?.(progress)
}

/** Settles like the promise, or rejects with the signal's reason if that comes first. */
async function abortable<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  let stop: () => void = () => undefined
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
  })
  signal.addEventListener('abort', stop, { once: true })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', stop)
  }
}
