/**
 * The durable records: keys and their dag-cbor values, all versioned. Encoding is compact (lists, not maps: half the time
 * and no key sorting) because a task is written four times in its life. Pure; the shell uses the decoders to answer for
 * what is no longer in memory.
 *
 * | key | value |
 * | --- | --- |
 * | `batch/<id>` | BatchRecord |
 * | `recent/<order, 12 digits>` | the batch's id: read backwards for newest first |
 * | `name/<name>/<order, 12 digits>` | the batch's id: last one wins when a name is used again |
 * | `open/<id>` | empty: the batch has tasks that are not terminal |
 * | `task/<batch>.<index, 9 digits>` | TaskRecord |
 * | `bundle/<cid>` | BundleRecord, stored once however many tasks share it |
 * | `result/<batch>.<index, 9 digits>.<attempt>` | a signed result of a task that is not terminal |
 * | `receipt/<task id>` | the signed receipt (written by the shell, in the commit that decided the task) |
 * | `node/<peer>` | NodeRecord |
 * | `link/<peer>` | LinkRecord: the numbering of its control stream |
 * | `out/<peer>/<seq, 16 digits>` | what a numbered frame said, until the node has it |
 * | `late/<replica id>` | a replica that was outstanding when its task was decided |
 */
import * as dagCbor from '@ipld/dag-cbor'
import type { TaskPolicy } from '#protocol/bundle/policy'
import { type BatchId, type PeerIdString, parseTaskId, type ReplicaId, type TaskId } from '#protocol/ids'
import type { FailureCode } from '#protocol/owner/messages'
import type { SignedResult } from '#protocol/result/result'
import type { NodeOffer } from './events.ts'
import type { ReplicaState, TaskState, Verdict } from './states.ts'

export const RECORD_VERSION = 1

export interface BatchRecord {
  readonly id: BatchId
  readonly name: string
  readonly by: PeerIdString
  readonly createdAtMs: number
  /** Batches are numbered as they come. */
  readonly order: number
  readonly seed: number
  readonly policy: TaskPolicy
  /** More manifests are to come. */
  readonly open: boolean
  readonly tasks: number
  readonly created: number
  /** Staged or running. */
  readonly running: number
  readonly validating: number
  readonly ready: number
  readonly failed: number
  readonly killed: number
}

/** What was agreed on, and what is kept of it. CIDs as text. */
export interface Decision {
  readonly vote: string
  readonly atMs: number
  readonly exitCode: number
  readonly output: string
  readonly stdout: string
  readonly stderr: string
  readonly bytes: number
  /** True once the three are here and pinned, or are the well-known empty ones. */
  readonly held: boolean
}

export interface ReplicaRecord {
  readonly attempt: number
  readonly node: PeerIdString
  readonly state: ReplicaState
  /** When it got into this state. */
  readonly atMs: number
  /** The epoch that its lease was issued in, which it keeps over a coordinator's restart. */
  readonly epoch: number
  /** The right to run was given. */
  readonly granted: boolean
  /** Once reported. */
  readonly vote: string | null
  readonly exitCode: number | null
  readonly reason: string | null
  readonly verdict: Verdict | null
  /** Class of a returned replica and what was said, or why it was lost. */
  readonly fault: { readonly class: string; readonly message: string } | null
}

export interface TaskRecord {
  readonly id: TaskId
  readonly bundle: string
  readonly createdAtMs: number
  /** When its first replica was leased. */
  readonly startedAtMs: number | null
  readonly endedAtMs: number | null
  readonly state: TaskState
  readonly failure: { readonly code: FailureCode; readonly message: string } | null
  readonly decision: Decision | null
  /** Times that its agreed output was lost. */
  readonly outputLosses: number
  readonly replicas: readonly ReplicaRecord[]
}

export interface BundleRecord {
  readonly bytes: Uint8Array
  readonly signature: Uint8Array
}

export interface NodeRecord {
  readonly id: PeerIdString
  readonly offer: NodeOffer
  /** online | lost | left, as of when it was written; whether it is connected now only memory knows. */
  readonly state: 'online' | 'lost' | 'left'
  readonly lastSeenMs: number
  readonly valid: number
  readonly invalid: number
  readonly errors: number
  readonly lost: number
}

export interface LinkRecord {
  /** Hex. */
  readonly link: string
  /** Last number used towards the node. */
  readonly sent: number
  /** Highest of them that the node made durable. */
  readonly acked: number
  /** Highest of the node's numbers that is durable here. */
  readonly received: number
}

export type Outgoing =
  | { readonly kind: 'assign'; readonly replicas: readonly ReplicaId[] }
  | { readonly kind: 'grant'; readonly granted: readonly ReplicaId[]; readonly refused: readonly ReplicaId[] }
  | { readonly kind: 'cancel'; readonly replicas: readonly ReplicaId[]; readonly reason: CancelReason }
  | { readonly kind: 'release'; readonly replicas: readonly ReplicaId[] }

export type CancelReason = 'killed' | 'decided' | 'lost'

export interface LateRecord {
  readonly node: PeerIdString
  readonly vote: string
  readonly atMs: number
}

export function batchKey(id: BatchId): string {
  return `batch/${id}`
}

/** Tasks of a batch lie in the order of their index. */
export function taskKey(id: TaskId): string {
  const parts = parseTaskId(id)
  if (parts === undefined) throw new Error(`not a task id: ${id}`)
  return `task/${parts.batch}.${String(parts.index).padStart(9, '0')}`
}

export function bundleKey(cid: string): string {
  return `bundle/${cid}`
}

export function receiptKey(task: TaskId): string {
  return `receipt/${task}`
}

/** Throws when the bytes are not a record that this version wrote: the store is corrupt. */
export function decodeTaskRecord(bytes: Uint8Array): TaskRecord {
  throw new Error(`not built yet: ${bytes.length}`)
}

export function decodeBatchRecord(bytes: Uint8Array): BatchRecord {
  throw new Error(`not built yet: ${bytes.length}`)
}

export function decodeBundleRecord(bytes: Uint8Array): BundleRecord {
  return dagCbor.decode<BundleRecord>(bytes)
}

export function decodeSignedResult(bytes: Uint8Array): SignedResult {
  return dagCbor.decode<SignedResult>(bytes)
}
