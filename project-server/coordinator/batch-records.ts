/** `batch/<id>`: a batch with its policy, and how its tasks stand. */
import { type CopyRule, DEFAULT_POLICY, type TaskPolicy } from '#protocol/bundle/policy'
import type { BatchId, PeerIdString } from '#protocol/ids'
import { type Held, type HeldRow, heldOf, writeHeld } from './held-records.ts'
import { decodeRecord as decode, RECORD_VERSION } from './record-version.ts'
import { WRITER, writeTexts } from './record-writer.ts'

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
  /** Created or staged: no replica of it is leased. */
  readonly created: number
  readonly running: number
  readonly validating: number
  readonly ready: number
  readonly failed: number
  readonly killed: number
  readonly held: Held | null
  /** When its wait began to count against its queue limit. */
  readonly queuedAtMs: number
}

export function encodeBatchRecord(batch: BatchRecord): Uint8Array {
  const { id, name, by, createdAtMs, order, seed, policy, open, tasks, created, running, validating, ready, failed, killed, held, queuedAtMs } = batch
  const {
    minQuorum,
    targetResults,
    maxErrorResults,
    maxTotalResults,
    maxSuccessResults,
    priority,
    nodes,
    queueLimitMs,
    independence,
    tags,
    deadlineMs,
    compare,
    force,
    copies,
    sameClass,
    adaptive,
    doubtPpm,
    estimateMs
  } = policy
  WRITER.list(18).int(RECORD_VERSION).text(id).text(name).text(by).int(createdAtMs).int(order).int(seed).list(18)
  WRITER.int(minQuorum).int(targetResults).int(maxErrorResults).int(maxTotalResults).int(maxSuccessResults).int(priority)
  writeTexts(nodes)
  WRITER.int(queueLimitMs).text(independence)
  writeTexts(tags)
  // Tolerances are fractions, which the writer does not know.
  WRITER.int(deadlineMs)
    .text(compare === null ? null : JSON.stringify(compare))
    .flag(force)
    .text(copies)
    .text(sameClass)
    .flag(adaptive)
    .int(doubtPpm)
    .int(estimateMs)
    .flag(open)
    .int(tasks)
    .int(created)
    .int(running)
    .int(validating)
    .int(ready)
    .int(failed)
    .int(killed)
  writeHeld(held)
  return WRITER.int(queuedAtMs).done()
}

export function decodeBatchRecord(bytes: Uint8Array): BatchRecord {
  const [id, name, by, createdAtMs, order, seed, row, open, tasks, created, running, validating, ready, failed, killed, held = null, queuedAtMs = createdAtMs] =
    decode<
      [
        BatchId,
        string,
        PeerIdString,
        number,
        number,
        number,
        [
          number,
          number,
          number,
          number,
          number,
          number,
          string[],
          number?,
          TaskPolicy['independence']?,
          string[]?,
          number?,
          (string | null)?,
          boolean?,
          CopyRule?,
          TaskPolicy['sameClass']?,
          boolean?,
          number?,
          number?
        ],
        boolean,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        HeldRow?,
        number?
      ]
    >('batch', bytes)
  const [
    minQuorum,
    targetResults,
    maxErrorResults,
    maxTotalResults,
    maxSuccessResults,
    priority,
    nodes,
    queueLimitMs = 0,
    independence = 'prefer',
    tags = [],
    deadlineMs = 0,
    comparing = null,
    force = false,
    copies = DEFAULT_POLICY.copies,
    sameClass = 'no',
    adaptive = false,
    doubtPpm = 0,
    estimateMs = 0
  ] = row
  const compare = comparing === null ? null : (JSON.parse(comparing) as TaskPolicy['compare'])
  const policy = {
    minQuorum,
    targetResults,
    maxErrorResults,
    maxTotalResults,
    maxSuccessResults,
    priority,
    nodes,
    queueLimitMs,
    independence,
    tags,
    deadlineMs,
    compare,
    force,
    copies,
    sameClass,
    adaptive,
    doubtPpm,
    estimateMs
  }
  const counts = { created, running, validating, ready, failed, killed }
  return { id, name, by, createdAtMs, order, seed, policy, open, tasks, ...counts, held: heldOf(held), queuedAtMs }
}
