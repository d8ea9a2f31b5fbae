/** Everything the coordinator holds in memory, and what it has not yet acted on within the present event. */
import type { BatchId, PeerIdString, ReplicaId, TaskId } from '#protocol/ids'
import { OldestFirst } from '#protocol/oldest-first'
import { Alternatives } from './alternatives.ts'
import { Bans } from './bans.ts'
import { CheckpointRoots } from './checkpoints.ts'
import type { Client } from './clients.ts'
import { FairShare } from './fair-share.ts'
import { Heads } from './heads.ts'
import { Holders } from './holders.ts'
import { Presence } from './independence.ts'
import { Kinds } from './kinds.ts'
import { KnownNodes } from './known-nodes.ts'
import { LastWords } from './last-words.ts'
import { Ledger } from './ledger.ts'
import type { Look } from './lost-inputs.ts'
import { CHANGED, Marked, NEXT, TOUCHED } from './marks.ts'
import { MemoryHistory } from './memory-history.ts'
import type { Batch, Bundle, Fault, Group, Needs, Node, Remains, Replica, Task, Waiter } from './model.ts'
import { Newcomers } from './newcomers.ts'
import { NodeLists } from './node.ts'
import { type LeaseSigner, Output } from './output.ts'
import { Pace } from './pace.ts'
import type { CoordinatorPolicy } from './policy.ts'
import { QueueLimits } from './queue-limits.ts'
import { Begun } from './stragglers.ts'
import { SweepLine } from './sweep-line.ts'
import { ReplicaLists } from './task.ts'
import type { LateRecord } from './trust-records.ts'
import { Watch } from './watch.ts'

export interface StateOptions {
  readonly project: PeerIdString
  readonly epoch: number
  readonly policy: CoordinatorPolicy
  readonly signer: LeaseSigner
}

export class State {
  readonly project: PeerIdString
  readonly epoch: number
  readonly policy: CoordinatorPolicy
  readonly out: Output
  readonly signer: LeaseSigner
  /** Ids of all batches ever accepted: repeating one is a no-op. */
  readonly known = new Set<BatchId>()
  /** Those with tasks that are not terminal, or still being submitted. */
  readonly batches = new Map<BatchId, Batch>()
  /** Tasks that are not terminal. They are found by their batch and index: half a million entries of a map would be memory, and a miss of the cache for every look. */
  liveTasks = 0
  readonly sweeps = new SweepLine()
  readonly bundles = new Map<string, Bundle>()
  readonly groups = new Map<string, Group>()
  readonly heads = new Heads()
  readonly needs = new Map<string, Needs>()
  readonly clients = new Map<PeerIdString, Client>()
  readonly fair = new FairShare<Client>()
  readonly nodes = new KnownNodes()
  readonly nodeLists = new NodeLists()
  readonly free = new Kinds(this.nodes)
  readonly presence = new Presence()
  readonly alternatives = new Alternatives()
  /** Nodes that are set aside for their wrong results. */
  readonly wrong = new Set<Node>()
  readonly holders = new Holders()
  /** Local nodes with free slots. */
  readonly locals = new Set<Node>()
  readonly newcomers: Newcomers
  readonly bans = new Bans()
  readonly lastWords = new LastWords()
  readonly watch = new Watch()
  readonly pace = new Pace()
  readonly begun = new Begun()
  readonly replicaLists = new ReplicaLists()
  readonly memory = new MemoryHistory()
  readonly queueLimits = new QueueLimits()
  /** Live replicas that were made as copies, the oldest first: see copies.ts. */
  readonly copies = new Set<Replica>()
  /** A copy may have become one that could yield, or its node one that takes tasks. */
  copiesChanged = false
  /** Copies with GPUs that yielded to a task, which can have their places when they have ended. */
  readonly yielded = new WeakMap<Task, readonly Replica[]>()
  readonly late = new OldestFirst<ReplicaId, LateRecord>()
  /** How a replica was lost last. */
  lastLoss: Fault | null = null
  readonly checkpoints = new CheckpointRoots()
  /** Decisions that the shell is to have looked at again, with who alone made them. */
  readonly rechecks = new Map<TaskId, PeerIdString>()
  /** Those that are being looked at again: who contradicts them meanwhile says nothing new. */
  readonly rechecked = new Set<TaskId>()
  /** Killed tasks whose runs may leave something yet. */
  readonly remains = new OldestFirst<TaskId, Remains>()
  /** Decided tasks whose output must be asked for again, later or when a node comes back. */
  readonly waitingPulls = new Set<Task>()
  /** Nodes that keep the result of a replica, and what it names, for the node that it is of: see parked.ts. */
  readonly keepers = new Map<ReplicaId, readonly Node[]>()
  /** Tasks whose inputs were perhaps lost: see lost-inputs.ts. */
  readonly lostInputs = new Map<Task, Look>()
  /** Tasks that asked for sealed results. */
  readonly revealing = new Set<Task>()
  /** Tasks whose outputs are to be compared when they can be had. */
  readonly waitingComparisons = new Set<Task>()
  /** Tasks whose replicas changed in this event: each is settled once at its end. */
  readonly touched = new Marked<Task>(TOUCHED)
  /** What is over and waited for, what a source fails, and what has all of its sources over: looked at at the end of the event. See dependents.ts. */
  readonly over: (Task | Batch)[] = []
  readonly doomed: { readonly waiter: Waiter; readonly message: string }[] = []
  readonly complete: Waiter[] = []
  /** Pairs of a task that is not over and one that waits for it. */
  sourceLinks = 0
  /** Groups that gained waiting tasks, nodes that gained room: what placing has to look at. */
  readonly groupsChanged = new Set<Group>()
  /** Tasks that were held back for their data while this event's groups were placed; null while there are none. */
  heldBack: Set<Task> | null = null
  readonly nodesChanged = new Marked<Node>(CHANGED)
  /** Nodes at which something may be next, or no more, and those with room for more of it: see look-ahead.ts. */
  readonly nextDue = new Marked<Node>(NEXT)
  readonly nextWanting = new Set<Node>()
  nodesWithNext = 0
  /** Groups with data to choose nodes by: without any nothing is next anywhere. */
  dataGroups = 0
  /** After a restart nobody counts as silent before this, whatever was heard. */
  graceUntilMs = 0
  /** Number of the next batch. */
  nextOrder = 1
  /** Of this epoch. */
  nextSeal = 1

  constructor({ project, epoch, policy, signer }: StateOptions) {
    this.out = new Output((id) => this.replica(id), signer, new Ledger({ project, epoch, signer }))
    this.signer = signer
    this.project = project
    this.epoch = epoch
    this.policy = policy
    this.newcomers = new Newcomers(policy)
  }

  /** A live task. */
  task(id: TaskId): Task | undefined {
    const dot = id.indexOf('.')
    const task = this.batches.get(id.slice(0, dot))?.tasks.get(Number(id.slice(dot + 1)))
    return task?.id === id ? task : undefined
  }

  /** A replica of a live task. */
  replica(id: ReplicaId): Replica | undefined {
    const first = id.indexOf('.')
    const second = id.lastIndexOf('.')
    const task = this.batches.get(id.slice(0, first))?.tasks.get(Number(id.slice(first + 1, second)))
    const replica = task?.replicas[Number(id.slice(second + 1)) - 1]
    return replica?.id === id ? replica : undefined
  }
}
