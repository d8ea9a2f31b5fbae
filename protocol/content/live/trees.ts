/** What the store knows of roots and of the trees on disk that hold them: complete or not, where, and how they are forgotten. */
import { lstatSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { CID } from 'multiformats/cid'
import { acceptCid, blockIdOf, DAG_CBOR, RAW } from '../cid.ts'
import { ContentError } from '../content.ts'
import { type DagNode, decodeNode } from '../dag.ts'
import { NODE_DEPTH_MAX, TREE_ENTRIES_MAX } from '../policy.ts'
import { linksOf, resolvePath } from '../reader.ts'
import { type Blocks, isUnchanged } from './blocks.ts'
import { isOtherBoot } from './durable.ts'
import type { BlockIndex } from './index.ts'
import { LOOSE, NO_ROOT, PASSING, type RootRow, type TreeNumber, type TreeRow } from './rows.ts'
import { errno } from './safe-open.ts'

/** Places that one root is remembered at; publishing it from yet another folder forgets the oldest. */
const TREES_PER_ROOT_MAX = 4
/** Blocks forgotten before others get a turn. */
const STEPS_PER_TURN = 500
/** Files looked at before others get a turn. */
const LOOKS_PER_TURN = 100
/** A tree of more files than this is looked at once in `LOOK_AGAIN_MS`: it takes some 15 ms for each thousand. */
const LOOKS_MAX = 1_000
const LOOK_AGAIN_MS = 60_000
/** Large trees of which it is remembered. */
const LOOKED_TREES_MAX = 1_000

interface TreePlace {
  readonly number: TreeNumber
  /** Below the tree's root. */
  readonly place: string
}

export class Trees {
  readonly #index: BlockIndex
  readonly #blocks: Blocks
  readonly #folder: string
  readonly #publishedPasses: boolean
  readonly #boot: string
  /** At files, of whichever trees. */
  #looks = 0
  /** When large trees were looked at. */
  readonly #looked = new Map<string, number>()
  #removals: Promise<void> = Promise.resolve()

  /** `publishedPasses`, `boot`: see StoreOptions. */
  constructor(
    index: BlockIndex,
    blocks: Blocks,
    { folder, publishedPasses, boot }: { readonly folder: string; readonly publishedPasses: boolean; readonly boot: string }
  ) {
    this.#index = index
    this.#blocks = blocks
    this.#folder = folder
    this.#publishedPasses = publishedPasses
    this.#boot = boot
  }

  /** Makes the folders and ends what a killed process left half done. */
  async recover(): Promise<void> {
    await mkdir(join(this.#folder, 'trees'), { recursive: true })
    await rm(join(this.#folder, 'trash'), { recursive: true, force: true })
    await mkdir(join(this.#folder, 'trash'))
    for (const { number } of await this.#index.treesThatAre('removing')) await this.#forget(number)
    for (const { number, row } of await this.#index.treesThatAre('partial')) {
      // an interrupted publication: its files are the user's, and adding them again is as quick
      if (row.path !== null && !isOtherBoot(row.boot, this.#boot)) await this.forgetFiles(number)
    }
    // The machine was started again: what came before is compared when it is needed, and what is torn is fetched again.
    for (const { number, row } of await this.#index.treesThatAre('complete')) if (isOtherBoot(row.boot, this.#boot)) this.#index.lose(number)
  }

  /** True when every block of the DAG is here. */
  has(cid: CID): boolean {
    if (this.treeOf(cid) !== undefined) return true
    const seen = new Set<string>()
    const waiting: { cid: CID; depth: number }[] = [{ cid, depth: 0 }]
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
      const id = item.cid.toString()
      if (seen.has(id)) continue
      seen.add(id)
      if (seen.size > TREE_ENTRIES_MAX || item.depth > NODE_DEPTH_MAX * 2) return false
      if (this.treeOf(item.cid) !== undefined) continue
      const row = this.#index.block(blockIdOf(item.cid))
      if (row === undefined) return false
      if (row.tree !== LOOSE) {
        if (this.#index.tree(row.tree)?.status === 'complete') continue
        return false
      }
      if (item.cid.code === RAW || row.kind !== 'node') continue
      for (const link of linksOf(decodeNode(item.cid, row.bytes))) waiting.push({ cid: link, depth: item.depth + 1 })
    }
    return true
  }

  /** See ContentStore.isDoubted. */
  isDoubted(cid: CID): boolean {
    if (this.has(cid)) return false
    return (this.#index.root(cid)?.trees ?? []).some((number) => {
      const row = this.#index.tree(number)
      return row?.status === 'partial' && isOtherBoot(row.boot, this.#boot)
    })
  }

  /** See ContentStore.check. Every turn finds one tree less. */
  async check(root: CID, path: string): Promise<boolean> {
    for (;;) {
      const target = path === '' ? root : this.resolve(root, path)
      if (target === undefined || !this.has(target)) return false
      const tree = this.#treeWith(root, path, target)
      if (tree === undefined) return this.#checkLinks(target)
      if (await this.#stands(tree, target)) return true
      this.#index.lose(tree.number)
    }
  }

  /** Where `locate` would find it. */
  #treeWith(root: CID, path: string, target: CID): TreePlace | undefined {
    const complete = this.#completeOf(root)
    const number = complete.find((other) => this.#index.tree(other)?.path === null) ?? complete.at(-1)
    if (number !== undefined) return { number, place: path }
    const row = this.#index.block(blockIdOf(target))
    if (row?.kind === 'node') return row.place === undefined || row.tree === LOOSE || row.tree === PASSING ? undefined : { number: row.tree, place: row.place }
    if (row?.kind === 'whole') return { number: row.tree, place: row.file.path }
    return undefined
  }

  /** A node in no tree on disk: what it links may be in some. */
  async #checkLinks(cid: CID): Promise<boolean> {
    const bytes = this.nodeBytes(cid)
    if (cid.code === RAW || bytes === undefined) return true
    for (const link of linksOf(decodeNode(cid, bytes))) if (!(await this.check(link, ''))) return false
    return true
  }

  /** Whether every file of it lies in the tree as it was noted. */
  async #stands({ number, place }: TreePlace, cid: CID): Promise<boolean> {
    const tree = this.#index.tree(number)
    if (tree === undefined) return false
    const base = this.#blocks.pathOf(tree)
    const name = `${number}/${place}`
    if (performance.now() - (this.#looked.get(name) ?? Number.NEGATIVE_INFINITY) < LOOK_AGAIN_MS) return true
    let looked = 0
    const waiting = [{ cid, place }]
    for (let item = waiting.pop(); item !== undefined; item = waiting.pop()) {
      const at = item.place
      const node = this.#nodeOf(item.cid)
      if (node?.kind === 'directory' || node?.kind === 'shard') {
        if (node.kind === 'shard') for (const shard of node.shards) waiting.push({ cid: shard.cid, place: at })
        for (const entry of node.entries) waiting.push({ cid: entry.cid, place: at === '' ? entry.name : `${at}/${entry.name}` })
        if (!exists(join(base, at))) return false
      } else if (!this.#fileStands({ number, place: at }, base, item.cid)) return false
      looked++
      if (++this.#looks % LOOKS_PER_TURN === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    if (looked > LOOKS_MAX) {
      if (this.#looked.size >= LOOKED_TREES_MAX) this.#looked.clear()
      this.#looked.set(name, performance.now())
    }
    return true
  }

  #fileStands({ number, place }: TreePlace, base: string, cid: CID): boolean {
    const stats = lstatSync(join(base, place), { throwIfNoEntry: false })
    if (stats?.isFile() !== true) return false
    const top = this.#nodeOf(cid)
    let leaf = cid
    for (let node = top; node?.kind === 'file' && node.parts[0] !== undefined; node = this.#nodeOf(leaf)) leaf = node.parts[0].cid
    const row = this.#index.placeIn(blockIdOf(leaf), number)
    const file = row?.kind === 'whole' ? row.file : row?.kind === 'leaf' ? this.#index.file(number, row.file) : undefined
    // Of two equal files the later one is noted.
    if (file?.path === place) return isUnchanged(stats, file)
    return stats.size === (top?.kind === 'file' ? top.bytes : this.#leafBytes(cid))
  }

  #leafBytes(cid: CID): number | undefined {
    const row = this.#index.block(blockIdOf(cid))
    return row?.kind === 'whole' ? row.file.size : row?.kind === 'leaf' ? row.length : row?.bytes.length
  }

  /** Undefined for a leaf. */
  #nodeOf(cid: CID): DagNode | undefined {
    const bytes = cid.code === RAW ? undefined : this.nodeBytes(cid)
    return bytes === undefined ? undefined : decodeNode(cid, bytes)
  }

  #completeOf(root: CID): TreeNumber[] {
    return (this.#index.root(root)?.trees ?? []).filter((number) => this.#index.tree(number)?.status === 'complete')
  }

  /** The complete tree that is this root, the store's own before published ones, the newest first. */
  treeOf(cid: CID): TreeRow | undefined {
    const complete = (this.#index.root(cid)?.trees ?? []).map((number) => this.#index.tree(number)).filter((row) => row?.status === 'complete')
    return complete.findLast((row) => row?.path === null) ?? complete.at(-1)
  }

  /** Where the file or folder lies on disk; undefined when it does not, or not any more. */
  locate(root: CID, path: string | undefined): string | undefined {
    const trees = (this.#index.root(root)?.trees ?? []).map((number) => this.#index.tree(number)).filter((row) => row?.status === 'complete')
    const found = this.resolve(root, path)
    if (found === undefined) return undefined
    for (const row of [...trees.filter((tree) => tree?.path === null), ...trees.filter((tree) => tree?.path !== null).reverse()]) {
      const base = row === undefined ? undefined : this.#blocks.pathOf(row)
      const at = base === undefined ? undefined : path === undefined || path === '' ? base : join(base, path)
      if (at !== undefined && exists(at)) return at
    }
    return found.equals(root) ? this.#place(found) : (this.locate(found, undefined) ?? this.#place(found))
  }

  /** Where a file or folder within a tree lies, by its own id. */
  #place(cid: CID): string | undefined {
    const row = this.#index.block(blockIdOf(cid))
    const tree = row === undefined ? undefined : this.#index.tree(row.tree)
    if (row === undefined || tree?.status !== 'complete' || (tree.path !== null && this.#publishedPasses)) return undefined
    let place: string | undefined
    if (row.kind === 'node') place = row.place
    else if (row.kind === 'whole') place = row.file.path
    else {
      const file = this.#index.file(row.tree, row.file)
      if (row.offset === 0 && row.length === file?.size) place = file.path
    }
    if (place === undefined) return undefined
    const at = place === '' ? this.#blocks.pathOf(tree) : join(this.#blocks.pathOf(tree), place)
    return exists(at) ? at : undefined
  }

  /** What `path` below the root names, as far as nodes are here. */
  resolve(root: CID, path: string | undefined): CID | undefined {
    try {
      const found = resolvePath(root, path, (cid) => this.nodeBytes(cid))
      return 'cid' in found ? found.cid : undefined
    } catch (error) {
      if (error instanceof ContentError) return undefined
      throw error
    }
  }

  /** A node (not a leaf) that is in the index. */
  nodeBytes(cid: CID): Uint8Array | undefined {
    const row = this.#index.block(blockIdOf(cid))
    return row?.kind === 'node' ? row.bytes : undefined
  }

  /** Bytes of the files of a complete DAG. */
  sizeOf(cid: CID): number | undefined {
    const tree = this.treeOf(cid)
    if (tree !== undefined) return tree.bytes
    if (!this.has(cid)) return undefined
    const row = this.#index.block(blockIdOf(cid))
    if (row === undefined) return undefined
    if (row.kind === 'leaf') return row.length
    if (row.kind === 'whole') return row.file.size
    if (cid.code === RAW) return row.bytes.length
    const node = decodeNode(cid, row.bytes)
    if (node.kind === 'file') return node.bytes
    return linksOf(node).reduce((total, link) => total + (this.sizeOf(link) ?? 0), cid.code === DAG_CBOR ? row.bytes.length : 0)
  }

  /** Notes a new tree for a root; what it replaces (the same place, or the oldest of too many) is forgotten. */
  attach(cid: CID, number: TreeNumber, change: Partial<RootRow>): void {
    const path = this.#index.tree(number)?.path
    const before = this.#index.root(cid) ?? NO_ROOT
    const replaced = before.trees.filter((other) => {
      const row = this.#index.tree(other)
      return other !== number && (row === undefined || row.path === path)
    })
    const kept = before.trees.filter((other) => !replaced.includes(other) && other !== number)
    const dropped = kept.splice(0, Math.max(0, kept.length + 1 - TREES_PER_ROOT_MAX))
    this.#index.putRoot(cid, { ...before, ...change, trees: [...kept, number] })
    for (const other of [...replaced, ...dropped]) this.#forgetAside(other).catch(() => undefined)
  }

  /** Ends the removals that go on in the background. */
  async settled(): Promise<void> {
    await this.#removals
  }

  change(cid: CID, change: Partial<RootRow>): void {
    this.#index.putRoot(cid, { ...(this.#index.root(cid) ?? NO_ROOT), ...change })
  }

  /** Nobody wants it kept: it is not pinned, and no part of another tree. */
  isFree(cid: CID): boolean {
    const row = this.#index.root(cid)
    return row !== undefined && !row.pinned && row.parents.length === 0
  }

  /** Drops a tree's own rows; its blocks' rows are dead from then on and are written over by the next tree that has them. */
  async forgetFiles(number: TreeNumber): Promise<void> {
    this.#index.putTree(number, undefined)
    await this.#index.clearFiles(number)
  }

  /** Forgets a root: the store's own files are deleted, a user's stay; parts that were only fetched for it go with it. */
  async remove(cid: CID): Promise<void> {
    const row = this.#index.root(cid)
    const links = cid.code === DAG_CBOR ? this.#linksOf(cid) : []
    const own = this.#hasOwn(row?.trees ?? [])
    this.#index.putRoot(cid, undefined)
    for (const number of row?.trees ?? []) await this.#forgetAside(number)
    for (const loose of [LOOSE, PASSING]) if (this.#index.block(blockIdOf(cid))?.tree === loose) this.#index.dropBlock(blockIdOf(cid), loose)
    for (const link of links) {
      const part = this.#index.root(link)
      if (part === undefined) continue
      const parents = part.parents.filter((parent) => parent !== cid.toString())
      this.change(link, { parents })
      if (parents.length === 0 && part.parents.length > 0 && !part.direct && !part.pinned) await this.remove(link)
    }
    await this.#index.flush(own)
  }

  /** Whether files of ours go with these trees: then the disk must know first. Of somebody's files a power cut may bring the rows back; they are checked before they are served. */
  #hasOwn(trees: readonly TreeNumber[]): boolean {
    return trees.some((number) => this.#index.tree(number)?.path === null)
  }

  #linksOf(cid: CID): CID[] {
    const bytes = this.nodeBytes(cid)
    return bytes === undefined ? [] : linksOf(decodeNode(cid, bytes))
  }

  /** Nothing sees the tree from now on; its rows and files go one tree after the other. What fails is taken up at the next start. */
  #forgetAside(number: TreeNumber): Promise<void> {
    const row = this.#index.tree(number)
    if (row === undefined) return Promise.resolve()
    this.#index.putTree(number, { ...row, status: 'removing' })
    const turn = this.#removals.then(async () => {
      await this.#index.flush(row.path === null)
      await this.#forget(number)
    })
    this.#removals = turn.catch(() => undefined)
    return turn
  }

  async #forget(number: TreeNumber): Promise<void> {
    const row = this.#index.tree(number)
    if (row === undefined) return
    const root = acceptCid(row.root)
    const trash = join(this.#folder, 'trash', String(number))
    if (row.path === null && root !== undefined && !this.#heldByOther(root, number)) {
      await rename(this.#blocks.pathOf(row), trash).catch((error: unknown) => {
        if (errno(error) !== 'ENOENT') throw error
      })
    }
    if (root !== undefined) await this.#dropBlocks(root, number)
    await this.forgetFiles(number)
    await rm(trash, { recursive: true, force: true })
  }

  /** Whether a later fetch of the same root owns the folder by now. */
  #heldByOther(root: CID, number: TreeNumber): boolean {
    return (this.#index.root(root)?.trees ?? []).some((other) => other !== number && this.#index.tree(other)?.path === null)
  }

  /** Children before parents, so that an interrupted removal finds its way again. */
  async #dropBlocks(root: CID, number: TreeNumber): Promise<void> {
    let steps = 0
    const seen = new Set<string>()
    const stack: { cid: CID; entered: boolean }[] = [{ cid: root, entered: false }]
    for (let item = stack.at(-1); item !== undefined; item = stack.at(-1)) {
      const id = item.cid.toString()
      if (!item.entered && seen.has(id)) {
        stack.pop()
        continue
      }
      seen.add(id)
      const bytes = item.cid.code === RAW || item.entered ? undefined : this.nodeBytes(item.cid)
      if (bytes === undefined) {
        stack.pop()
        this.#index.dropBlock(blockIdOf(item.cid), number)
        if (this.#index.full || ++steps % STEPS_PER_TURN === 0) await this.#index.room()
        continue
      }
      item.entered = true
      for (const link of linksOf(decodeNode(item.cid, bytes))) stack.push({ cid: link, entered: false })
    }
  }
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
