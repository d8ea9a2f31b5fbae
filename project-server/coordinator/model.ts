/** The live state: what is held in memory of tasks that are not terminal, of their replicas, and of nodes. */
import type { CID } from 'multiformats/cid'
import type { GpuNeeds } from '#protocol/bundle/manifest'
import type { SameClass, TaskPolicy, TrustClass } from '#protocol/bundle/policy'
import type { Sources } from '#protocol/bundle/sources'
import type { Link } from '#protocol/control/link'
import type { BatchId, PeerIdString, ReplicaId, TaskId } from '#protocol/ids'
import { NONE, withOne } from '#protocol/lists'
import type { BanView } from '#protocol/owner/bans'
import { unended } from '#protocol/owner/counts'
import type { Due } from './availability.ts'
import type { Client } from './clients.ts'
import type { Comparison } from './comparisons.ts'
import type { Cursors } from './cursors.ts'
import type { NodeOffer, TaskFailure } from './events.ts'
import type { FigureAt } from './figures.ts'
import type { Held } from './held-records.ts'
import type { DataAt } from './holders.ts'
import type { GroupKinds, NodeKind } from './kinds.ts'
import type { CancelReason, Waiting } from './link-records.ts'
import type { LiveTasks } from './live-tasks.ts'
import type { Newcomer } from './newcomers.ts'
import type { Next } from './next.ts'
import type { Pace } from './pace.ts'
import type { OrderedQueue } from './queue.ts'
import type { StoredResult } from './receipt-records.ts'
import type { Recheck } from './rechecks.ts'
import type { Standing } from './standing.ts'
import type { ReplicaState, TaskState, Verdict } from './states.ts'
import type { RunTimes } from './stragglers.ts'
import type { Maker } from './sweeps.ts'
import type { Decision } from './task-records.ts'

/** A manifest that live tasks share; decoded no further than the coordinator needs. */
export interface Bundle {
  readonly cid: string
  readonly bytes: Uint8Array
  /** What is signed of them with a lease (protocol/bundle/sign.ts), once it was leased while several tasks share it. */
  leaf: Uint8Array | null
  readonly needs: Needs
  /** What has to lie at the node and is large enough to choose the node by; null for nothing. */
  readonly data: readonly DataNeed[] | null
  readonly compareStdout: boolean
  readonly timeMs: number
  /** After so long without a sign of life its run has hung; 0 when nobody watches for that. */
  readonly silenceMs: number
  /** Nothing has to be fetched before it runs: to be given it is to be granted it. */
  readonly atOnce: boolean
  /** What it has in common with other tasks that need as much memory, once that is asked for: see memory-history.ts. */
  program: string | null
  /** The client for which it was written last that this is decided. */
  decidedFor: PeerIdString | null
  /** Live tasks that name it. */
  users: number
}

/** A tree that a run needs on its node. CIDs as text. */
export interface DataNeed {
  readonly root: string
  /** The tree that it is a part of, when the bundle names it by a path; a node that holds all of that needs nothing. */
  readonly within: string | null
  readonly bytes: number
}

/** Shared by all bundles with the same. */
export interface Needs {
  /** The rest as text. */
  readonly key: string
  readonly engine: string
  readonly cpuMillis: number
  readonly memoryBytes: number
  readonly diskBytes: number
  /** `os/architecture`, as the manifest or its image says; null for any. */
  readonly platform: string | null
  readonly gpus: GpuNeeds | null
}

export interface Batch {
  readonly id: BatchId
  readonly name: string
  readonly client: Client
  readonly createdAtMs: number
  readonly order: number
  readonly seed: number
  readonly policy: TaskPolicy
  open: boolean
  /** None of its tasks gets a replica: see holds.ts. */
  held: Held | null
  /** When its wait began to count against its queue limit: when it came, was last released, or one of its tasks had all that it takes from others. */
  queuedAtMs: number
  /** When it, or a task of it, was released last; 0 when nothing of it ever was. */
  releasedAtMs: number
  /** Tasks that failed after they were run. */
  ranFailed: number
  /** One of them was agreed to have ended well, though its output may still be on its way. */
  succeeded: boolean
  /** Decides which tasks are checked: known to nobody. Made when it is first asked for. */
  secret: Uint8Array | null
  /** What its tasks look at again, by index; null when it is an owner's. */
  rechecks: ReadonlyMap<number, Recheck> | null
  /** See marks.ts. */
  marks: number
  readonly tasks: LiveTasks
  /** Makes the tasks of a sweep when they are wanted; null for other batches. See sweeps.ts. */
  maker: Maker | null
  /** What a task of its joined last: most are alike. */
  group: Group | null
  /** Templates of tasks that wait for others, which are stored already, while more may come. */
  readonly stored: Set<string>
  /** Tasks that wait for its own; null while there are none. */
  dependents: Dependents | null
  /** Of a sweep, what its tasks take from others that are not over: none is made before. Null for other batches. */
  waits: Waits | null
  readonly runs: RunTimes
  readonly counts: { created: number; running: number; validating: number; ready: number; failed: number; killed: number }
}

