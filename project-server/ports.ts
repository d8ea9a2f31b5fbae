/** What the coordinator's shell needs of the world. `project-server/live` has the real ones; the simulator brings its own. */

export interface Clock {
  nowMs(): number
  /** Calls back once; the answer cancels. */
  after(ms: number, call: () => void): () => void
}

export interface Random {
  bytes(count: number): Uint8Array
}

/** One change of the durable state; `null` deletes. */
export interface Change {
  readonly key: string
  readonly value: Uint8Array | null
}

/** The ordered record set of one project (DESIGN 6). */
export interface Store {
  /** Opens the next epoch and returns it: durable, greater than any before. */
  beginEpoch(): Promise<number>
  /** Atomic and on disk when it resolves. Throws StoreError `stale_epoch` when a newer epoch has begun, `disk_full` when nothing was written. */
  batch(epoch: number, changes: readonly Change[]): Promise<void>
  get(key: string): Promise<Uint8Array | undefined>
  /** As many `get`s at once, for far less than each. */
  getMany(keys: readonly string[]): Promise<(Uint8Array | undefined)[]>
  /** Keys from `from` (inclusive) to `to` (exclusive), in order. */
  range(from: string, to: string, options?: { reverse?: boolean; limit?: number }): AsyncIterable<readonly [key: string, value: Uint8Array]>
  close(): Promise<void>
}

export type StoreErrorCode = 'stale_epoch' | 'locked' | 'disk_full' | 'corrupt'

export class StoreError extends Error {
  override readonly name = 'StoreError'
  readonly code: StoreErrorCode
  constructor(code: StoreErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
