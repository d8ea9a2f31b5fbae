/**
 * The project's records on disk, in LevelDB. One process at a time has the folder (LevelDB's own lock); every batch is one
 * atomic, synced write. A batch that fails for want of space leaves LevelDB's log with a torn tail that nothing may be
 * written behind, so the database is opened anew before the next one; a reserve of free space makes that rare.
 */
import { statfs } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Level } from 'level'
import { type Change, type Store, StoreError } from '../ports.ts'
import { RareKeys } from './rare-keys.ts'

/** With less free space than this nothing is accepted, so that what was accepted can still be compacted and the server still stopped in order. */
const RESERVE_BYTES = 64 * 1024 * 1024
/** Free space is looked at again after this many bytes or milliseconds. */
const CHECK_BYTES = 4 * 1024 * 1024
const CHECK_MS = 1_000
/**
 * Recently written records held in memory before they become a sorted file, and what a sorted file holds at most. With 16 MiB and
 * LevelDB's own 2 its compaction took 33 us of CPU a task, nearly as much as the coordinator; with these 14.
 */
const WRITE_BUFFER_BYTES = 32 * 1024 * 1024
const SORTED_FILE_BYTES = 16 * 1024 * 1024
const CACHE_BYTES = 32 * 1024 * 1024
/** What a sorted file is compressed and written by. LevelDB's 4 KiB take a system call each and are compressed worse: 5 us more of a task, and a fifth more of the disk. */
const BLOCK_BYTES = 16 * 1024

/** No key begins with it. */
const NONE = '\uffff'
const EPOCH = 'meta/epoch'
const FORMAT = 'meta/format'
/** Older ones are read. From 2 on tasks may lie together (submitted-records.ts): a server that knows only 1 would go on without them, and so it refuses. */
const FORMAT_NOW = 2

export interface StoreOptions {
  /** What the keys begin with that are mostly asked for in vain: rare-keys.ts. */
  readonly rare?: string
  readonly now?: () => number
  readonly reserveBytes?: number
  /** Free bytes of the disk that holds a folder. */
  readonly freeBytes?: (folder: string) => Promise<number>
}

type Database = Level<string, Uint8Array>

/** Opens the store, making the folder when it is new. Throws StoreError `locked`, `corrupt` or `disk_full`. */
export async function openStore(folder: string, options: StoreOptions = {}): Promise<Store> {
  const path = resolve(folder)
  const database = await open(path)
  try {
    await checkFormat(database, path)
    return new LevelStore(path, database, { rare: NONE, now: Date.now, reserveBytes: RESERVE_BYTES, freeBytes, ...options }, await readNumber(database, EPOCH))
  } catch (error) {
    await database.close()
    throw storeError(error, path)
  }
}

class LevelStore implements Store {
  readonly #path: string
  readonly #options: Required<StoreOptions>
  #database: Database
  #epoch: number
  readonly #rare: RareKeys
  /** A write failed: what is on disk must be read anew before the next. */
  #torn = false
  #reopening: Promise<void> | undefined
  #checkedAtMs = Number.NEGATIVE_INFINITY
  #bytesSinceCheck = 0

  constructor(path: string, database: Database, options: Required<StoreOptions>, epoch: number) {
    this.#path = path
    this.#database = database
    this.#options = options
    this.#epoch = epoch
    this.#rare = new RareKeys(options.rare)
    void this.#rare.learn(database)
  }

  async beginEpoch(): Promise<number> {
    const epoch = this.#epoch + 1
    await this.#write([{ key: EPOCH, value: new TextEncoder().encode(String(epoch)) }])
    this.#epoch = epoch
    return epoch
  }

