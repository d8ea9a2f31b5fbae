/** What a client asks a coordinator, and the shapes of the answers' dag-cbor bodies. */
import type { GpuNeeds } from '../bundle/manifest.ts'

import type { TaskPolicy } from '../bundle/policy.ts'
import type { Sources } from '../bundle/sources.ts'
import type { BatchId, PeerIdString, TaskId } from '../ids.ts'
import type { BanView } from './bans.ts'
import { LABELS_MAX } from './labels.ts'
import { Answer, Request } from './owner.js'

export * from './owner.js'

export const OWNER_PROTOCOL = '/talko/owner/1.0.0'
export const REQUEST_BYTES_MAX = 8 * 1024 * 1024
/** Manifests in one Submit; a larger batch is sent in several (`more`). */
export const SUBMIT_MANIFESTS_MAX = 2048

/** Entries of one Make. */
export const MAKE_ENTRIES_MAX = 65_536
/** Rows in the answer to one Query, and what a `limit` of 0 means; ask on with `after` (the id of the last row seen). */
export const QUERY_ROWS_MAX = 1000
/** Requests open at once on one stream (streaming ones included); a further one is refused as `unavailable`. */
export const REQUESTS_OPEN_MAX = 256
/** Bytes of an answer's body or of one piece of a log. */
export const ANSWER_BYTES_MAX = 8 * 1024 * 1024

const REQUEST_LIMITS = {
  submit: { manifests: SUBMIT_MANIFESTS_MAX, labels: { labels: LABELS_MAX } },
  make: { entries: MAKE_ENTRIES_MAX },
  query: { selection: { labels: LABELS_MAX } },
  manage: { selection: { labels: LABELS_MAX }, set: LABELS_MAX }
}

/** undefined for bytes that are not a request of this version's shape and bounds. */
export function decodeRequest(bytes: Uint8Array): Request | undefined {
  if (bytes.length > REQUEST_BYTES_MAX) return undefined
  try {
    return Request.decode(bytes, { limits: REQUEST_LIMITS })
  } catch {
    return undefined
  }
}

/** undefined for bytes that are not an answer of this version's shape and bounds. */
export function decodeAnswer(bytes: Uint8Array): Answer | undefined {
  if (bytes.length > ANSWER_BYTES_MAX) return undefined
  try {
    return Answer.decode(bytes)
  } catch {
    return undefined
  }
}

/** What a Query may ask. */
export type QueryWhat =
  | 'tasks'
  | 'task'
  | 'batches'
  | 'nodes'
  | 'receipt'
  | 'project'
  | 'resolve'
  | 'why'
  | 'difference'
  | 'clients'
  | 'bans'
  | 'credit'
  | 'ledger'

/** DESIGN 5. `created`: its batch is not complete, or it waits for other tasks. */
export type TaskStatus = 'created' | 'staged' | 'running' | 'validating' | 'ready' | 'failed' | 'killed'

export type FailureCode =
  | 'exit'
  | 'time'
  | 'memory'
  | 'disk'
  | 'pids'
  /** All runs that it might lose gave no sign of life. */
  | 'hang'
  | 'too_many_errors'
  | 'no_agreement'
  | 'input'
  | 'output_lost'
  | 'queue_limit'
  /** A task that it takes something from failed or was killed, or left nothing there. */
  | 'source'

/** Who keeps a batch or a task from getting new replicas, and why. */
export interface HeldView {
  /** A client's peer id, or the project's when its coordinator did it. */
  readonly by: PeerIdString
  /** '' when none was given. */
  readonly reason: string
  readonly atMs: number
}

/** How far a run says that it is. */
export interface RunProgress {
  /** 0 to 1. */
  readonly done: number
  /** A word or two of its own. */
  readonly note?: string
  /** How long it should go on, did it go on as fast as until it said so; left out while nobody can tell. */
  readonly leftMs?: number
}

export interface ReplicaView {
  readonly attempt: number
  readonly node: PeerIdString
  /** leased | preparing | running | uploading | reported | returned | lost | cancelled */
  readonly state: string
  readonly atMs: number
  /** valid | invalid | inconclusive, once compared. */
  readonly verdict?: string
  readonly exitCode?: number
  readonly reason?: string
  /** Once the task is decided or over. */
  readonly vote?: string
  /** Results in a row that its node had when it was believed without others. */
  readonly alone?: number
  /** Why it was returned or lost. */
  readonly message?: string
  /** With `task`, of one that was lost or given back by its node's fault: the end of the node's own log of that time, when it told it; lines of text, as the node says. */
  readonly log?: string
  /** Made for a node that was idle, beside the runs that the task needs. */
  readonly copy?: boolean
  readonly progress?: RunProgress
  /** The attempt from whose checkpoint it goes on. */
  readonly from?: number
  readonly checkpoint?: CheckpointView
}

