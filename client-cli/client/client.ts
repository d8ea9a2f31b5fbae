/**
 * The client: what an owner's program, and every verb of `talko`, does with a project. All calls may be made at once, go on
 * after a reconnect, and throw ClientError (or the ContentError, ManifestError of what they touch).
 */
import type { Sources } from '#protocol/bundle/sources'
import type { Sweep } from '#protocol/bundle/sweep'
import type { SignedPage } from '#protocol/credit/ledger'
import type { PeerIdString } from '#protocol/ids'
import type { BanAnswer, BanTarget, BanView } from '#protocol/owner/bans'
import type { ClientSettings, ClientView } from '#protocol/owner/clients'
import type { CreditRow } from '#protocol/owner/credit'
import type {
  BatchView,
  DifferenceView,
  EventsPart,
  FailureCode,
  FilesView,
  LogPlace,
  Made,
  Managed,
  NodeView,
  ProjectView,
  Resolved,
  TaskView,
  WhyView,
  WrittenView
} from '#protocol/owner/messages'
import type { SignedReceipt } from '#protocol/result/receipt'
import type { EventsOptions } from './events.ts'
import type { ManageOptions, Selection } from './manage.ts'
import type { NameEntry } from './names.ts'
import type { BatchOptions, Input, TaskSpec } from './spec.ts'
import type { Batch, SweepBatch } from './submission.ts'

export type { Batch, SweepBatch } from './submission.ts'

export interface Task {
  /** `<batch>.<index>` */
  readonly id: string
  readonly batch: string
}

/** How one task ended. */
export interface TaskResult {
  readonly task: string
  readonly batch: string
  readonly index: number
  readonly name: string
  /** True when it was agreed that the command ended with status 0. */
  readonly ok: boolean
  readonly status: 'ready' | 'failed' | 'killed'
  readonly exitCode?: number
  readonly failure?: { readonly code: FailureCode; readonly message: string }
  /** CID of the output tree, when there is one. */
  readonly output?: string
  /** What it printed, as UTF-8; at most TEXT_BYTES_MAX of it. */
  stdout(): Promise<string>
  stderr(): Promise<string>
  /** Copies the output tree (or the file or folder at `path` in it) to a new place on this machine. */
  save(destination: string, path?: string): Promise<void>
}

export interface CallOptions {
  readonly signal?: AbortSignal
}

export interface Progress {
  readonly bytes: number
  /** 0 while unknown. */
  readonly totalBytes: number
}

export interface TransferOptions extends CallOptions {
  readonly onProgress?: (step: 'reading' | 'sending' | 'fetching' | 'writing', progress: Progress) => void
}

export interface LogOptions extends CallOptions {
  /** Default `stdout`. */
  readonly file?: 'stdout' | 'stderr'
  /** Goes on until the task ends. */
  readonly follow?: boolean
  /** The file at this path of the output, in place of `file`. */
  readonly path?: string
  /** Bytes to leave out from the start. */
  readonly offset?: number
  /** Begins with the last so many lines, in place of `offset`. */
  readonly lines?: number
  /** Only the execution of this number; without it the first that runs. */
  readonly attempt?: number
  /** Told where the bytes from here on are from: first, and whenever they go on elsewhere (another execution, a file that was cut or replaced). */
  readonly onPlace?: (place: LogPlace) => void
}

export interface Uploaded {
  readonly root: string
  readonly bytes: number
  readonly files: number
}

/** Something an argument names: a tree or file the project holds. */
export interface Found extends Input {
  readonly kind: 'data' | 'image' | 'output'
}

export interface Client {
  readonly project: PeerIdString
  readonly peerId: PeerIdString

