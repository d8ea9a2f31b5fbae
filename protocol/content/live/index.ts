/**
 * The index of a content store: which block lies in which file, in LevelDB. Writes gather in memory (bounded) and go out in
 * atomic batches in the order they were made, so a killed process leaves a prefix of them; reads see what is still gathered.
 */
import { Level } from 'level'
import type { CID } from 'multiformats/cid'
import { ContentError } from '../content.ts'
import type { BlockId } from '../hash.ts'
import type { BlockRow, FileRow, RootRow, TreeNumber, TreeRow } from './rows.ts'
import * as rows from './rows.ts'

/** Rows that may wait in memory; whoever adds beyond waits for a batch to be written. */
const GATHERED_ROWS_MAX = 8192
/** Bytes of inline nodes that may wait in memory. */
const GATHERED_BYTES_MAX = 16 * 1024 * 1024
/** Trees whose row is kept decoded. */
const TREES_CACHED_MAX = 4096
/** Other places of one block that are tried when the first has changed. */
const ALTERNATES_TRIED_MAX = 16
/** Keys remembered to be absent. */
const ABSENT_MAX = 8192
const FORMAT = '1'
const NO_BYTES = new Uint8Array(0)
const DELETED = Buffer.alloc(0)

type Database = Level<Buffer, Buffer>
/** What is to be written, by key; DELETED: nothing any more. */
type Writes = Map<rows.Key, Buffer>

export class BlockIndex {
  readonly #db: Database
  #gathered: Writes = new Map()
  #gatheredBytes = 0
  /** Keys that were looked up and are not there: whoever asks for a block first is the one who puts it next. */
  readonly #absent = new Set<rows.Key>()
  #leaving: Readonly<Writes> = new Map()
  #flushing: Promise<void> = Promise.resolve()
  /** The batch that has not begun. */
  #next: { sync: boolean; turn: Promise<void> } | undefined
  #unsynced = false
  readonly #trees = new Map<TreeNumber, TreeRow | undefined>()
  #nextTree: number

  private constructor(db: Database, nextTree: number) {
    this.#db = db
    this.#nextTree = nextTree
  }

  /** Throws ContentError `in_use` when another process has it open. */
  static async open(folder: string): Promise<BlockIndex> {
    const db: Database = new Level<Buffer, Buffer>(folder, {
      keyEncoding: 'buffer',
      valueEncoding: 'buffer',
      writeBufferSize: 16 * 1024 * 1024,
      compression: false
    })
    try {
      await db.open()
    } catch (error) {
      const cause = error instanceof Error ? error.cause : undefined
      if (cause instanceof Error && 'code' in cause && cause.code === 'LEVEL_LOCKED') {
        throw new ContentError('in_use', `${folder} is open in another process; stop it first`, { cause: error })
      }
      throw error
    }
    const version = db.getSync(rows.keyBytes(rows.VERSION_KEY))?.toString()
    if (version !== undefined && version !== FORMAT)
      throw new ContentError('bad_tree', `${folder} was made by another version of talko (format ${version}); move it away and fetch again`)
    if (version === undefined) await db.put(rows.keyBytes(rows.VERSION_KEY), Buffer.from(FORMAT))
    return new BlockIndex(db, Number(db.getSync(rows.keyBytes(rows.NEXT_TREE_KEY))?.toString() ?? '1'))
  }

  async close(): Promise<void> {
    await this.flush(true)
    await this.#db.close()
  }

  /** A number for a new tree; durable with the first row written after it. */
  newTree(): TreeNumber {
    const tree = this.#nextTree++
    this.#write(rows.NEXT_TREE_KEY, Buffer.from(String(this.#nextTree)))
    return tree
  }

