/** `batch/<id>`: a batch with its policy, and how its tasks stand. */
import { DEFAULT_POLICY, type TaskPolicy } from '#protocol/bundle/policy'
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
  /** When it, or a task of it, was released last; 0 when nothing of it ever was. */
  readonly releasedAtMs: number
  /** Of the failed ones those that were run: the others failed for one that they take something from. */
  readonly ranFailed: number
}

/** Where each field of a policy lies in the record; those that came later last. What an older record lacks is as it was before it could be said. */
const POLICY_PLACES: Readonly<Record<keyof TaskPolicy, number>> = {
  minQuorum: 0,
  targetResults: 1,
  maxErrorResults: 2,
  maxTotalResults: 3,
  maxSuccessResults: 4,
  priority: 5,
  nodes: 6,
  queueLimitMs: 7,
  independence: 8,
  tags: 9,
  deadlineMs: 10,
  compare: 11,
  force: 12,
  copies: 13,
  sameClass: 14,
  adaptive: 15,
  doubtPpm: 16,
  estimateMs: 17,
  retryMemoryBytes: 18,
  guessMemory: 19,
  commit: 20,
  trust: 21,
  checkpointMs: 22
}
const POLICY_FIELDS = (Object.keys(POLICY_PLACES) as (keyof TaskPolicy)[]).sort((a, b) => POLICY_PLACES[a] - POLICY_PLACES[b])

export function encodeBatchRecord(batch: BatchRecord): Uint8Array {
  const { id, name, by, createdAtMs, order, seed, policy, open, tasks, created, running, validating, ready, failed, killed } = batch
  WRITER.list(20).int(RECORD_VERSION).text(id).text(name).text(by).int(createdAtMs).int(order).int(seed)
  writePolicy(policy)
  WRITER.flag(open).int(tasks).int(created).int(running).int(validating).int(ready).int(failed).int(killed)
  writeHeld(batch.held)
  return WRITER.int(batch.queuedAtMs).int(batch.releasedAtMs).int(batch.ranFailed).done()
}

export function decodeBatchRecord(bytes: Uint8Array): BatchRecord {
  const [id, name, by, createdAtMs, order, seed, row, open, tasks, created, running, validating, ready, failed, killed, held = null, ...later] = decode<
    [
      BatchId,
      string,
      PeerIdString,
      number,
      number,
      number,
      readonly unknown[],
      boolean,
      number,
      number,
      number,
      number,
      number,
      number,
      number,
      HeldRow?,
      ...(number | undefined)[]
    ]
  >('batch', bytes)
  // Of an older one only its wait tells that it was released, and all that failed of it count as run.
  const [queuedAtMs = createdAtMs, releasedAtMs = queuedAtMs > createdAtMs ? queuedAtMs : 0, ranFailed = failed] = later
  const counts = { created, running, validating, ready, failed, killed }
  return { id, name, by, createdAtMs, order, seed, policy: policyOf(row), open, tasks, ...counts, held: heldOf(held), queuedAtMs, releasedAtMs, ranFailed }
}

function writePolicy(policy: TaskPolicy): void {
  WRITER.list(POLICY_FIELDS.length)
  for (const field of POLICY_FIELDS) {
    const value = policy[field]
    if (typeof value === 'number') WRITER.int(value)
    else if (typeof value === 'boolean') WRITER.flag(value)
    else if (value === null || typeof value === 'string') WRITER.text(value)
    else if ('kind' in value) WRITER.text(JSON.stringify(value))
    else writeTexts(value)
  }
}

/** Tolerances are fractions, which the writer does not know: they lie as text. */
function policyOf(row: readonly unknown[]): TaskPolicy {
  const said = Object.fromEntries(row.map((value, index) => [POLICY_FIELDS[index], value]))
  const { compare } = said
  return { ...DEFAULT_POLICY, ...said, compare: typeof compare === 'string' ? JSON.parse(compare) : null }
}
