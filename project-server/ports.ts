/** What the coordinator's shell needs of the world. `project-server/live` has the real ones; the simulator brings its own. */
import type { Engine, RunManifest } from '#protocol/bundle/manifest'
import type { ContentStore } from '#protocol/content/content'
import type { PeerIdString } from '#protocol/ids'
import type { EndReason } from '#protocol/result/result'
import type { Logger } from './logger.ts'

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

/** Runs programs of the project's clients on the project's own machine. The outermost layer brings it: see client-cli/commands/serve.ts. */
export interface Programs {
  /** Which it can run; none where the administrator allows none. */
  readonly engines: readonly Engine[]
  /** Of what is run, like `linux/amd64`. */
  readonly platform: string
  /** Ends what an earlier life of the server left running. */
  begin(): Promise<void>
  /** Why nothing can be run now; '' when it can. */
  trouble(): Promise<string>
  /** Runs it to its end: sandboxed, without any network, within the limits of its manifest, with these inputs read-only at `/in/<name>`. Rejects when this machine could not, or with the signal's reason. */
  run(
    program: { readonly manifest: RunManifest; readonly inputs: readonly { readonly name: string; readonly path: string }[] },
    signal: AbortSignal
  ): Promise<ProgramEnd>
  stop(): Promise<void>
}

export interface ProgramEnd {
  /** `hang`: it gave no sign of life; `image`: its image cannot be loaded. */
  readonly reason: EndReason | 'hang' | 'image'
  readonly exitCode: number
  /** The end of what it wrote to stderr, or what the executor says. */
  readonly said: string
}

/** What the server has that runs them. */
export interface ProgramsTools {
  readonly store: ContentStore
  readonly id: PeerIdString
  readonly folder: string
  readonly engines: readonly Engine[]
  readonly logger: Logger
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