  tree(number: TreeNumber): TreeRow | undefined {
    const known = this.#trees.get(number)
    if (known !== undefined) return known
    const value = this.#read(rows.treeKey(number))
    const row = value === undefined ? undefined : rows.decodeTree(value)
    if (this.#trees.size >= TREES_CACHED_MAX) this.#trees.clear()
    this.#trees.set(number, row)
    return row
  }

  putTree(number: TreeNumber, row: TreeRow | undefined): void {
    this.#trees.delete(number)
    this.#write(rows.treeKey(number), row === undefined ? undefined : rows.encodeRecord(row))
  }

  /** A file of it is not what was noted any more: it is as if its fetch had been interrupted. */
  lose(number: TreeNumber): void {
    const row = this.tree(number)
    if (row?.status === 'complete') this.putTree(number, { ...row, status: 'partial' })
  }

  root(cid: CID): RootRow | undefined {
    const value = this.#read(rows.rootKey(cid))
    return value === undefined ? undefined : rows.decodeRoot(value)
  }

  putRoot(cid: CID, row: RootRow | undefined): void {
    this.#write(rows.rootKey(cid), row === undefined ? undefined : rows.encodeRecord(row))
  }

  block(id: BlockId): BlockRow | undefined {
    const value = this.#read(rows.blockKey(id))
    return value === undefined ? undefined : rows.decodeBlock(value)
  }

  /** Notes a place of a block; a block that already has one in another living tree gets this as a further one. */
  putBlock(id: BlockId, row: BlockRow): void {
    const present = this.block(id)
    if (present === undefined || present.tree === row.tree || !this.#lives(present.tree)) {
      if (present?.kind === 'node' && present.tree === row.tree && (row.kind !== 'node' || row.place === undefined || present.place !== undefined)) return
      this.#write(rows.blockKey(id), rows.encodeBlock(row))
      return
    }
    const key = rows.alternateKey(id, row.tree)
    if (this.#read(key) !== undefined) return
    const head = rows.headKey(id)
    this.#write(key, rows.encodeAlternate({ next: this.#head(head), row: row.kind === 'node' ? { ...row, bytes: NO_BYTES } : row }))
    this.#write(head, rows.encodeTreeNumber(row.tree))
  }

  /** Says where the file or folder with this root node lies, when the node was put without a place. */
  markPlace(id: BlockId, tree: TreeNumber, place: string): void {
    const present = this.block(id)
    if (present?.kind === 'node' && present.tree === tree && present.place === undefined)
      this.#write(rows.blockKey(id), rows.encodeBlock({ ...present, place }))
  }

  /** The place of a block in this tree. */
  placeIn(id: BlockId, tree: TreeNumber): BlockRow | undefined {
    const present = this.block(id)
    if (present?.tree === tree) return present
    const value = this.#read(rows.alternateKey(id, tree))
    return value === undefined ? undefined : rows.decodeAlternate(value).row
  }

  /** Further places of a block in living trees, the newest first, nodes without their bytes. */
  alternates(id: BlockId): BlockRow[] {
    const found: BlockRow[] = []
    let tree = this.#head(rows.headKey(id))
    for (let looked = 0; tree !== rows.LOOSE && looked < ALTERNATES_TRIED_MAX; looked++) {
      const value = this.#read(rows.alternateKey(id, tree))
      if (value === undefined) break
      const { next, row } = rows.decodeAlternate(value)
      if (this.#lives(row.tree)) found.push(row)
      tree = next
    }
    return found
  }

  /** Forgets the place a block has in `tree`, which no longer lives; the newest other place, when there is one, takes over. */
  dropBlock(id: BlockId, tree: TreeNumber): void {
    const present = this.block(id)
    if (present === undefined) return
    const key = rows.blockKey(id)
    const head = rows.headKey(id)
    const stays = present.tree !== tree && this.#lives(present.tree)
    for (let next = this.#head(head); next !== rows.LOOSE; next = this.#head(head)) {
      const value = this.#read(rows.alternateKey(id, next))
      const other = value === undefined ? { next: rows.LOOSE, row: undefined } : rows.decodeAlternate(value)
      const lives = other.row !== undefined && next !== tree && this.#lives(next)
      // dead places further down go when they come up
      if (stays && lives) return
      this.#write(rows.alternateKey(id, next), undefined)
      this.#write(head, other.next === rows.LOOSE ? undefined : rows.encodeTreeNumber(other.next))
      if (!lives || other.row === undefined) continue
      this.#write(key, rows.encodeBlock(other.row.kind === 'node' ? { ...other.row, bytes: present.kind === 'node' ? present.bytes : NO_BYTES } : other.row))
      return
    }
    if (!stays) this.#write(key, undefined)
  }

  /** The tree at the head of a block's further places; LOOSE when there is none. */
  #head(key: rows.Key): TreeNumber {
    const value = this.#read(key)
    return value === undefined ? rows.LOOSE : rows.decodeTreeNumber(value)
  }

  file(tree: TreeNumber, file: number): FileRow | undefined {
    const value = this.#read(rows.fileKey(tree, file))
    return value === undefined ? undefined : rows.decodeFile(value)
  }

  putFile(tree: TreeNumber, file: number, row: FileRow): void {
    this.#write(rows.fileKey(tree, file), rows.encodeFile(row))
  }

  /** Forgets all files of a tree. */
  async clearFiles(tree: TreeNumber): Promise<void> {
    await this.flush()
    this.#unsynced = true
    await this.#db.clear({ gte: rows.keyBytes(rows.fileKey(tree, 0)), lte: rows.keyBytes(rows.fileKey(tree, 2 ** 32 - 1)) })
  }

  /** All trees whose row has this status. */
  async treesThatAre(status: TreeRow['status']): Promise<{ number: TreeNumber; row: TreeRow }[]> {
    await this.flush()
    const found: { number: TreeNumber; row: TreeRow }[] = []
    for await (const [key, value] of this.#db.iterator({ gte: rows.keyBytes(rows.treeKey(0)), lte: rows.keyBytes(rows.treeKey(2 ** 48 - 1)) })) {
      const row = rows.decodeTree(value)
      if (row.status === status) found.push({ number: rows.treeOfKey(key), row })
    }
    return found
  }

  /** Whether so much waits that `flush` should be awaited before more is added. */
  get full(): boolean {
    return this.#gathered.size >= GATHERED_ROWS_MAX || this.#gatheredBytes >= GATHERED_BYTES_MAX
  }

  /** Starts writing what is gathered; waits only for the batch before it, so that adding and writing go on side by side. */
  async room(): Promise<void> {
    const before = this.#flushing
    const now = this.flush()
    now.catch(() => undefined)
    await before
    if (this.full) await now
  }

  /** Writes what is gathered; at most one batch is being written while the next gathers, and all who ask meanwhile share that one. `sync` also waits for the disk. */
  flush(sync = false): Promise<void> {
    if (this.#next !== undefined) {
      this.#next.sync ||= sync
      return this.#next.turn
    }
    const next = { sync, turn: Promise.resolve() }
    next.turn = this.#flushing.then(() => {
      this.#next = undefined
      return this.#writeBatch(next.sync)
    })
    this.#next = next
    this.#flushing = next.turn.catch(() => undefined)
    return next.turn
  }

