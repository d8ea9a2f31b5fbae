/**
 * A node's small records, many to an entry of the store underneath: all that one commit changes is one page, because an entry
 * costs more than what is in it. A page is written once and never changed. Of each record the last page that names it counts;
 * pages go from the oldest on, once nothing in them counts any more, and what still counts in an old one moves to the newest
 * when more than half of all is waste. So a page that says that a record is gone outlives every page that has the record.
 */
import { crc32 } from 'node:zlib'
import type { NodeStore } from './ports.ts'
import { SmallMap } from './small-map.ts'

/** Entries underneath, in the order of their keys. */
export interface PageStore {
  /** Writes one and deletes some, atomically, and on disk when it resolves. */
  write(put: { readonly key: string; readonly value: Uint8Array } | undefined, deleted: readonly string[]): Promise<void>
  /** In key order. */
  all(): AsyncIterable<readonly [key: string, value: Uint8Array]>
  get(key: string): Promise<Uint8Array | undefined>
  close(): Promise<void>
}

interface Page {
  readonly number: number
  /** The one written after it. */
  next: Page | undefined
  bytes: number
  /** Records whose newest state is here. */
  live: number
}

/** Where the newest state of a record is. */
interface Place {
  page: Page
  bytes: number
}

interface Change {
  readonly key: string
  readonly value: Uint8Array | null
}

const PREFIX = 'page/'
/** Bytes of a key's and of a value's length before each record; a value's is one more than it has, and 0 for a record that is gone. */
const HEAD_BYTES = 6
/** Before all records of a page: disks flip bits, and no record may be believed that was not written. */
const SUM_BYTES = 4
/** Waste that is not worth moving anything. */
const WASTE_BYTES = 1024 * 1024
/** Moved with one batch, about: the rest moves with the next ones. */
const RESCUED_BYTES = 1024 * 1024

/** Takes up what the pages hold. Throws TypeError when one is damaged. */
export async function openPages(store: PageStore): Promise<NodeStore> {
  const pages = new Pages(store)
  await pages.open()
  return pages
}

class Pages implements NodeStore {
  readonly #store: PageStore
  #oldest: Page | undefined
  #newest: Page | undefined
  readonly #places = new SmallMap<string, Place>()
  #next = 0
  #bytes = 0
  #liveBytes = 0
  /** Batches are written one after another, none after one that failed. Undefined when all are written. */
  #last: Promise<void> | undefined

  constructor(store: PageStore) {
    this.#store = store
  }

  async open(): Promise<void> {
    for await (const [key, value] of this.#store.all()) {
      if (!key.startsWith(PREFIX)) continue
      const page = this.#add(Number.parseInt(key.slice(PREFIX.length), 16))
      for (const record of recordsOf(value)) this.#place(record, page)
    }
  }

