/** From live state to the records that are stored and shown. */

import type { BatchRecord } from './batch-records.ts'
import type { Batch, Replica, Task } from './model.ts'
import { totalOf } from './sweeps.ts'
import { type ReplicaRecord, type TaskRecord, writeReplica, writeTask, writtenTask } from './task-records.ts'

export function taskRecord(task: Task): TaskRecord {
  const { id, createdAtMs, startedAtMs, endedAtMs, state, failure, decision, outputLosses, replicas, held, repeats } = task
  return {
    id,
    bundle: bundleOf(task),
    createdAtMs,
    startedAtMs,
    endedAtMs,
    state,
    failure,
    decision,
    outputLosses,
    replicas: replicas.map(replicaRecord),
    held,
    repeats
  }
}

function replicaRecord({
  task,
  attempt,
  node,
  state,
  atMs,
  epoch,
  gpus,
  needs,
  granted,
  ranMs,
  report,
  verdict,
  fault,
  copy,
  standing,
  spent,
  tookMs,
  creditPage,
  commitment,
  from,
  checkpoint
}: Replica): ReplicaRecord {
  return {
    attempt,
    node: node.id,
    state,
    atMs,
    epoch,
    gpus,
    granted,
    ranMs,
    vote: report?.vote ?? null,
    exitCode: report?.exitCode ?? null,
    reason: report?.reason ?? null,
    verdict,
    fault,
    copy,
    standing,
    spent,
    memoryBytes: otherMemoryBytes({ task, needs }),
    tookMs,
    creditPage,
    commitment,
    from,
    checkpoint
  }
}

/** The bytes of `taskRecord`. */
export function encodeTask(task: Task): Uint8Array {
  writeTask(task, bundleOf(task))
  const agreed = task.decision === null ? undefined : task.decision.vote
  for (const replica of task.replicas) writeReplica(replica, { node: replica.node.id, said: replica.report, memoryBytes: otherMemoryBytes(replica), agreed })
  return writtenTask(task)
}

function bundleOf({ bundle, waits }: Task): string {
  return waits === null ? bundle.cid : ''
}

function otherMemoryBytes({ task, needs }: Pick<Replica, 'task' | 'needs'>): number {
  return needs.memoryBytes === task.bundle.needs.memoryBytes ? 0 : needs.memoryBytes
}

export function batchRecord(batch: Batch): BatchRecord {
  const { id, name, client, createdAtMs, order, seed, policy, open, counts, held, queuedAtMs, releasedAtMs, ranFailed } = batch
  return { id, name, by: client.id, createdAtMs, order, seed, policy, open, tasks: totalOf(batch), ...counts, held, queuedAtMs, releasedAtMs, ranFailed }
}
