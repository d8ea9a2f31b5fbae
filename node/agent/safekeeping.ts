/**
 * What this node keeps for others of its project: results that their nodes could not deliver, with all that they name. The project
 * is told with every welcome until it releases them; what it never asks about goes after some days. Bounded in bytes, entries and
 * for each node, since nobody has to be believed that it needs it.
 *
 * offered -> collecting -> kept -> (gone): released, or too old. A record is there from `collecting` on, so that what was half
 * fetched when the node was killed is found and removed.
 */
import * as dagCbor from '@ipld/dag-cbor'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import { parseReplicaId } from '#protocol/ids'
import type { ParkedResult, ParkingCode } from '#protocol/parking/messages'
import { decodeResult, type Result } from '#protocol/result/result'
import type { Change } from './events.ts'
import { KEPT_COLLECTING_MAX, KEPT_ENTRIES_MAX, KEPT_ENTRY_BYTES, KEPT_SHARE } from './policy.ts'

export const KEPT_PREFIX = 'parked/'

export interface SafekeepingOptions {
  /** Of everything; 0 keeps nothing. */
  readonly bytesMax: number
  /** How long what nobody asks for is kept. */
  readonly msMax: number
}

/** A result that was verified to be of `from`. CIDs as text. */
export interface Parcel extends ParkedResult {
  readonly replica: ReplicaId
  readonly from: PeerIdString
  /** Where it called from; '' when that says nothing of who it is. */
  readonly network: string
  /** Output and logs, without those that everybody has. */
  readonly content: readonly string[]
  readonly bytes: number
}

interface Entry extends Parcel {
  readonly sinceMs: number
  state: 'collecting' | 'kept'
}

export interface SafekeepingView {
  readonly results: number
  readonly bytes: number
  readonly bytesMax: number
}

export class Safekeeping {
  readonly #options: SafekeepingOptions
  #entries: Map<ReplicaId, Entry> | undefined
  #bytes = 0
  #dirty: Set<ReplicaId> | undefined

  constructor(options: SafekeepingOptions) {
    this.#options = options
  }

  view(): SafekeepingView {
    return { results: this.#entries?.size ?? 0, bytes: this.#bytes, bytesMax: this.#options.bytesMax }
  }

  /** From its durable record. Throws when it is damaged. */
  restore(key: string, value: Uint8Array): void {
    const [v, state, body, signature, bytes, sinceMs, network = ''] =
      dagCbor.decode<[number, Entry['state'], Uint8Array, Uint8Array, number, number, string]>(value)
    const result = decodeResult(body)
    if (v !== 1 || result === undefined) throw new TypeError(`the record of ${key} is not of version 1, which this talko reads`)
    this.#add({ ...parcelOf(result, { body, signature }, { bytes, network }), state, sinceMs })
  }

  /** All records were given: what was half fetched goes. Answers whether there is anything at all. */
  restored(): readonly Parcel[] {
    return [...(this.#entries?.values() ?? [])].filter(({ state }) => state === 'collecting')
  }

  /** What there is, also what is being fetched. */
  *all(): Generator<Parcel, void, undefined> {
    yield* this.#entries?.values() ?? []
  }

  /** `collect`: it is to be fetched, and then `collected`, or `dropped`. `involved`: this node has a run of the same task. */
  offer(parcel: Parcel, involved: boolean, nowMs: number): 'collect' | ParkingCode {
    const { bytesMax } = this.#options
    if (bytesMax === 0) return 'off'
    const known = this.#entries?.get(parcel.replica)
    if (known !== undefined) return known.state === 'collecting' ? 'busy' : Buffer.compare(known.body, parcel.body) === 0 ? 'kept' : 'refused'
    // Who computes the same is not shown the answer by who did, and its machine may not be there either.
    if (involved) return 'refused'
    const own = { bytes: 0, entries: 0 }
    let collecting = 0
    for (const entry of this.#entries?.values() ?? []) {
      if (entry.state === 'collecting') collecting++
      if (entry.from !== parcel.from && (entry.network === '' || entry.network !== parcel.network)) continue
      own.bytes += sizeOf(entry)
      own.entries++
    }
    const size = sizeOf(parcel)
    if ((this.#entries?.size ?? 0) >= KEPT_ENTRIES_MAX || this.#bytes + size > bytesMax) return 'full'
    if (own.entries >= KEPT_ENTRIES_MAX * KEPT_SHARE || own.bytes + size > bytesMax * KEPT_SHARE) return 'full'
    if (collecting >= KEPT_COLLECTING_MAX) return 'busy'
    this.#add({ ...parcel, state: 'collecting', sinceMs: nowMs })
    this.#write(parcel.replica)
    return 'collect'
  }

  /** All that it names is here. */
  collected(replica: ReplicaId): Parcel | undefined {
    const entry = this.#entries?.get(replica)
    if (entry?.state !== 'collecting') return undefined
    entry.state = 'kept'
    this.#write(replica)
    return entry
  }

  /** The project needs it no more, or it could not be fetched. Answers whose it was, and what no other result names. */
  drop(replica: ReplicaId): Pick<Parcel, 'from' | 'content'> | undefined {
    const entry = this.#entries?.get(replica)
    if (entry === undefined) return undefined
    this.#entries?.delete(replica)
    this.#bytes -= sizeOf(entry)
    this.#write(replica)
    return { from: entry.from, content: entry.content.filter((root) => !this.#needs(root)) }
  }

  /** Those that nobody asked for in all their time. */
  old(nowMs: number): ReplicaId[] {
    const old: ReplicaId[] = []
    for (const { replica, sinceMs, state } of this.#entries?.values() ?? []) if (state === 'kept' && nowMs - sinceMs >= this.#options.msMax) old.push(replica)
    return old
  }

  /** For the project, the oldest first. */
  results(): ParkedResult[] {
    return [...(this.#entries?.values() ?? [])].filter(({ state }) => state === 'kept').map(({ body, signature }) => ({ body, signature }))
  }

  takeChanges(): Change[] {
    const changes: Change[] = []
    for (const replica of this.#dirty ?? []) {
      const entry = this.#entries?.get(replica)
      const value = entry === undefined ? null : dagCbor.encode([1, entry.state, entry.body, entry.signature, entry.bytes, entry.sinceMs, entry.network])
      changes.push({ key: KEPT_PREFIX + replica, value })
    }
    this.#dirty = undefined
    return changes
  }

  #needs(root: string): boolean {
    for (const { content } of this.#entries?.values() ?? []) if (content.includes(root)) return true
    return false
  }

  #add(entry: Entry): void {
    this.#entries ??= new Map()
    this.#entries.set(entry.replica, entry)
    this.#bytes += sizeOf(entry)
  }

  #write(replica: ReplicaId): void {
    this.#dirty ??= new Set()
    this.#dirty.add(replica)
  }
}

/** A verified result as it is kept. */
export function parcelOf(
  result: Result,
  { body, signature }: ParkedResult,
  { bytes, network = '' }: { readonly bytes: number; readonly network?: string }
): Parcel {
  const content = [result.output, result.stdout, result.stderr].map(String).filter((root) => root !== EMPTY_DIRECTORY && root !== EMPTY_FILE)
  return { replica: result.replica, from: result.node, network, content: [...new Set(content)], body, signature, bytes }
}

/** Of whose task a replica is. */
export function taskOf(replica: ReplicaId): string {
  return parseReplicaId(replica)?.task ?? ''
}

function sizeOf({ bytes }: Parcel): number {
  return bytes + KEPT_ENTRY_BYTES
}