/** What waits for others: a task, or a sweep with all of its tasks. */
export type Waiter = Task | Batch

/** Who waits for the tasks of one batch: see sources.ts. */
export interface Dependents {
  /** By the index of the one task waited for. */
  readonly one: Map<number, Waiter[]>
  /** Those who wait for several tasks of it, `left` of them not over. */
  readonly ranges: { readonly from: number; readonly to: number; left: number; readonly waiter: Waiter }[]
  /** Those who wait for the whole batch. */
  readonly whole: Waiter[]
}

/** What a task waits for before it can be staged, or a sweep before its tasks are made. */
export interface Waits {
  readonly sources: Sources
  /** Sources that are not over. */
  missing: number
  /** Its complete bundle was asked for. */
  asked: boolean
  /** How many tasks come one after the other before it. */
  readonly depth: number
}

/** Tasks of one client that any one node can run or cannot run alike: equal needs, tags, priority and named nodes. */
export interface Group {
  readonly key: string
  /** Where `heads` has who is first in it. */
  readonly place: number
  readonly client: Client
  readonly needs: Needs
  readonly tags: readonly string[]
  readonly sameClass: SameClass
  readonly trust: TrustClass
  /** What a run of them takes: as their owner says (0: not), and as those that ended took. */
  readonly estimateMs: number
  readonly pace: Pace
  readonly priority: number
  /** Named nodes; null for any. */
  readonly nodes: ReadonlySet<PeerIdString> | null
  /** Null without a deadline. */
  readonly due: Due | null
  readonly kinds: GroupKinds
  /** No node had room for its tasks when it was last looked for one. Whoever gains room looks for itself. */
  stuck: boolean
  /** Waiting tasks that no node is barred from. */
  readonly fresh: OrderedQueue
  /** Waiting tasks that some node has or had a replica of. */
  readonly partial: OrderedQueue
  /** Where each node looks on in `partial`. */
  readonly cursors: Cursors
  /** All before this order are next at as many nodes as they wait for. */
  nextFrom: number
  /** Some bundle in it has data to choose nodes by. */
  byData: boolean
  /** Live tasks in it. */
  users: number
}

export interface Task {
  readonly id: TaskId
  readonly batch: Batch
  readonly index: number
  /** First come, first served: batches in the order they came, tasks by index. */
  readonly order: number
  /** While it waits for its sources, the bundle without what it takes from them. */
  bundle: Bundle
  group: Group
  /** The bundle's, or with other memory: see memory.ts. */
  needs: Needs
  readonly createdAtMs: number
  startedAtMs: number | null
  endedAtMs: number | null
  state: TaskState
  failure: TaskFailure | null
  decision: Decision | null
  /** The task that decided the same bundle before. */
  repeats: TaskId | null
  outputLosses: number
  /** By itself, not with its batch. */
  held: Held | null
  replicas: readonly Replica[]
  /** It is over, and has its replicas itself from now on: see task.ts. */
  keepReplicas(): void
  /** Where it waits for a node. */
  queue: OrderedQueue | null
  /** Replicas that it still wants issued. */
  wanted: number
  /** Since when it is held back for a node that has its data; null when it is not. With how often a later one went before it for that: see locality.ts. */
  heldBackMs: number | null
  passed: number
  /** Nodes at which it is next; null for none: see next.ts. */
  nextAt: readonly Node[] | null
  pull: Pull | null
  /** What is known of outputs that differ, under a policy that compares them. */
  comparison: Comparison | null
  /** Null unless it waits for other tasks: see sources.ts. */
  waits: Waits | null
  /** See marks.ts. */
  marks: number
}

/** The fetching of a decided task's output. */
export interface Pull {
  /** Asked of these nodes; empty while waiting for one to come back or for the next round. */
  asked: readonly Replica[]
  readonly tried: Set<Replica>
  round: number
  sinceMs: number
  retryAtMs: number
}

