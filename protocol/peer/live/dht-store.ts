/** What a DHT host keeps for others, in memory: bounded, and never going back to an older record of a project. */
import { Record as DhtRecord } from '@libp2p/kad-dht'
import { MemoryDatastore } from 'datastore-core'
import { selectEntry } from '../../record/record.ts'

/** Project and provider records of strangers; the one written longest ago makes room. At most 8 KiB each. */
export const DHT_ENTRIES_MAX = 10_000
/** Where kad-dht keeps what others gave it; libp2p keeps its peer store elsewhere in the same datastore. */
const ENTRIES = '/dht/'
const RECORDS = '/dht/record/'

type Key = Parameters<MemoryDatastore['put']>[0]

export class DhtStore extends MemoryDatastore {
  /** Oldest first. */
  readonly #entries = new Map<string, Key>()

  override put(key: Key, value: Uint8Array): Key {
    const name = key.toString()
    if (!name.startsWith(ENTRIES)) return super.put(key, value) as Key
    if (name.startsWith(RECORDS) && this.#entries.has(name) && isOlder(value, super.get(key) as Uint8Array)) return key
    this.#entries.delete(name)
    this.#entries.set(name, key)
    for (const [oldest, oldestKey] of this.#entries) {
      if (this.#entries.size <= DHT_ENTRIES_MAX) break
      this.#entries.delete(oldest)
      super.delete(oldestKey)
    }
    return super.put(key, value) as Key
  }

  override delete(key: Key): void {
    this.#entries.delete(key.toString())
    super.delete(key)
  }
}

/** Whoever has an old record, still valid, can offer it again: kad-dht would put it in the newer one's place. */
function isOlder(offered: Uint8Array, kept: Uint8Array): boolean {
  return selectEntry([DhtRecord.deserialize(kept).value, DhtRecord.deserialize(offered).value]) === 0
}