  async batch(epoch: number, changes: readonly Change[]): Promise<void> {
    if (epoch !== this.#epoch) throw new StoreError('stale_epoch', `epoch ${epoch} is over: epoch ${this.#epoch} has begun on ${this.#path}`)
    if (changes.length > 0) await this.#write(changes)
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    if (this.#rare.isAbsent(key)) return undefined
    await this.#reopening
    try {
      return await this.#database.get(key)
    } catch (error) {
      throw this.#readError(error)
    }
  }

  async getMany(keys: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    await this.#reopening
    const asked = keys.filter((key) => !this.#rare.isAbsent(key))
    if (asked.length === 0) return keys.map(() => undefined)
    try {
      const found = await this.#database.getMany(asked)
      if (asked.length === keys.length) return found
      let next = 0
      return keys.map((key) => (key === asked[next] ? found[next++] : undefined))
    } catch (error) {
      throw this.#readError(error)
    }
  }

  async *range(from: string, to: string, options: { reverse?: boolean; limit?: number } = {}): AsyncGenerator<readonly [string, Uint8Array], void, undefined> {
    await this.#reopening
    const { reverse = false, limit = -1 } = options
    try {
      yield* this.#database.iterator({ gte: from, lt: to, reverse, limit })
    } catch (error) {
      throw this.#readError(error)
    }
  }

  async close(): Promise<void> {
    await this.#reopening
    await this.#database.close()
  }

  async #write(changes: readonly Change[]): Promise<void> {
    await this.#checkSpace(changes)
    if (this.#torn) await this.#reopen()
    this.#rare.write(changes)
    try {
      // Put by put: half the cost of an array of operations, whose properties the binding asks for one by one.
      const batch = this.#database.batch()
      for (const { key, value } of changes) {
        if (value === null) batch.del(key)
        else batch.put(key, value)
      }
      await batch.write({ sync: true })
    } catch (error) {
      this.#torn = true
      throw storeError(error, this.#path)
    }
  }

  /** Nothing is tried on a full disk. */
  async #checkSpace(changes: readonly Change[]): Promise<void> {
    const { now, reserveBytes } = this.#options
    let bytes = 0
    for (const { key, value } of changes) bytes += key.length + (value?.length ?? 0)
    this.#bytesSinceCheck += bytes
    if (!this.#torn && this.#bytesSinceCheck < CHECK_BYTES && now() - this.#checkedAtMs < CHECK_MS) return
    const free = await this.#options.freeBytes(this.#path)
    if (free < reserveBytes + bytes) {
      this.#checkedAtMs = Number.NEGATIVE_INFINITY
      throw new StoreError(
        'disk_full',
        `the disk of ${this.#path} has ${mebibytes(free)} MiB left, ${mebibytes(reserveBytes)} are kept in reserve: free some space; nothing was written`
      )
    }
    this.#checkedAtMs = now()
    this.#bytesSinceCheck = 0
  }

  /** Between a failed write and the next good one the database may be closed. */
  #readError(error: unknown): unknown {
    if (this.#torn) return new StoreError('disk_full', `${this.#path} cannot be read while its disk is full: free some space`, { cause: error })
    return storeError(error, this.#path)
  }

  async #reopen(): Promise<void> {
    this.#reopening ??= (async () => {
      await this.#database.close()
      this.#database = await open(this.#path)
      this.#torn = false
      void this.#rare.learn(this.#database)
    })().finally(() => {
      this.#reopening = undefined
    })
    await this.#reopening
  }
}

async function open(path: string): Promise<Database> {
  const database: Database = new Level(path, {
    keyEncoding: 'utf8',
    valueEncoding: 'view',
    writeBufferSize: WRITE_BUFFER_BYTES,
    maxFileSize: SORTED_FILE_BYTES,
    cacheSize: CACHE_BYTES,
    blockSize: BLOCK_BYTES
  })
  try {
    await database.open()
    return database
  } catch (error) {
    throw storeError(error, path)
  }
}

async function checkFormat(database: Database, path: string): Promise<void> {
  const found = await readNumber(database, FORMAT)
  if (found > FORMAT_NOW) throw new StoreError('corrupt', `${path} has format ${found}, this talko reads formats up to ${FORMAT_NOW}: install the newest talko`)
  if (found < FORMAT_NOW) await database.batch([{ type: 'put', key: FORMAT, value: new TextEncoder().encode(String(FORMAT_NOW)) }], { sync: true })
}

async function readNumber(database: Database, key: string): Promise<number> {
  const value = await database.get(key)
  return value === undefined ? 0 : Number(new TextDecoder().decode(value))
}

async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder)
  return bavail * bsize
}

function mebibytes(bytes: number): number {
  return Math.floor(bytes / 1024 ** 2)
}

/** What LevelDB says in words, as one of our codes. */
function storeError(error: unknown, path: string): unknown {
  if (error instanceof StoreError) return error
  const codes: string[] = []
  let text = ''
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause) codes.push(String(cause.code))
    text += ` ${cause.message}`
  }
  if (codes.includes('LEVEL_LOCKED'))
    return new StoreError('locked', `${path} is in use by another project server: stop that one first, or serve another folder`, { cause: error })
  if (/No space left|ENOSPC|Disk quota/i.test(text))
    return new StoreError('disk_full', `no space is left for ${path}: free some; nothing was written`, { cause: error })
  if (codes.includes('LEVEL_CORRUPTION') || /Corruption/.test(text))
    return new StoreError('corrupt', `${path} is damaged: restore it from a backup, or start over with --clean.${text}`, { cause: error })
  return error
}
