/** The trees and images a project holds by its owners' wish, with their names: records `data/<root>` of the project's state. */
import * as dagCbor from '@ipld/dag-cbor'
import type { CID } from 'multiformats/cid'
import { ServerError } from '../errors.ts'
import { NAMED_DATA_MAX } from '../policy.ts'
import type { Change, Store } from '../ports.ts'
import { OwnerError } from './request.ts'

const PREFIX = 'data/'
const PREFIX_END = 'data0'

export interface DataRecord {
  readonly v: 1
  readonly root: string
  /** '' when it was given none. */
  readonly name: string
  readonly bytes: number
  readonly addedAtMs: number
}

export class DataNames {
  readonly #byRoot = new Map<string, DataRecord>()
  readonly #byName = new Map<string, DataRecord>()

  static async load(store: Pick<Store, 'range'>): Promise<DataNames> {
    const names = new DataNames()
    for await (const [key, value] of store.range(PREFIX, PREFIX_END)) {
      const record: DataRecord = dagCbor.decode(value)
      if (record.v !== 1 || `${PREFIX}${record.root}` !== key) throw new ServerError('corrupt', `record ${key} of the project's state is not readable`)
      names.set(record)
    }
    return names
  }

  /** The change that makes a record durable; call `set` once it is. */
  change(root: CID, name: string, bytes: number, nowMs: number): { readonly change: Change; readonly record: DataRecord } {
    const record: DataRecord = { v: 1, root: root.toString(), name, bytes, addedAtMs: nowMs }
    if (!this.#byRoot.has(record.root) && this.#byRoot.size >= NAMED_DATA_MAX)
      throw new OwnerError('too_large', `the project already holds ${NAMED_DATA_MAX} named trees, which is as many as it can`)
    return { record, change: { key: `${PREFIX}${record.root}`, value: dagCbor.encode(record) } }
  }

  set(record: DataRecord): void {
    const old = this.#byRoot.get(record.root)
    if (old !== undefined && this.#byName.get(old.name) === old) this.#byName.delete(old.name)
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
