/** Everything the coordinator holds in memory, and what it has not yet acted on within the present event. */
import type { BatchId, PeerIdString, ReplicaId, TaskId } from '#protocol/ids'
import { FreeNodes } from './free-nodes.ts'
import type { Batch, Bundle, Group, Needs, Node, Remains, Replica, Task } from './model.ts'
import { type LeaseSigner, Output } from './output.ts'
import type { CoordinatorPolicy } from './policy.ts'
import type { LateRecord } from './records.ts'
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
  /** Ids of all batches ever accepted: repeating one is a no-op. */
  readonly known = new Set<BatchId>()
  /** Those with tasks that are not terminal, or still being submitted. */
  readonly batches = new Map<BatchId, Batch>()
  readonly tasks = new Map<TaskId, Task>()
  readonly bundles = new Map<string, Bundle>()
  readonly groups = new Map<string, Group>()
  readonly needs = new Map<string, Needs>()
  readonly nodes = new Map<PeerIdString, Node>()
  readonly free = new FreeNodes()
  readonly watch = new Watch()
  readonly late = new Map<ReplicaId, LateRecord>()
  /** Killed tasks whose runs may leave something yet. */
  readonly remains = new Map<TaskId, Remains>()
  /** Decided tasks whose output must be asked for again, later or when a node comes back. */
  readonly waitingPulls = new Set<Task>()
  /** Tasks whose replicas changed in this event: each is settled once at its end. */
  readonly touched = new Set<Task>()
  /** Groups that gained waiting tasks, nodes that gained room: what placing has to look at. */
  readonly groupsChanged = new Set<Group>()
  readonly nodesChanged = new Set<Node>()
  /** After a restart nobody counts as silent before this, whatever was heard. */
  graceUntilMs = 0
  /** Number of the next batch. */
  nextOrder = 1
  /** Of this epoch. */
  nextSeal = 1

  constructor({ project, epoch, policy, signer }: StateOptions) {
    this.out = new Output((id) => this.replica(id), signer)
    this.project = project
    this.epoch = epoch
    this.policy = policy
  }

  /** A replica of a live task. */
  replica(id: ReplicaId): Replica | undefined {
    const dot = id.lastIndexOf('.')
    const replica = this.tasks.get(id.slice(0, dot))?.replicas[Number(id.slice(dot + 1)) - 1]
    return replica?.id === id ? replica : undefined
  }
}