/** What the runs of a killed task leave: see remains.ts. */
export interface Remains {
  readonly task: TaskId
  readonly client: Client
  readonly batch: BatchId
  readonly bundle: string
  readonly bytesMax: number
  /** When the task was killed, or the coordinator last began. */
  sinceMs: number
  /** Runs whose results may come, and their nodes. */
  readonly awaited: Map<ReplicaId, Node>
  /** The first result that came; its content is still to be fetched. */
  taken: Leftover | null
  /** What is being fetched now: what is taken, or was. */
  asking: Leftover | null
  tries: number
  retryAtMs: number
}

/** CIDs as text. */
export interface Leftover {
  readonly replica: ReplicaId
  readonly node: Node
  readonly exitCode: number
  readonly reason: string
  readonly output: string
  readonly stdout: string
  readonly stderr: string
  readonly bytes: number
}

export interface Replica {
  readonly id: ReplicaId
  readonly task: Task
  readonly attempt: number
  readonly node: Node
  /** Changed by `moveReplica` alone. */
  state: ReplicaState
  atMs: number
  /** When its node last said something of it, or had no room to begin it; not written down. */
  signMs: number
  /** How far it says that it is; null when it did not, and when it has ended. Not written down. */
  figure: FigureAt | null
  /** Its node says again that it prepares or uploads as long as something moves. */
  tells: boolean
  readonly epoch: number
  /** UUIDs of its node's GPUs that are its alone. */
  readonly gpus: readonly string[]
  /** What it was leased, its task's at that time. */
  readonly needs: Needs
  granted: boolean
  /** How long it ran, without what goes on. */
  ranMs: number
  /** From its leave to run until its result came, as the coordinator saw it; 0 for one that was lost meanwhile, or has not reported. */
  tookMs: number
  standing: Standing
  verdict: Verdict | null
  /** What it is bound to, in hex, until it has said what that is: see commitments.ts. */
  commitment: string | null
  /** When it was asked for it; null when it was not. */
  revealMs: number | null
  /** The page of the ledger that says what it earned; 0 for nothing. */
  creditPage: number
  fault: Fault | null
  /** Once reported, and until the task is terminal. */
  report: Report | null
  /** Number of the Assign that carried it; 0 when that was acknowledged before a restart; -1 until it is sent. */
  assignSeq: number
  /** Made for an idle node, beside the replicas that the task needs: it counts against no limit, and yields. See copies.ts. */
  readonly copy: boolean
  /** It takes far longer than was to be expected: see stragglers.ts. Not written down; after a restart it is found again. */
  straggles: boolean
  /** Its output could not be had from its node. */
  spent: boolean
  /** Null when it began with nothing: see checkpoints.ts. */
  readonly from: GoesOn | null
  checkpoint: Checkpoint | null
  /** A snapshot of it that is being fetched. Not written down: its node tells of it again. */
  saving: string | null
  /** While it is live, its place in what its node holds. */
  place: number
}

/** Class of a returned replica and what was said, or why it was lost. */
export interface Fault {
  readonly class: string
  readonly message: string
}

/** What a replica goes on from: the checkpoint of an earlier one of its task. CID as text. */
export interface GoesOn {
  readonly attempt: number
  readonly root: string
}

/** What a run left of itself; once nobody can go on from it any more (`kept` false), that it did. CID as text. */
export interface Checkpoint {
  readonly root: string
  readonly bytes: number
  readonly atMs: number
  /** How long was computed until then, by all that went before it. */
  readonly doneMs: number
  readonly kept: boolean
}

export interface Report {
  readonly bundle: CID
  readonly vote: string
  readonly exitCode: number
  readonly reason: string
  readonly output: string
  readonly stdout: string
  readonly stderr: string
  readonly bytes: number
  /** As its node measured and signed it. */
  readonly ranMs: number
  readonly cpuMs: number
  readonly memoryPeakBytes: number
  readonly signed: StoredResult
  /** It has a record. */
  stored: boolean
}