/** The newest snapshot that a run left: when the project had it, after how long of computing in all, and its bytes. */
export interface CheckpointView {
  readonly atMs: number
  readonly doneMs: number
  readonly bytes: number
}

/** `task`; `tasks` answers a list of these without `replicas`. CIDs are text. */
export interface TaskView {
  readonly id: TaskId
  readonly name: string
  readonly batch: BatchId
  readonly index: number
  readonly status: TaskStatus
  readonly bundle: string
  readonly command: readonly string[]
  readonly createdAtMs: number
  readonly startedAtMs?: number
  readonly decidedAtMs?: number
  readonly failure?: { readonly code: FailureCode; readonly message: string }
  readonly exitCode?: number
  /** CIDs, once decided (also for a task that failed by its own exit code: what it left is kept). Of a killed task: what the first of its runs that reported had made, agreed on by nobody. */
  readonly output?: string
  readonly stdout?: string
  readonly stderr?: string
  readonly outputBytes?: number
  readonly quorum: number
  /** Results that agree with the best vote so far. */
  readonly agreeing: number
  readonly replicasIssued: number
  readonly numFailures: number
  /** One node decided it, turned out wrong elsewhere, and others ran it again: confirmed | revoked | open (they did not agree), by the task `by`. What is revoked is shown beside what it was; it stays as it was decided. */
  readonly revised?: { readonly verdict: string; readonly by: TaskId }
  /** By itself or with its batch. */
  readonly held?: HeldView
  /** The same bundle was decided before, by this task: its receipt is this one's, and nothing was run. */
  readonly repeats?: TaskId
  /** Of the run that is furthest, where one says it. */
  readonly progress?: RunProgress
  readonly replicas?: readonly ReplicaView[]
  /** With `task`: what it takes from others. */
  readonly sources?: Sources
}

/** `batches`, and the body of every Answer to Watch. */
export interface BatchView {
  readonly id: BatchId
  readonly name: string
  readonly createdAtMs: number
  readonly tasks: number
  readonly created: number
  readonly running: number
  readonly validating: number
  readonly ready: number
  readonly failed: number
  readonly killed: number
  readonly held?: HeldView
  /** The client whose it is. */
  readonly by?: PeerIdString
  /** `key=value`, in the order of their keys. */
  readonly labels?: readonly string[]
  readonly retryOf?: BatchId
  /** What of its policy is not as it is by default. */
  readonly policy?: Partial<TaskPolicy>
}

/** Batches that one selection may mean; more are refused. */
export const SELECTED_BATCHES_MAX = 10_000

/** How a batch is selected by its tasks: it has some that wait, run (or are compared), are ready, failed or were killed; held: the batch is. */
export const BATCH_STATES = ['waiting', 'running', 'held', 'ready', 'failed', 'killed'] as const
export type BatchState = (typeof BATCH_STATES)[number]

/** Something that happened: a batch, task, replica or node is in another state. */
export interface MoveView {
  /** They are numbered as they happened, over restarts. */
  readonly number: number
  readonly atMs: number
  readonly kind: 'batch' | 'task' | 'replica' | 'node'
  readonly id: string
  /** A task's or replica's state, held or released; a batch: submitted, held, released, over; a node: online, gone, lost, left, set aside, back. */
  readonly state: string
  /** Of a replica. */
  readonly node?: PeerIdString
  /** submit, kill, hold, release (a client's) | hello, gone, start, reports, returned, bye (a node's) | place, settle, pulled, sweep, other (the coordinator's) */
  readonly cause: string
  /** A client or a node; without it the coordinator. */
  readonly actor?: PeerIdString
  /** For people. */
  readonly detail?: string
}

/** Answers to Events. */
export interface EventsPart {
  /** Everything up to this number was looked at: where to go on. */
  readonly after: number
  /** Before these, so many are no longer kept. */
  readonly missed: number
  readonly moves: readonly MoveView[]
}

/** Moves of one EventsPart, and those that `limit` may ask for. */
export const EVENTS_PART_MAX = 1000
export const EVENTS_LAST_MAX = 10_000

/** What Manage can do. With a selection by state `waiting` or `running`, hold, release and kill mean only those tasks of its batches. */
export const MANAGE_VERBS = ['hold', 'release', 'kill', 'label', 'retry'] as const
export type ManageVerb = (typeof MANAGE_VERBS)[number]

