/** A host of one life of a machine: known by being the same object. */
export interface Speaker {
  readonly peerId: PeerIdString
}

/** What the world tells those who watch it. Nobody who watches changes anything. */
import type { Ended } from '#node/ports'
import type { Coordinator } from '#project-server/coordinator/coordinator'
import type { Effect } from '#project-server/coordinator/events'
import type { Change } from '#project-server/ports'
import type { BatchId, PeerIdString, ReplicaId, TaskId } from '#protocol/ids'
import type { Outcome } from './truth.ts'

export interface Witness {
  /** A batch of changes is on the server's disk. */
  committed(epoch: number, changes: readonly Change[]): void
  /** The server's process has read its state; `epoch` is durable. */
  led(coordinator: Coordinator, epoch: number): void
  /** The server of this epoch carries these out. */
  effects(epoch: number, effects: readonly Effect[]): void
  /** The project server says that it cannot go on. */
  serverFailed(code: string, message: string): void
  /** An owner was told that these tasks of a batch are accepted. */
  accepted(batch: BatchId, tasks: number): void
  /** An owner was told that these are held. */
  held(tasks: readonly TaskId[]): void
  /** It asks for them to be released. */
  released(tasks: readonly TaskId[]): void
  /** The program that compares this task's results was at fault: the server of this epoch knows. */
  faulty(epoch: number, task: TaskId): void
  /** Its owner asks for what was held of the batch for it to be released. */
  mended(batch: BatchId): void
  /** An owner was told that these are killed. */
  killed(tasks: readonly TaskId[]): void
  /** A node's disk has these. */
  wrote(node: PeerIdString, changes: readonly Change[]): void
  /** A node's disk is new. */
  wiped(node: PeerIdString): void
  /** The node cannot go on. */
  nodeFailed(node: PeerIdString, code: string, message: string): void
  /** A run begins on a node. */
  started(node: PeerIdString, replica: ReplicaId): void
  ended(node: PeerIdString, replica: ReplicaId, ended: Ended, outcome: Outcome): void
  /** Somebody who follows no rules said this about a replica. */
  claimed(node: PeerIdString, replica: ReplicaId, vote: string): void
  /** Something rare happened. */
  see(name: string): void
  /** Somebody saw something that must not be. */
  wrong(what: string): void
  /** Somebody tries to reach the server. */
  dialled(from: Speaker): void
  /** A frame was written to a stream. */
  frame(from: Speaker, to: PeerIdString, frame: Uint8Array): void
  /** The same frame, as the object that it was, came to the other side; maybe again. */
  arrived(from: PeerIdString, to: PeerIdString, frame: Uint8Array): void
}
