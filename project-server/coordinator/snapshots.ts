/** From live state to the records that are stored and shown. */

import type { BatchRecord } from './batch-records.ts'
import type { Batch, Node, Replica, Task } from './model.ts'
import type { NodeRecord } from './node-records.ts'
import { totalOf } from './sweeps.ts'
import type { ReplicaRecord, TaskRecord } from './task-records.ts'

export function taskRecord(task: Task): TaskRecord {
  const { id, bundle, waits, createdAtMs, startedAtMs, endedAtMs, state, failure, decision, outputLosses, replicas, held, repeats } = task
  return {
    id,
    bundle: waits === null ? bundle.cid : '',
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
    memoryBytes: needs.memoryBytes === task.bundle.needs.memoryBytes ? 0 : needs.memoryBytes,
    tookMs,
    creditPage,
    commitment,
    from,
    checkpoint
  }
}

export function batchRecord(batch: Batch): BatchRecord {
  const { id, name, client, createdAtMs, order, seed, policy, open, counts, held, queuedAtMs, releasedAtMs, ranFailed } = batch
  return { id, name, by: client.id, createdAtMs, order, seed, policy, open, tasks: totalOf(batch), ...counts, held, queuedAtMs, releasedAtMs, ranFailed }
}

export function nodeRecord({ id, offer, state, lastSeenMs, valid, invalid, errors, lost, row, errorPpm, sinceMs, credit, claimsPpm }: Node): NodeRecord {
  return { id, offer, state, lastSeenMs, valid, invalid, errors, lost, row, errorPpm, sinceMs, credit, claimsPpm }
}