/** Body of the answer to Manage. */
export interface Managed {
  /** What it was done to, or would be in a dry run; with retry: the batches that were made. */
  readonly targets: readonly ManagedTarget[]
}

export interface ManagedTarget extends Resolved {
  /** With retry: the batch whose tasks these are, and how many. */
  readonly retryOf?: BatchId
  readonly tasks?: number
}

export interface NodeView {
  readonly id: PeerIdString
  readonly name: string
  /** online | banned | set aside | silent | lost | left */
  readonly state: string
  readonly platform: string
  readonly engines: readonly string[]
  readonly slots: number
  readonly busy: number
  /** Of its machine; left out where it does not say. */
  readonly cores?: number
  /** With more slots than cores: how many processors its runs had on the average, by what it signed that they took, lately. */
  readonly processorsEach?: number
  readonly lastSeenMs: number
  readonly valid: number
  /** Results that lost against a quorum: lies, or broken hardware. */
  readonly invalid: number
  readonly errors: number
  readonly lost: number
  /** Exclusive ones, which only tasks that ask for them get, end with `!`. */
  readonly tags: readonly string[]
  readonly gpus: readonly { readonly uuid: string; readonly model: string; readonly memoryBytes: number; readonly driver: string; readonly taken: boolean }[]
  /** The client whose node it is; left out for a stranger's. */
  readonly owner?: PeerIdString
  /** It takes its owner's tasks only. */
  readonly ownerOnly: boolean
  /** It takes the tasks of their clients only, and its owner's; left out for those of all. */
  readonly groups?: readonly string[]
  /** Data of a MiB and more that lies there for later runs, as it says itself. */
  readonly dataTrees: number
  readonly dataBytes: number
  /** Tasks that are next there, whose data is brought to it while others run; left out for none. */
  readonly next?: number
  /** Percent of the time that it was there and computed, lately; an estimate. */
  readonly availability: number
  /** Results in a row that others confirmed. */
  readonly row: number
  /** Share of its results that are wrong, by BOINC's estimate: a tenth at first. */
  readonly errorRate: number
  readonly sinceMs: number
  /** In thousandths of a processor's second. */
  readonly credit: number
  /** Left out unless it is banned. */
  readonly ban?: BanView
}

/** `difference`: how the outputs of two tasks differ, the one asked for and that of `after`. */
export interface DifferenceView {
  readonly files: readonly FileDifferenceView[]
  /** There are more files that differ. */
  readonly more: boolean
  /** When what they print differs; its path is ''. */
  readonly stdout?: FileDifferenceView
  /** Files (and what they print) that differ and agree under the rules that the first one's batch is compared by; they are not listed. */
  readonly near?: number
  /** Where a program of their owner's compares the first one's batch, and the outputs are not equal: what it says of these two, whatever files differ; or why it does not. */
  readonly program?: { readonly bundle: string; readonly agree: boolean } | { readonly bundle: string; readonly fault: string }
}

export interface FileDifferenceView {
  readonly path: string
  readonly what: 'only_a' | 'only_b' | 'differs' | 'kind'
  readonly bytesA: number
  readonly bytesB: number
  /** Of the first of them that are not too large: why, as a guess, and a rule of comparing under which they agree. */
  readonly hint?: { readonly kind: string; readonly message: string; readonly rule?: string }
}

/** `project`. */
export interface ProjectView {
  readonly id: PeerIdString
  readonly name: string
  readonly epoch: number
  readonly addresses: readonly string[]
  /** Relays through which it is reached; absent in answers of older servers. */
  readonly relays?: readonly string[]
  readonly nodes: number
  readonly version: string
  /** To a query of `project` with `of` programs: by which engines the project's machine runs programs of its clients, which compare results, and why it cannot now ('' when it can). */
  readonly programs?: { readonly engines: readonly string[]; readonly platform: string; readonly trouble: string }
}

