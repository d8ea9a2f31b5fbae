/** The content store on disk: files where they lie, fetched trees in `trees/`, an index beside them. */
import { lstatSync, realpathSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CID } from 'multiformats/cid'
import { buildDirectory } from '../build.ts'
import { acceptCid, type BlockId, blockIdOf, cidOfBytes, DAG_CBOR, DAG_PB, RAW } from '../cid.ts'
import {
  type AddedTree,
  type AddOptions,
  ContentError,
  type ContentStore,
  EMPTY_DIRECTORY,
  EMPTY_FILE,
  type FetchOptions,
  type TransferProgress
} from '../content.ts'
import { decodeNode } from '../dag.ts'
import { below, splitPath } from '../names.ts'
import { TreePlan } from '../plan.ts'
import { BLOCK_BYTES_MAX } from '../policy.ts'
import { type Clock, pull } from '../pull.ts'
import { describeEntry, directoryEntries, fileBytes, resolvePath } from '../reader.ts'
import type { BlockServer, Room } from '../serve.ts'
import { TreeWork } from '../tree-work.ts'
import { Adder, type Counted } from './add.ts'
import { Aside } from './aside.ts'
import { Blocks, type Found } from './blocks.ts'
import { Downloads, markExecutables } from './downloads.ts'
import { bootId } from './durable.ts'
import { blockPassed } from './garbage.ts'
import { asContentError, BlockIndex } from './index.ts'
import { LOOSE } from './rows.ts'
import { errno } from './safe-open.ts'
import { TreeWriter } from './tree-writer.ts'
import { Trees } from './trees.ts'

/** Entries whose sizes are looked up at once by `list`. */
const LIST_AT_ONCE = 64

const systemClock: Clock = {
  after(ms, call) {
    const timer = setTimeout(call, ms)
    return () => clearTimeout(timer)
  }
}

export interface StoreOptions {
  readonly clock?: Clock
  /** What is published here lies in folders that go soon, as those of replicas do: it is found by the ids it was published under, and what is needed for longer is copied out of it. */
  readonly publishedPasses?: boolean
  /** What was fetched is on disk before it is here: for who answers for it to others, who then need not keep it. */
  readonly durable?: boolean
  /** Which start of the machine this is. */
  readonly boot?: string
}

/**
 * Opens (or makes) the content store in `folder`: `index/` (LevelDB), `trees/<root>` for what was fetched. One process at a time;
 * a second one gets ContentError `in_use`.
 */
export async function openContentStore(folder: string, options: StoreOptions = {}): Promise<ContentStore & BlockServer> {
  await mkdir(folder, { recursive: true })
  const real = realpathSync(folder)
  const index = await BlockIndex.open(join(real, 'index'))
  const store = new DiskStore(real, index, options)
  await store.start()
  return store
}

class DiskStore implements ContentStore, BlockServer {
  readonly #folder: string
  readonly #index: BlockIndex
  readonly #blocks: Blocks
  readonly #trees: Trees
  readonly #downloads: Downloads
  readonly #aside = new Aside()
  readonly #clock: Clock
  /** Noted with what is published; nothing for files that lay there before. */
  readonly #publishedIn: { readonly boot?: string }

  constructor(folder: string, index: BlockIndex, { clock = systemClock, publishedPasses = false, durable = false, boot = bootId() }: StoreOptions) {
    this.#folder = folder
    this.#index = index
    this.#clock = clock
    this.#publishedIn = publishedPasses ? { boot } : {}
    this.#blocks = new Blocks(index, join(folder, 'trees'), boot)
    this.#trees = new Trees(index, this.#blocks, { folder, publishedPasses, boot })
    this.#downloads = new Downloads({ index, blocks: this.#blocks, trees: this.#trees, folder, clock, aside: this.#aside, boot: durable ? undefined : boot })
  }

  async start(): Promise<void> {
    await this.#trees.recover()
    await this.#putEmpty(EMPTY_DIRECTORY)
    await this.#putEmpty(EMPTY_FILE)
    await this.#index.flush()
  }