export interface Node {
  readonly id: PeerIdString
  offer: NodeOffer
  /** As its offer says: what decisions look at. */
  readonly isLocal: boolean
  /** Its network is known and nobody vouches for it: see newcomers.ts. */
  readonly mayBeNew: boolean
  state: 'online' | 'lost' | 'left'
  /** Its stream is open and it was welcomed. */
  connected: boolean
  lastSeenMs: number
  /** Standing demand. */
  slots: number
  /** Live replicas, in no order. */
  held: readonly Replica[]
  /** Cancelled while running and perhaps not ended yet: what they take is theirs until then. Null, as the next two, when there never was any: so it is for most of a hundred thousand nodes. */
  closing: Map<ReplicaId, Closing> | null
  /** Runs of killed tasks whose results, or whose content, may still come from it. */
  owed: Map<ReplicaId, Remains> | null
  /** Data that lies there or is on its way, by root; null for none: see holders.ts. */
  holds: Map<string, DataAt> | null
  /** Of what it offers, what no replica takes, nor one that may not have ended yet; below 0 when it offers less than before. */
  freeCpuMillis: number
  freeMemoryBytes: number
  freeDiskBytes: number
  /** UUIDs; null while no GPU is lent. */
  gpusTaken: Set<string> | null
  valid: number
  invalid: number
  errors: number
  lost: number
  /** Live ones of those that it runs. */
  copies: number
  /** The share of time that it is there and computes, as of `observedMs`: see availability.ts. */
  availability: number
  observedMs: number
  /** How many times as long as others' its runs take; 1 until that is known. Not written down. */
  slowness: number
  /** Of a node with more slots than cores: what its runs took lately and had of processors meanwhile, for people; in memory only. */
  computed: { ranMs: number; cpuMs: number } | null
  /** Results in a row that others confirmed; its share of wrong ones, in millionths; and when it first came: see trust.ts. */
  row: number
  /** In a row, too: those and results that decided their task without a second (a quorum of one). At least `row`. */
  accepted: number
  errorPpm: number
  sinceMs: number
  /** What it earned, in thousandths; and how its claims compare with what was granted where others claimed, too, in millionths: see credit.ts. */
  credit: number
  claimsPpm: number
  /** What it alone decided since its last confirmed result; null for nothing. */
  unconfirmed: TaskId[] | null
  /** In a row; and until when it gets nothing for it, 0 when it does: see aside.ts. */
  failures: number
  asideUntilMs: number
  /** The administrator let it in no more: see bans.ts. */
  ban: BanView | null
  /** The numbering of its control stream. What is said is kept as data: after a reconnect a frame is made anew from what still holds. */
  link: Link<Waiting> | null
  outgoing: Outbound | null
  /** Leases that it did not list in its last hello. */
  forgotten: { readonly replicas: readonly Replica[]; readonly atMs: number } | null
  /** The project believes it without others, or its owner is the administrator; as it was when it last said hello or something came of a result of its. See trust.ts. */
  believed: boolean
  /** It is counted among those that are there. */
  present: boolean
  /** Its part of what new nodes of its network may use; null when it is known, or nobody knows where it calls from: see newcomers.ts. */
  newcomer: Newcomer | null
  /** Null until it says hello: see kinds.ts. */
  kind: NodeKind | null
  /** Null when it brings nothing to itself ahead of leases: see next.ts. */
  next: Next | null
  /** Its place among the nodes with free slots: see free-nodes.ts. */
  free: number
  place: number
  /** When it is to be looked at, infinity for never: see watch.ts. */
  watchMs: number
  /** See marks.ts. */
  marks: number
}

/** What has something of a node. */
export type Occupant = Pick<Replica, 'gpus'> & { readonly needs: Pick<Needs, 'cpuMillis' | 'memoryBytes' | 'diskBytes'> }

export interface Closing {
  readonly occupant: Occupant
  /** Then it is assumed to have ended. */
  readonly untilMs: number
}

interface OutboundItems {
  assign: Replica
  granted: Replica
  refused: ReplicaId
  cancel: { readonly replica: ReplicaId; readonly reason: CancelReason }
  release: ReplicaId
  reveal: ReplicaId
}

/** What goes to a node with the next `take`, one frame of each kind: six lists, of which mostly one is used. */
export type Outbound<Kinds extends keyof OutboundItems = keyof OutboundItems> = { [Kind in Kinds]: readonly OutboundItems[Kind][] }

export function isSweep(waiter: Waiter): waiter is Batch {
  return 'tasks' in waiter
}

/** None of its tasks is left that may move, and none comes. */
export function isOver({ open, counts }: Pick<Batch, 'open' | 'counts'>): boolean {
  return !open && unended(counts) === 0
}

/** It gets no new replica: see holds.ts. */
export function isHeld({ held, batch }: Task): boolean {
  return held !== null || batch.held !== null
}

/** The node's own, made when it is first written to. */
export function closingOf(node: Node): Map<ReplicaId, Closing> {
  node.closing ??= new Map()
  return node.closing
}

export function owedOf(node: Node): Map<ReplicaId, Remains> {
  node.owed ??= new Map()
  return node.owed
}

/** To be said to the node when it is next spoken to. */
export function enclose<Kind extends keyof OutboundItems>(node: Node, kind: Kind, item: OutboundItems[Kind]): void {
  node.outgoing ??= { assign: NONE, granted: NONE, refused: NONE, cancel: NONE, release: NONE, reveal: NONE }
  const outgoing: Outbound<Kind> = node.outgoing
  outgoing[kind] = withOne(outgoing[kind], item)
}