  /** Submits one task: accepted and durable when it resolves. Calls made together travel as one batch. */
  submitTask(spec: TaskSpec): Promise<Task>
  /**
   * The next decided task of those submitted with submitTask, each once, in the order they are decided. null when
   * `timeoutMs` is over; without a timeout, null when nothing is left to wait for.
   */
  getResults(options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal }): Promise<TaskResult | null>

  /** Canonical manifest bytes for each spec; inputs on this machine are uploaded (only read, with `dryRun`). */
  prepare(specs: readonly TaskSpec[], options?: TransferOptions & { readonly dryRun?: boolean }): Promise<Uint8Array[]>
  /**
   * Makes a program that compares two outputs known to the project, and answers its bundle's id, for `policy.compare`: `{ kind: 'program', bundle }`.
   * It finds the outputs at `/in/a` and `/in/b` (what they printed, where that counts, at `/in/a.stdout` and `/in/b.stdout`), runs on the project's
   * own machine, and says by its exit status whether they agree: 0 yes, 1 no; with any other it is itself at fault, and the batch is held.
   */
  comparator(spec: TaskSpec, options?: TransferOptions & { readonly dryRun?: boolean }): Promise<string>
  /** Submits manifests as one batch. `sources`: what tasks take from others that may not be over yet, by index; those of the same batch come earlier in it. */
  submit(manifests: readonly Uint8Array[], options?: BatchOptions & CallOptions & { readonly sources?: ReadonlyMap<number, Sources> }): Promise<Batch>

  /** Submits a batch as a generator: one manifest with `{name}` in its command and environment, and what the names stand for. The project makes the tasks when it wants them. */
  submitSweep(template: Uint8Array, sweep: Sweep, options?: BatchOptions & CallOptions & { readonly sources?: Sources }): Promise<SweepBatch>

  /** The batch's state whenever it changes (intermediate states may be skipped), until all its tasks are decided. */
  watch(batch: string, options?: CallOptions): AsyncGenerator<BatchView, void, undefined>
  /** Waits until all tasks of a batch are decided. */
  wait(batch: string, options?: CallOptions): Promise<BatchView>
  task(of: string, options?: CallOptions): Promise<TaskView>
  /** What a task waits for; of a batch, its first task that waits for a node. */
  why(of: string, options?: CallOptions): Promise<WhyView>
  /** How the outputs of two decided tasks differ: which files, and a guess why. */
  difference(a: string, b: string, options?: CallOptions): Promise<DifferenceView>
  tasks(batch: string, options?: CallOptions): AsyncGenerator<TaskView, void, undefined>
  result(view: TaskView): TaskResult
  /** Newest first; all, or those that are selected. */
  batches(limit: number, options?: CallOptions & { readonly of?: Selection }): Promise<BatchView[]>
  nodes(options?: CallOptions): Promise<NodeView[]>
  /** `programs`: with what the project's machine can run for its clients, which it looks at for that. */
  info(options?: CallOptions & { readonly programs?: boolean }): Promise<ProjectView>
  /** What clients are granted and used: all of them for the administrator, oneself for another. */
  clients(options?: CallOptions): Promise<ClientView[]>
  /** Of the administrator: changes what a client may, adds it or removes it. */
  grant(client: PeerIdString, options: CallOptions & { readonly settings?: Partial<ClientSettings>; readonly member?: boolean }): Promise<ClientView>
  /** Who has most credit, at most 1,000 of them. */
  credit(of: 'nodes' | 'owners', limit: number, options?: CallOptions): Promise<CreditRow[]>
  /** Of the administrator: all signed pages of the ledger of credit, in order. */
  ledger(options?: CallOptions): AsyncGenerator<SignedPage, void, undefined>
  /** Whom the project lets in no more. */
  bans(options?: CallOptions): Promise<BanView[]>
  /** Of the administrator: bans a node, an owner's nodes or a network, or lets it in again (`lift`); says which nodes that means. */
  ban(target: BanTarget, options?: CallOptions & { readonly reason?: string; readonly lift?: boolean; readonly dryRun?: boolean }): Promise<BanAnswer>
  resolve(of: string, options?: CallOptions): Promise<Resolved>
  receipt(of: string, options?: CallOptions): Promise<SignedReceipt>
  /** Ends a task, a batch, or all that are selected; with a state, those of their tasks that wait or that run. */
  kill(of: string | Selection, options?: ManageOptions): Promise<Managed>
  /** Keeps a task or a batch from getting new executions until it is released; with `stop` what runs is taken back. */
  hold(of: string | Selection, options?: ManageOptions & { readonly reason?: string; readonly stop?: boolean }): Promise<Managed>
  release(of: string | Selection, options?: ManageOptions): Promise<Managed>
  /** Submits again, as new batches of the same name and labels, the tasks that failed or were killed (with a state: one of the two). */
  retry(of: string | Selection, options?: ManageOptions): Promise<Managed>
  /** Changes a batch's labels, or those of all that are selected: `key=value` sets one, `key-` takes it away. */
  label(of: string | Selection, changes: readonly string[], options?: ManageOptions): Promise<Managed>
  /** What happened to batches, tasks, executions and nodes, in order; goes on after a reconnect without gap or repeat. */
  events(options?: EventsOptions): AsyncGenerator<EventsPart, void, undefined>
  /** Bytes of a task's log, or of a file of its output, as they come, while it runs and afterwards; goes on where it was after a reconnect. */
  logs(of: string, options?: LogOptions): AsyncGenerator<Uint8Array, void, undefined>
  /** What stands in the output folder of a task, or in a folder of it, while it runs and afterwards. */
  list(of: string, path?: string, options?: CallOptions & { readonly attempt?: number }): Promise<FilesView>
  /** Puts a file of up to 64 KiB into the output folder of a running task: whole, and in every execution that runs (or one). */
  write(of: string, path: string, content: Uint8Array, options?: CallOptions & { readonly attempt?: number }): Promise<WrittenView>

  /** Adds a file or folder where it lies and lets the project fetch it. It must not change until this resolves. */
  upload(path: string, options?: TransferOptions & { readonly name?: string; readonly dryRun?: boolean }): Promise<Uploaded>
  /** Imports an image: a Docker reference, a `docker save` or OCI archive, or a root file system folder. */
  importImage(source: string, options?: TransferOptions & { readonly name?: string; readonly dryRun?: boolean }): Promise<Uploaded>
  /** A directory tree made of what the project holds; nothing is copied. */
  make(entries: readonly { readonly path: string; readonly root: string }[], options?: CallOptions & { readonly name?: string }): Promise<Made>
  /** What `ID[/path]`, a name or a task's id means. Throws ClientError `not_found`, `ambiguous`. */
  find(text: string, options?: CallOptions & { readonly kind?: 'image' | 'data' }): Promise<Found>
  /** Fetches `ID[/path]` to a new path on this machine. */
  get(of: string | Input, destination: string, options?: TransferOptions): Promise<{ readonly bytes: number }>
  /** A file's content, verified, a piece at a time. */
  read(of: string | Input, options?: TransferOptions): AsyncGenerator<Uint8Array, void, undefined>
  /** What was uploaded and imported under names, newest first. */
  names(kind?: NameEntry['kind']): Promise<NameEntry[]>

  close(): Promise<void>
}

/** Bytes of a log that `stdout()` and `stderr()` answer with; longer ones are read with `read`. */
export const TEXT_BYTES_MAX = 16 * 1024 * 1024