/** What keeps a node from taking a task, from what lasts to what passes by itself: the first that applies. */
export type WhyReason =
  /** The task is for other nodes (`--node`). */
  | 'not_named'
  /** The project's administrator lets it in no more. */
  | 'banned'
  | 'away'
  /** It does not offer the engine, or has too little even when it runs nothing else. */
  | 'engine'
  | 'platform'
  /** It has not the tags that the task asks for; or has one that is for tasks that ask for it. */
  | 'tags'
  | 'reserved'
  /** It takes its owner's tasks only. */
  | 'private'
  /** It takes the tasks of clients of its groups only, and its owner's. */
  | 'other_group'
  /** The task is for its client's own nodes; or for nodes that are believed, and it is not: too few of its results in a row were confirmed (`--trust`). */
  | 'not_own'
  | 'not_trusted'
  /** Not so many GPUs of that memory, model and driver. */
  | 'gpus'
  | 'cpu'
  | 'memory'
  | 'disk'
  /** It is not expected to be done within the deadline: it is slow, or seldom there. */
  | 'deadline'
  /** It has or had an execution of this task: results count only from different nodes. */
  | 'had_it'
  /** All runs of the task are for hosts of one class, and it is of another, or does not tell. */
  | 'other_class'
  /** It shares its owner or its network with a node that has or had a run of this task: others are waited for. */
  | 'not_independent'
  /** It has room; the task waits a while for one that has its data. */
  | 'data_elsewhere'
  /** It failed at several tasks in a row, and gets none for a while. */
  | 'set_aside'
  /** Little is known of it yet: it, and all such nodes of its network together, run few at once. */
  | 'newcomer'
  /** Paused, draining, or its owner needs the machine. */
  | 'takes_none'
  /** Busy with others: all slots, or what it lends of something. */
  | 'full'
  | 'cpu_taken'
  | 'memory_taken'
  | 'disk_taken'
  | 'gpus_taken'
  /** It takes this or another task within moments. */
  | 'free'

export interface NodesWhy {
  readonly reason: WhyReason
  readonly count: number
  /** A few of them; the name is '' for one that was named and never came. */
  readonly nodes: readonly { readonly id: PeerIdString; readonly name: string }[]
}

/** The node that could nearly take it. Thousandths of a CPU, bytes, or results in a row that others confirmed. */
export interface NearestMiss {
  readonly requirement: 'cpu' | 'memory' | 'disk' | 'trust'
  readonly needs: number
  readonly offers: number
  readonly node: PeerIdString
  readonly nodeName: string
}

export interface RunWhy {
  readonly attempt: number
  readonly node: PeerIdString
  readonly nodeName: string
  /** leased | preparing | running | uploading */
  readonly state: string
  readonly forMs: number
  /** It takes far longer than others of its batch, or than its owner expected, and is no longer counted on. */
  readonly straggles: boolean
  /** The attempt from whose checkpoint it goes on; and how old its own newest one is. */
  readonly from?: number
  readonly checkpoint?: Pick<CheckpointView, 'doneMs' | 'bytes'> & { readonly agoMs: number }
  /** On a node that would be idle: it yields to any task that waits. */
  readonly copy?: boolean
  readonly progress?: RunProgress
}

/** A run that came to nothing: lost, given back, or ended for want of memory that the next has. */
export interface FaultWhy {
  readonly attempt: number
  readonly node: PeerIdString
  readonly nodeName: string
  /** returned | lost | reported */
  readonly state: string
  readonly message: string
}

export interface QueuePlace {
  readonly tasks: number
  /** Executions that those tasks wait for. */
  readonly replicas: number
}

/** The limit that its client is at; of time, when the next period begins. */
export interface QuotaWhy {
  readonly limit: 'parallel' | 'disk' | 'time'
  /** Slots, bytes kept, or milliseconds. */
  readonly used: number
  readonly max: number
  readonly untilMs?: number
}

/** A client among those whose tasks wait. */
export interface ClientTurn {
  readonly client: PeerIdString
  readonly share: number
  /** That it holds now. */
  readonly slots: number
  /** Its tasks that wait for a node. */
  readonly waiting: number
}

export interface NextWhy {
  readonly id: PeerIdString
  readonly name: string
  readonly here: boolean
}

