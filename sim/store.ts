/** The project server's store in memory: the same promises, without a disk. What a crash leaves is what was committed. */
import { type Change, type Store, StoreError } from '#project-server/ports'

export class MemoryStore implements Store {
  #records = new Map<string, Uint8Array>()
  #sorted: string[] | undefined
  #epoch = 0
  /** Set to refuse the next batches as a full disk does. */
  full = false

  async beginEpoch(): Promise<number> {
    return this.open()
  }

  /** `beginEpoch` without a promise. */
  open(): number {
    return ++this.#epoch
  }

  async batch(epoch: number, changes: readonly Change[]): Promise<void> {
    this.write(epoch, changes)
  }

  /** `batch` without a promise, for worlds that commit many thousand times. */
  write(epoch: number, changes: readonly Change[]): void {
    if (epoch !== this.#epoch) throw new StoreError('stale_epoch', `epoch ${epoch} is over: epoch ${this.#epoch} has begun`)
    if (this.full) throw new StoreError('disk_full', 'no space is left; nothing was written')
    for (const { key, value } of changes) {
      if (value === null ? this.#records.delete(key) : !this.#records.has(key)) this.#sorted = undefined
      if (value !== null) this.#records.set(key, value)
    }
  }

  async getMany(keys: readonly string[]): Promise<(Uint8Array | undefined)[]> {
    return keys.map((key) => this.#records.get(key))
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    return this.#records.get(key)
  }

  async *range(from: string, to: string, options: { reverse?: boolean; limit?: number } = {}): AsyncGenerator<readonly [string, Uint8Array], void, undefined> {
    this.#sorted ??= [...this.#records.keys()].sort()
    const keys = this.#sorted.filter((key) => key >= from && key < to)
    if (options.reverse === true) keys.reverse()
    for (const key of keys.slice(0, options.limit ?? keys.length)) {
      const value = this.#records.get(key)
      if (value !== undefined) yield [key, value]
    }
  }

  /** Keys below a prefix, in order, and how many there are at no cost. */
  keys(prefix: string): readonly string[] {
    return [...this.#records.keys()].filter((key) => key.startsWith(prefix)).sort()
  }

  peek(key: string): Uint8Array | undefined {
    return this.#records.get(key)
  }

  async close(): Promise<void> {}
}