  async addTree(path: string, options: AddOptions = {}): Promise<AddedTree & { readonly skipped: number }> {
    const { cid, contentBytes, files, executables, skipped } = await this.#add(path, options, undefined)
    return { root: cid, bytes: contentBytes, files, executables, skipped }
  }

  async addFileCut(path: string, cuts: readonly number[], options: AddOptions = {}): Promise<AddedTree> {
    const { cid, contentBytes, files, executables } = await this.#add(path, options, cuts)
    return { root: cid, bytes: contentBytes, files, executables }
  }

  async #add(path: string, options: AddOptions, cuts: readonly number[] | undefined): Promise<Counted> {
    options.signal?.throwIfAborted()
    const real = realPath(path)
    const number = this.#index.newTree()
    this.#index.putTree(number, { root: '', status: 'partial', path: real, bytes: 0 })
    try {
      const counted = await new Adder(this.#index, number, options).add(real, cuts)
      this.#index.putTree(number, { root: counted.cid.toString(), status: 'complete', path: real, bytes: counted.contentBytes, ...this.#publishedIn })
      this.#trees.attach(counted.cid, number, options.pin === true ? { direct: true, pinned: true } : { direct: true })
      await this.#index.flush(true)
      return counted
    } catch (error) {
      await this.#trees.forgetFiles(number).catch(() => undefined)
      throw asContentError(error, this.#folder)
    }
  }

  async putBlock(codec: number, bytes: Uint8Array): Promise<CID> {
    if (bytes.length > BLOCK_BYTES_MAX) throw new ContentError('too_large', `a block of ${bytes.length} bytes is larger than ${BLOCK_BYTES_MAX}`)
    if (codec !== RAW && codec !== DAG_PB && codec !== DAG_CBOR) throw new ContentError('bad_tree', `no codec has the number ${codec}`)
    const cid = cidOfBytes(codec, bytes)
    decodeNode(cid, bytes)
    this.#index.putBlock(blockIdOf(cid), { kind: 'node', tree: LOOSE, place: undefined, bytes: new Uint8Array(bytes) })
    await this.#index.flush(true)
    return cid
  }

  async getBlock(cid: CID): Promise<Uint8Array | undefined> {
    const found = await this.#blocks.read(blockIdOf(cid), true)
    return found.kind === 'found' ? found.block : undefined
  }

  serveBlock(id: BlockId, room: Room): Uint8Array | undefined | Promise<Uint8Array | undefined> {
    const blockOf = (found: Found): Uint8Array | undefined => {
      if (found.kind !== 'found') return undefined
      blockPassed(found.block.length, 'sent')
      return found.block
    }
    const found = this.#blocks.read(id, false, room)
    return found instanceof Promise ? found.then(blockOf) : blockOf(found)
  }

  has(root: CID): boolean {
    return this.#trees.has(root)
  }

  isDoubted(root: CID): boolean {
    return this.#trees.isDoubted(root)
  }

  async check(root: CID, path?: string): Promise<boolean> {
    return this.#trees.check(root, splitPath(path).join('/'))
  }

  resolve(root: CID, path?: string): CID | undefined {
    return this.#trees.resolve(root, path)
  }

  sizeOf(root: CID): number | undefined {
    return this.#trees.sizeOf(root)
  }

  locate(root: CID, path?: string): string | undefined {
    return this.#trees.locate(root, path === undefined ? undefined : splitPath(path).join('/'))
  }

  async list(root: CID, path?: string): Promise<readonly { name: string; cid: CID; bytes: number; directory: boolean }[]> {
    const links = await directoryEntries(this.#resolve(root, path), this.#need)
    const entries: Awaited<ReturnType<typeof describeEntry>>[] = []
    for (let at = 0; at < links.length; at += LIST_AT_ONCE)
      entries.push(...(await Promise.all(links.slice(at, at + LIST_AT_ONCE).map((link) => describeEntry(link, this.#need)))))
    return entries.sort((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
  }

  async *read(root: CID, path?: string, range?: { from: number; to: number }): AsyncGenerator<Uint8Array, void, undefined> {
    yield* fileBytes(this.#resolve(root, path), this.#need, range)
  }

  async fetch(root: CID, options: FetchOptions): Promise<{ readonly bytes: number }> {
    return this.#downloads.fetch(root, options)
  }

  async restore(
    root: CID,
    destination: string,
    options: { path?: string; executables?: readonly string[]; signal?: AbortSignal; onProgress?: (progress: TransferProgress) => void } = {}
  ): Promise<void> {
    const target = this.#resolve(root, options.path)
    if (lstatSync(destination, { throwIfNoEntry: false }) !== undefined) throw new ContentError('exists', `${destination} exists already; name another place`)
    const writer = new TreeWriter({ path: destination, resume: false, mode: 0o644 })
    const plan = new TreePlan(target)
    const progress = { bytes: 0, blocks: 0 }
    const onBlock = (bytes: number): void => {
      progress.bytes += bytes
      progress.blocks++
      options.onProgress?.({ ...progress, totalBytes: plan.totalBytes })
    }
    const signal = options.signal ?? new AbortController().signal
    try {
      await pull(new TreeWork(plan, writer, ({ cid }) => this.#need(cid), onBlock), {
        providers: () => [],
        clock: this.#clock,
        signal,
        onReceived: () => undefined
      })
    } catch (error) {
      writer.close()
      await rm(destination, { recursive: true, force: true })
      if (errno(error) === 'ENOENT') throw new ContentError('not_found', `the folder of ${destination} does not exist; make it first`, { cause: error })
      throw error
    }
    markExecutables(destination, below(options.executables ?? [], options.path), 0o755)
  }

  async pin(root: CID): Promise<void> {
    this.#trees.change(root, { pinned: true })
    await this.#index.flush(true)
  }

  async unpin(root: CID): Promise<void> {
    this.#trees.change(root, { pinned: false })
    await this.#index.flush(true)
  }

  async drop(root: CID): Promise<void> {
    if (this.#trees.isFree(root)) await this.remove(root)
  }

  async remove(root: CID): Promise<void> {
    const text = root.toString()
    if (text === EMPTY_DIRECTORY || text === EMPTY_FILE) return
    await this.#trees.remove(root)
  }

  async close(): Promise<void> {
    await this.#downloads.close()
    await this.#aside.close()
    await this.#trees.settled()
    await this.#index.close()
  }

  /** A verified block; throws when it is not to be had. */
  readonly #need = async (cid: CID): Promise<Uint8Array> => {
    const found = await this.#blocks.read(blockIdOf(cid), true)
    if (found.kind === 'found') return found.block
    if (found.kind === 'changed') throw new ContentError('changed', `${found.path} is not what it was when it was added; add it again`)
    throw new ContentError('not_found', `${cid} is not here; fetch it first`)
  }

  #resolve(root: CID, path: string | undefined): CID {
    const found = resolvePath(root, path, (cid) => this.#trees.nodeBytes(cid))
    if ('missing' in found) throw new ContentError('not_found', `${found.missing} is not here; fetch ${root} first`)
    return found.cid
  }

  /** Every store holds the empty file and the empty folder, on disk too. */
  async #putEmpty(text: string): Promise<void> {
    const cid = acceptCid(text)
    if (cid === undefined) throw new Error(`${text} is not an id`)
    if (this.#trees.treeOf(cid) !== undefined && this.#trees.locate(cid, undefined) !== undefined) return
    const path = join(this.#folder, 'trees', text)
    await rm(path, { recursive: true, force: true })
    let bytes: Uint8Array = new Uint8Array(0)
    if (text === EMPTY_FILE) await writeFile(path, bytes, { mode: 0o444 })
    else {
      await mkdir(path)
      buildDirectory([], (_cid, node) => {
        bytes = node
      })
    }
    const number = this.#index.newTree()
    this.#index.putBlock(blockIdOf(cid), { kind: 'node', tree: LOOSE, place: undefined, bytes })
    this.#index.putTree(number, { root: text, status: 'complete', path: null, bytes: 0 })
    this.#trees.attach(cid, number, { direct: true, pinned: true })
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (errno(error) === 'ENOENT' || errno(error) === 'ENOTDIR') throw new ContentError('not_found', `${path} does not exist`, { cause: error })
    throw error
  }
}