/** `why`: what a task, or the first task of a batch that waits for a node, waits for. Times are estimates, and missing while there is nothing to tell them from. */
export interface WhyView {
  readonly task: TaskId
  readonly name: string
  readonly status: TaskStatus
  /**
   * quota: its client may have no more now. submission: the rest of its batch. sources: tasks that it takes something from, or that come before it. node: there is none that could take it. turn: those that could are busy. runs: what is
   * being run. comparison: results differ, and the project compares their outputs. release: it is held. output: it is agreed, and the project fetches what was agreed on. nothing: it is over.
   */
  readonly waitsFor: 'quota' | 'submission' | 'sources' | 'node' | 'turn' | 'runs' | 'comparison' | 'release' | 'output' | 'nothing'
  readonly waitedMs: number
  readonly quorum: number
  /** Executions that it still wants started. */
  readonly wanted: number
  readonly needs?: {
    readonly engine: string
    readonly cpuMillis: number
    readonly memoryBytes: number
    readonly diskBytes: number
    /** Nodes that the task is for; 0 for any. */
    readonly named: number
    /** Left out where any will do. */
    readonly platform?: string
    readonly gpus?: GpuNeeds
    readonly tags?: readonly string[]
    /** Left out for any. */
    readonly trust?: 'trusted' | 'own'
    readonly deadlineMs?: number
  }
  readonly runs: readonly RunWhy[]
  /** The last of those that came to nothing. */
  readonly faults?: readonly FaultWhy[]
  /** What runs goes on; nothing new starts. */
  readonly held?: HeldView
  /** Its results differ: how they are compared, by which bundle of its owner's, and why the project cannot run that now. */
  readonly comparing?: { readonly kind: 'tolerance' | 'program'; readonly bundle?: string; readonly trouble?: string }
  /** With `sources`: how many are not over; 0 while its bundle is made. */
  readonly sources?: number
  /** The first of these: tasks and batches. */
  readonly awaits?: readonly string[]
  /** With `node` and `turn`: every node of the project under one reason. */
  readonly nodes?: readonly NodesWhy[]
  readonly nearest?: NearestMiss
  /** With `turn`. */
  readonly ahead?: QueuePlace
  /** With `turn`: busy nodes at which it is next, and whether what it needs lies there by now. Any other node that is free for it first takes it. */
  readonly next?: readonly NextWhy[]
  /** With `quota`. */
  readonly quota?: QuotaWhy
  /** With `turn`, when other clients wait too: the first of those whose turn it is before this one's, by slots held for each share, and how many they are. */
  readonly shares?: { readonly own: ClientTurn; readonly before: readonly ClientTurn[]; readonly others: number }
  /** With `output`. */
  readonly holders?: readonly { readonly id: PeerIdString; readonly name: string; readonly here: boolean; readonly asked: boolean }[]
  /** Until it starts, and until it is over. */
  readonly startMs?: number
  readonly endMs?: number
  /** What a run takes here lately. */
  readonly runMs?: number
  /** With `nothing`. */
  readonly failure?: { readonly code: FailureCode; readonly message: string }
}

/** `resolve`: what an id, unique prefix or name means. */
export interface Resolved {
  readonly kind: 'batch' | 'task' | 'data'
  readonly id: string
  readonly name?: string
}

/** Answers to Pull until the last: bytes fetched so far. */
export interface PullProgress {
  readonly bytes: number
  readonly totalBytes: number
}

/** Answers to Logs without data: where the data from here on begins, at first and whenever that is not where it ended. */
export interface LogPlace {
  readonly task: TaskId
  /** The execution it is read from; 0 for what the project holds of a task that is over. */
  readonly attempt: number
  /** '' for what the project holds. */
  readonly node: PeerIdString
  readonly offset: number
  /** Which file it is, for as long as it is not replaced; '' where that is not known. */
  readonly identity: string
  /** The file before this one was gone, with what it may have had more. */
  readonly missed: boolean
}

/** Body of the answer to Files with list. */
export interface FilesView {
  readonly task: TaskId
  /** As in LogPlace. */
  readonly attempt: number
  readonly node: PeerIdString
  readonly entries: readonly FileView[]
  /** There are more. */
  readonly more: boolean
}

export interface FileView {
  readonly name: string
  readonly kind: 'file' | 'directory' | 'link' | 'special'
  readonly bytes: number
  /** Left out of what the project holds. */
  readonly modifiedMs?: number
  /** Of a link: what it says, which nobody followed. */
  readonly target?: string
}

/** Body of the answer to Files with write: what came of it in each execution. */
export interface WrittenView {
  readonly task: TaskId
  readonly replicas: readonly { readonly attempt: number; readonly node: PeerIdString /** Why it is not there; '' when it is. */; readonly fault: string }[]
}

/** Body of the answer to Make. */
export interface Made {
  readonly root: string
  readonly bytes: number
}

/** Codes of refused requests; they cross the wire. */
export type OwnerErrorCode =
  | 'not_found'
  | 'ambiguous'
  | 'not_owner'
  | 'malformed'
  | 'too_large'
  | 'missing_content'
  | 'no_output'
  | 'not_running'
  /** A folder, link, fifo or device where a file was asked for, or a file where a folder was. */
  | 'unreadable'
  /** A file that was cut or rewritten while it was read. */
  | 'changed'
  | 'disk_full'
  | 'quota'
  /** The nodes that were named can never run it. */
  | 'unsuitable'
  | 'unavailable'