  async #writeBatch(sync: boolean): Promise<void> {
    // What was written without waiting for the disk goes to it with the next that does.
    if (this.#gathered.size === 0 && !(sync && this.#unsynced)) return
    this.#unsynced = true
    const leaving = this.#gathered
    this.#leaving = leaving
    this.#gathered = new Map()
    this.#gatheredBytes = 0
    try {
      // Put by put: half the cost of an array of operations, whose properties the binding asks for one by one.
      const batch = this.#db.batch()
      for (const [text, value] of leaving) {
        const key = rows.keyBytes(text)
        if (value === DELETED) batch.del(key)
        else batch.put(key, value)
      }
      await batch.write({ sync })
      if (sync) this.#unsynced = false
    } catch (error) {
      // nothing was written: keep it, newer writes of the same keys win
      this.#gathered = new Map([...leaving, ...this.#gathered])
      throw asContentError(error, 'the index')
    } finally {
      this.#leaving = new Map()
    }
  }

  #lives(tree: TreeNumber): boolean {
    if (tree === rows.LOOSE) return true
    const row = this.tree(tree)
    return row !== undefined && row.status !== 'removing'
  }

  #write(key: rows.Key, value: Buffer | undefined): void {
    this.#absent.delete(key)
    this.#gathered.set(key, value ?? DELETED)
    this.#gatheredBytes += value?.length ?? 0
  }

  #read(key: rows.Key): Buffer | undefined {
    const waiting = this.#gathered.get(key) ?? this.#leaving.get(key)
    if (waiting !== undefined) return waiting === DELETED ? undefined : waiting
    if (this.#absent.has(key)) return undefined
    const value = this.#db.getSync(rows.keyBytes(key))
    if (value === undefined) {
      if (this.#absent.size >= ABSENT_MAX) this.#absent.clear()
      this.#absent.add(key)
    }
    return value
  }
}

/** Operating failures as the store reports them. */
export function asContentError(error: unknown, what: string): Error {
  if (error instanceof ContentError) return error
  if (!(error instanceof Error)) return new Error(String(error))
  const text = `${'code' in error ? String(error.code) : ''} ${error.message} ${error.cause instanceof Error ? error.cause.message : ''}`
  return /ENOSPC|EDQUOT|No space left|quota exceeded/i.test(text) ? diskFull(what, error) : error
}

export function diskFull(what: string, cause: unknown): ContentError {
  return new ContentError('disk_full', `no space left on the disk of ${what}; free some and try again: nothing that had arrived is lost`, { cause })
}
