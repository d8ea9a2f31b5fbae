/** What the node's shell needs of the world. `node/live` has the real ones; a simulator brings its own. */
import type { RunManifest } from '#protocol/bundle/manifest'
import type { ReplicaId } from '#protocol/ids'
import type { EndReason } from '#protocol/result/result'

export interface Clock {
  nowMs(): number
  /** Calls back once; the answer cancels. */
  after(ms: number, call: () => void): () => void
}

/** Resolves once what has already arrived was handled: events that come together are committed together. */
export type Breath = () => Promise<void>

export interface Random {
  bytes(count: number): Uint8Array
}

/** Small durable records of one node. `batch` is atomic and on disk when it resolves. */
export interface NodeStore {
  batch(changes: readonly { readonly key: string; readonly value: Uint8Array | null }[]): Promise<void>
  /** All records whose key starts with `prefix`, in key order. */
  range(prefix: string): AsyncIterable<readonly [key: string, value: Uint8Array]>
  close(): Promise<void>
}

/** The folders of replicas, one each: `out/`, `stdout`, `stderr`. */
export interface Workspace {
  /** Where a replica's folder is, whether or not it exists. */
  pathOf(replica: ReplicaId): string
  remove(replica: ReplicaId): Promise<void>
  /** Names of the folders that are there. */
  all(): Promise<readonly ReplicaId[]>
  /** Names in a replica's folder; none when there is no folder. */
  names(replica: ReplicaId): Promise<ReadonlySet<string>>
  /** Size of a file in bytes; undefined when there is none. */
  fileBytes(path: string): Promise<number | undefined>
  /** True when there is no folder or nothing in it. */
  isEmpty(path: string): Promise<boolean>
  /** A small file whole. */
  read(path: string): Promise<Uint8Array>
  /** The beginning of the file in which a running task says how far it is; undefined when there is none that may be read. */
  progress(replica: ReplicaId): Promise<Uint8Array | undefined>
  /** Takes the newest snapshot that a run has finished out of its reach, in place of the one taken before, and answers where it lies, in a folder that no other run's equals (SNAPSHOT_PATH); undefined when there is no new one. Older ones go; `replaces` is waited for before the one that was taken does. */
  takeSnapshot(replica: ReplicaId, replaces: () => Promise<void>): Promise<string | undefined>
  /** Where the one taken last lies; undefined for none. */
  takenSnapshot(replica: ReplicaId): Promise<string | undefined>
  /** Removes what was taken, and what was not. */
  dropSnapshots(replica: ReplicaId): Promise<void>
}

/** Facts for programs and one sentence for people; a pino logger is one. */
export interface Logger {
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}

/** What an executor is given to run one replica. */
export interface Execution {
  readonly replica: ReplicaId
  readonly manifest: RunManifest
  /** Where each dependency lies on the host, to be shown read-only at /in/<name>. */
  readonly inputs: readonly { readonly name: string; readonly path: string }[]
  /** UUIDs of the GPUs that it may use, and no others; left out for none. */
  readonly gpus?: readonly string[]
  /** The run is given a folder for snapshots, `checkpoint/` in the one below, and told of it by TALKO_CHECKPOINT; what it goes on from, if anything, is an input called RESUME_NAME, told of by TALKO_RESUME. Left out when it may leave none. */
  readonly snapshots?: true
  /** The node's folder for this replica. To start it the executor makes it (what may lie there is removed), makes `out/` in it for the task and writes `stdout` and `stderr` files beside it as they arrive; a run that leaves nothing needs none of them, and whose executor never reads this is not looked for on the disk. */
  readonly folder: string
}

export interface Ended {
  readonly reason: EndReason
  readonly exitCode: number
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly cpuMs: number
  readonly memoryPeakBytes: number
}

/** One running replica. */
export interface Running {
  /** Resolves when it ended and `stdout`, `stderr` and `out/` are complete. Rejects with ExecutorError when the engine broke, which is the node's fault and not the task's. */
  readonly ended: Promise<Ended>
  /** TERM, then KILL after `graceMs`; `ended` then resolves with reason `killed`. */
  kill(graceMs: number): Promise<void>
}

export interface Executor {
  readonly engine: 'docker' | 'process'
  /** Whether it can run things now; throws ExecutorError naming what is wrong and what to do. */
  probe(): Promise<void>
  /** Makes an image ready whose content is complete in the node's store. Concurrent calls for one image share the work. Not part of the run's time limit. */
  prepare(manifest: RunManifest, signal: AbortSignal): Promise<void>
  start(execution: Execution): Promise<Running>
  /** After the node's restart: the replicas of this node that still run or ended unseen, found by label. Those it does not name are gone. */
  recover(executions: readonly Execution[]): Promise<ReadonlyMap<ReplicaId, Running>>
  /** Removes every container (or process) of this node but these. */
  sweep(keep: ReadonlySet<ReplicaId>): Promise<void>
  /** Removes what is left of one ended replica (container); its folder is the node's. */
  remove(replica: ReplicaId): Promise<void>
  stop(): Promise<void>
}

/**
 * - `engine_down`: the engine does not answer; the node takes no work until it does.
 * - `image`: the image cannot be loaded; counts against this replica only.
 * - `command`: the command does not exist in the image; the task's own fault (it ends with exit code 127 or 126 instead where the engine tells).
 * - `hang`: it gave no sign of life for as long as its manifest allows, and was ended.
 * - `disk_full`, `failed`: as they say.
 */
export type ExecutorErrorCode = 'engine_down' | 'image' | 'hang' | 'disk_full' | 'failed'

export class ExecutorError extends Error {
  override readonly name = 'ExecutorError'
  readonly code: ExecutorErrorCode
  constructor(code: ExecutorErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