  batch(changes: readonly Change[]): Promise<void> {
    const written = (this.#last ?? Promise.resolve())
      .then(() => this.#write(changes))
      .then(() => {
        if (this.#last === written) this.#last = undefined
      })
    this.#last = written
    return written
  }

  async *range(prefix: string): AsyncGenerator<readonly [string, Uint8Array]> {
    const records = new Map<string, Uint8Array>()
    for await (const [page, bytes] of this.#store.all()) {
      if (!page.startsWith(PREFIX)) continue
      for (const { key, value } of recordsOf(bytes)) {
        if (value === null) records.delete(key)
        else if (key.startsWith(prefix)) records.set(key, value)
      }
    }
    for (const key of [...records.keys()].sort()) yield [key, records.get(key) as Uint8Array]
  }

  close(): Promise<void> {
    return this.#store.close()
  }

  async #write(changes: readonly Change[]): Promise<void> {
    const page = this.#add(this.#next)
    for (const change of changes) this.#place(change, page)
    const deleted = this.#dropFirst()
    const records = [...changes]
    const enough = page.bytes + RESCUED_BYTES
    while (this.#oldest !== undefined && this.#oldest !== page && page.bytes < enough && this.#bytes > Math.max(WASTE_BYTES, 2 * this.#liveBytes)) {
      records.push(...(await this.#rescue(this.#oldest, page)))
      deleted.push(...this.#dropFirst())
    }
    // With everything gone there is nothing left that must be said to be gone.
    await this.#store.write(this.#oldest === undefined ? undefined : { key: keyOf(page), value: encode(records) }, deleted)
  }

  /** Moves what still counts in the oldest page to the newest. */
  async #rescue(from: Page, to: Page): Promise<Change[]> {
    const bytes = await this.#store.get(keyOf(from))
    if (bytes === undefined) throw new TypeError(`the node's records are damaged: ${keyOf(from)} is missing`)
    const newest = new Map<string, Change>()
    for (const record of recordsOf(bytes)) newest.set(record.key, record)
    const counting = [...newest.values()].filter(({ key }) => this.#places.get(key)?.page === from)
    for (const record of counting) this.#place(record, to)
    return counting
  }

  #add(number: number): Page {
    this.#next = number + 1
    const page: Page = { number, next: undefined, bytes: 0, live: 0 }
    if (this.#newest === undefined) this.#oldest = page
    else this.#newest.next = page
    this.#newest = page
    return page
  }

  /** The newest state of a record is in the newest page. */
  #place({ key, value }: Change, page: Page): void {
    const bytes = HEAD_BYTES + key.length + (value?.length ?? 0)
    page.bytes += bytes
    this.#bytes += bytes
    let place = this.#places.get(key)
    if (place !== undefined) {
      place.page.live--
      this.#liveBytes -= place.bytes
    }
    if (value === null) {
      if (place !== undefined) this.#places.delete(key)
      return
    }
    if (place === undefined) {
      place = { page, bytes }
      this.#places.set(key, place)
    } else {
      place.page = page
      place.bytes = bytes
    }
    page.live++
    this.#liveBytes += bytes
  }

  /** Forgets the oldest pages, up to the first in which something counts; answers their keys. */
  #dropFirst(): string[] {
    const dropped: string[] = []
    for (let first = this.#oldest; first?.live === 0; first = this.#oldest) {
      this.#oldest = first.next
      this.#bytes -= first.bytes
      dropped.push(keyOf(first))
    }
    if (this.#oldest === undefined) this.#newest = undefined
    return dropped
  }
}

function keyOf({ number }: Page): string {
  return PREFIX + number.toString(16).padStart(13, '0')
}

function encode(records: readonly Change[]): Uint8Array {
  let room = 0
  for (const { key, value } of records) room += HEAD_BYTES + 3 * key.length + (value?.length ?? 0)
  const page = Buffer.allocUnsafe(SUM_BYTES + room)
  let at = SUM_BYTES
  for (const { key, value } of records) {
    const length = page.write(key, at + HEAD_BYTES)
    page.writeUInt16BE(length, at)
    page.writeUInt32BE(value === null ? 0 : value.length + 1, at + 2)
    at += HEAD_BYTES + length
    if (value === null) continue
    page.set(value, at)
    at += value.length
  }
  page.writeUInt32BE(crc32(page.subarray(SUM_BYTES, at)))
  return page.subarray(0, at)
}

function* recordsOf(page: Uint8Array): Generator<Change> {
  const text = Buffer.from(page.buffer, page.byteOffset, page.byteLength)
  const damaged = new TypeError("the node's records are damaged: a page is not as it was written")
  if (text.length < SUM_BYTES || text.readUInt32BE() !== crc32(text.subarray(SUM_BYTES))) throw damaged
  let at = SUM_BYTES
  while (at < text.length) {
    const from = at + HEAD_BYTES
    if (from > text.length) throw damaged
    const to = from + text.readUInt16BE(at)
    const length = text.readUInt32BE(at + 2)
    at = to + Math.max(0, length - 1)
    if (at > text.length) throw damaged
    yield { key: text.toString('utf8', from, to), value: length === 0 ? null : page.subarray(to, at) }
  }
}
