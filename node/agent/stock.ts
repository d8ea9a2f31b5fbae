/**
 * The data that lies at the node for the next runs: what was fetched for a run and what a run left, kept between tasks up to
 * a bound. What no replica here may read goes first that was used longest ago. Kept over restarts: the files by the content
 * store, what is known of them in records of their own, which may be a minute behind.
 */
import * as dagCbor from '@ipld/dag-cbor'
import { Writer } from '#protocol/cbor/writer'
import { HOLDING_BYTES_MIN, HOLDINGS_MAX } from '#protocol/control/messages'
import type { ReplicaId } from '#protocol/ids'
import type { Change } from './events.ts'
import { STOCK_TOUCH_MS, STOCK_TREES_MAX } from './policy.ts'

export const STOCK_PREFIX = 'stock/'

/** CID as text. */
export interface Holding {
  readonly root: string
  readonly bytes: number
}

export interface StockView {
  readonly trees: number
  readonly bytes: number
  readonly bytesMax: number
  readonly fetchedTrees: number
  readonly fetchedBytes: number
}

interface Tree {
  readonly root: string
  readonly bytes: number
  /** In whose folder it lies; null when it was fetched. */
  replica: ReplicaId | null
  usedMs: number
  /** Of its record. */
  writtenMs: number
  /** Replicas that may read it; null for none. */
  users: Set<ReplicaId> | null
}

export interface Evicted {
  readonly root: string
  readonly replica: ReplicaId | null
}

const WRITER = new Writer()

export class Stock {
  readonly #bytesMax: number
  /** The one used longest ago first. */
  #trees: Map<string, Tree> | undefined
  /** Trees that each replica may read. */
  #used: Map<ReplicaId, Tree[]> | undefined
  #bytes = 0
  #fetchedTrees = 0
  #fetchedBytes = 0
  #dirty: Set<string> | undefined
  /** Not yet told: true for what has come, false for what has gone. */
  #news: Map<string, boolean> | undefined

  /** `bytesMax`: of all trees that nobody uses, together with those that somebody does. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** More lies here than is kept when nobody uses it. */
  get isOver(): boolean {
    return this.#bytes > this.#bytesMax
  }

  has(root: string): boolean {
    return this.#trees?.has(root) === true
  }

  /** What lies here, with whose folder it lies in. */
  *all(): Generator<Evicted & { readonly bytes: number }, void, undefined> {
    yield* this.#trees?.values() ?? []
  }

