/** The trees and images that clients brought or had made, with their names: records `data/<client>/<root>` of the project's state. Each client has its own, and names them as it likes. */
import * as dagCbor from '@ipld/dag-cbor'
import type { CID } from 'multiformats/cid'
import type { PeerIdString } from '#protocol/ids'
import { ServerError } from '../errors.ts'
import { NAMED_DATA_MAX } from '../policy.ts'
import type { Change, Store } from '../ports.ts'
import { OwnerError } from './request.ts'

const PREFIX = 'data/'
const PREFIX_END = 'data0'

export interface DataRecord {
  readonly v: 1
  readonly by: PeerIdString
  readonly root: string
  /** '' when it was given none. */
  readonly name: string
  readonly bytes: number
  readonly addedAtMs: number
}

/** Of all clients. */
export class DataNames {
  readonly #clients = new Map<PeerIdString, ClientData>()
  #count = 0

  static async load(store: Pick<Store, 'range'>): Promise<DataNames> {
    const names = new DataNames()
    for await (const [key, value] of store.range(PREFIX, PREFIX_END)) {
      const record: DataRecord = dagCbor.decode(value)
      if (record.v !== 1 || keyOf(record) !== key) throw new ServerError('corrupt', `record ${key} of the project's state is not readable`)
      names.of(record.by).set(record)
    }
    return names
  }

  /** What each client brought. */
  sizes(): readonly { readonly client: PeerIdString; readonly bytes: number }[] {
    return Array.from(this.#clients, ([client, { bytes }]) => ({ client, bytes }))
  }

  of(client: PeerIdString): ClientData {
    let data = this.#clients.get(client)
    if (data === undefined) {
      data = new ClientData(client, {
        isFull: () => this.#count >= NAMED_DATA_MAX,
        grew: () => {
          this.#count++
        }
      })
      this.#clients.set(client, data)
    }
    return data
  }
}

/** Of one client. */
export class ClientData {
  readonly #by: PeerIdString
  readonly #all: { isFull(): boolean; grew(): void }
  readonly #byRoot = new Map<string, DataRecord>()
  readonly #byName = new Map<string, DataRecord>()
  #bytes = 0

  constructor(by: PeerIdString, all: { isFull(): boolean; grew(): void }) {
    this.#by = by
    this.#all = all
  }

  /** Of all its trees, each counted once. */
  get bytes(): number {
    return this.#bytes
  }

  has(root: CID): boolean {
    return this.#byRoot.has(root.toString())
  }

  /** The change that makes a record durable; call `set` once it is. */
  change(root: CID, name: string, bytes: number, nowMs: number): { readonly change: Change; readonly record: DataRecord } {
    const record: DataRecord = { v: 1, by: this.#by, root: root.toString(), name, bytes, addedAtMs: nowMs }
    if (!this.#byRoot.has(record.root) && this.#all.isFull())
      throw new OwnerError('too_large', `the project already holds ${NAMED_DATA_MAX} named trees, which is as many as it can`)
    return { record, change: { key: keyOf(record), value: dagCbor.encode(record) } }
  }

  set(record: DataRecord): void {
    const old = this.#byRoot.get(record.root)
    if (old === undefined) this.#all.grew()
    else if (this.#byName.get(old.name) === old) this.#byName.delete(old.name)
    this.#bytes += record.bytes - (old?.bytes ?? 0)
    this.#byRoot.set(record.root, record)
    if (record.name === '') return
    const named = this.#byName.get(record.name)
    if (named === undefined || named.addedAtMs <= record.addedAtMs) this.#byName.set(record.name, record)
  }

  byName(name: string): DataRecord | undefined {
    return this.#byName.get(name)
  }

  /** At most two: enough to know whether a prefix is unique. */
  byPrefix(prefix: string): readonly DataRecord[] {
    const exact = this.#byRoot.get(prefix)
    if (exact !== undefined) return [exact]
    const found: DataRecord[] = []
    for (const [root, record] of this.#byRoot) {
      if (root.startsWith(prefix)) found.push(record)
      if (found.length === 2) break
    }
    return found
  }
}

function keyOf({ by, root }: DataRecord): string {
  return `${PREFIX}${by}/${root}`
}