  /** What a project is told: the large ones, the last used first. */
  holdings(): Holding[] {
    const large = [...(this.#trees?.values() ?? [])].filter(isTold).map(({ root, bytes }) => ({ root, bytes }))
    return large.reverse().slice(0, HOLDINGS_MAX)
  }

  view(): StockView {
    return {
      trees: this.#trees?.size ?? 0,
      bytes: this.#bytes,
      bytesMax: this.#bytesMax,
      fetchedTrees: this.#fetchedTrees,
      fetchedBytes: this.#fetchedBytes
    }
  }

  /** The replica may read it from now until `unused`. */
  use(replica: ReplicaId, { root, bytes }: Holding, fetched: boolean, nowMs: number): void {
    if (fetched && !this.has(root)) {
      this.#fetchedTrees++
      this.#fetchedBytes += bytes
    }
    const tree = this.#touch({ root, bytes }, null, nowMs)
    tree.users ??= new Set()
    if (tree.users.has(replica)) return
    tree.users.add(replica)
    this.#used ??= new Map()
    const used = this.#used.get(replica) ?? []
    used.push(tree)
    this.#used.set(replica, used)
  }

  /** The replica reads nothing any more. */
  unused(replica: ReplicaId): void {
    const used = this.#used?.get(replica)
    if (used === undefined) return
    this.#used?.delete(replica)
    for (const tree of used) {
      tree.users?.delete(replica)
      if (tree.users?.size === 0) tree.users = null
    }
  }

  /** What a replica left stays in its folder. */
  keep(replica: ReplicaId, holding: Holding, nowMs: number): void {
    this.#touch(holding, replica, nowMs)
  }

  /** It has gone from the disk by itself. */
  forget(root: string): void {
    const tree = this.#trees?.get(root)
    if (tree === undefined) return
    this.#trees?.delete(root)
    this.#bytes -= tree.bytes
    this.#changed(tree, false)
  }

  /** What has to go now so that the bounds hold, already forgotten here. */
  evict(): Evicted[] {
    const evicted: Evicted[] = []
    if (this.#trees === undefined || (this.#bytes <= this.#bytesMax && this.#trees.size <= STOCK_TREES_MAX)) return evicted
    for (const tree of this.#trees.values()) {
      if (this.#bytes <= this.#bytesMax && this.#trees.size <= STOCK_TREES_MAX) break
      if (tree.users !== null) continue
      this.forget(tree.root)
      evicted.push(tree)
    }
    return evicted
  }

  /** From its durable record. Throws when it is damaged. */
  restore(key: string, value: Uint8Array): void {
    const root = key.slice(STOCK_PREFIX.length)
    const stored = dagCbor.decode<[v: number, bytes: number, usedMs: number, replica: string]>(value)
    if (!Array.isArray(stored) || stored[0] !== 1) throw new TypeError(`stock record ${root} is not of version 1, which this talko reads`)
    const [, bytes, usedMs, replica] = stored
    this.#trees ??= new Map()
    this.#trees.set(root, { root, bytes, replica: replica === '' ? null : replica, usedMs, writtenMs: usedMs, users: null })
    this.#bytes += bytes
  }

  /** All records were given. */
  restored(): void {
    if (this.#trees === undefined) return
    this.#trees = new Map([...this.#trees.values()].sort((a, b) => a.usedMs - b.usedMs).map((tree) => [tree.root, tree]))
  }

  takeChanges(): Change[] {
    const changes: Change[] = []
    for (const root of this.#dirty ?? []) {
      const tree = this.#trees?.get(root)
      changes.push({ key: STOCK_PREFIX + root, value: tree === undefined ? null : encode(tree) })
      if (tree !== undefined) tree.writtenMs = tree.usedMs
    }
    this.#dirty = undefined
    return changes
  }

  /** All is told anew. */
  forgetNews(): void {
    this.#news = undefined
  }

  /** What is to be told since the last call; undefined for nothing. */
  takeNews(): { readonly got: Holding[]; readonly dropped: string[] } | undefined {
    if (this.#news === undefined) return undefined
    const got: Holding[] = []
    const dropped: string[] = []
    for (const [root, came] of [...this.#news].slice(-HOLDINGS_MAX)) {
      const tree = this.#trees?.get(root)
      if (came && tree !== undefined) got.push({ root, bytes: tree.bytes })
      else dropped.push(root)
    }
    this.#news = undefined
    return { got, dropped }
  }

  #touch({ root, bytes }: Holding, replica: ReplicaId | null, nowMs: number): Tree {
    this.#trees ??= new Map()
    const known = this.#trees.get(root)
    // It was used from where a run left it, and is kept now.
    if (known !== undefined && replica !== null && known.replica === null) {
      known.replica = replica
      this.#write(root)
    }
    const tree = known ?? { root, bytes, replica, usedMs: nowMs, writtenMs: nowMs, users: null }
    if (known === undefined) {
      this.#bytes += bytes
      this.#changed(tree, true)
    } else {
      this.#trees.delete(root)
      tree.usedMs = nowMs
      if (nowMs - tree.writtenMs >= STOCK_TOUCH_MS) this.#write(root)
    }
    this.#trees.set(root, tree)
    return tree
  }

  #changed(tree: Tree, came: boolean): void {
    this.#write(tree.root)
    if (!isTold(tree)) return
    this.#news ??= new Map()
    this.#news.delete(tree.root)
    this.#news.set(tree.root, came)
  }

  #write(root: string): void {
    this.#dirty ??= new Set()
    this.#dirty.add(root)
  }
}

function isTold({ bytes }: Tree): boolean {
  return bytes >= HOLDING_BYTES_MIN
}

function encode({ bytes, usedMs, replica }: Tree): Uint8Array {
  return WRITER.list(4)
    .int(1)
    .int(bytes)
    .int(Math.trunc(usedMs))
    .text(replica ?? '')
    .done()
}
