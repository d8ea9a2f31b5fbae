/** What is judged after the decision: results that come late, decisions that are looked at again, and what came of it. */
import type { PeerIdString, TaskId } from '#protocol/ids'
import type { Earned } from './credit.ts'
import { decodeRecord as decode, encodeRecord as encode, RECORD_VERSION } from './record-version.ts'
import { WRITER } from './record-writer.ts'

export interface RecheckRecord {
  /** Who alone decided it, and how; '' until that was read. */
  readonly node: PeerIdString
  readonly vote: string
  /** The task that runs it again; null until there is one. */
  readonly by: TaskId | null
  /** What it earned by it; null for nothing. */
  readonly earned: Earned | null
}

export interface RevisedRecord {
  /** open: the other nodes did not agree either. */
  readonly verdict: 'confirmed' | 'revoked' | 'open'
  readonly by: TaskId
  /** What a quorum of others agreed on; '' when there was none. */
  readonly vote: string
  readonly atMs: number
}

export interface LateRecord {
  readonly node: PeerIdString
  readonly vote: string
  /** Another vote is wrong; else, as outputs that differ may agree, it tells nothing. */
  readonly exact: boolean
  readonly atMs: number
  /** The node that alone decided it, if one did. */
  readonly alone: PeerIdString | null
  /** What it earns if it agrees, at the most. */
  readonly credit: number
  /** What its node is bound to, in hex; null when it was not asked to be. */
  readonly bound: string | null
  /** It is one voice with the node that alone decided it: that they agree confirms nothing. */
  readonly tied: boolean
}

export function encodeLateRecord({ node, vote, atMs, exact, alone, credit, bound, tied }: LateRecord): Uint8Array {
  WRITER.list(tied ? 9 : bound === null ? 7 : 8)
    .int(RECORD_VERSION)
    .text(node)
    .text(vote)
    .int(atMs)
    .flag(exact)
    .text(alone)
    .int(credit)
  if (bound !== null || tied) WRITER.text(bound)
  if (tied) WRITER.flag(true)
  return WRITER.done()
}

export function decodeLateRecord(bytes: Uint8Array): LateRecord {
  const [node, vote, atMs, exact = true, alone = null, credit = 0, bound = null, tied = false] = decode<
    [PeerIdString, string, number, boolean?, (PeerIdString | null)?, number?, (string | null)?, boolean?]
  >('late', bytes)
  return { node, vote, atMs, exact, alone, credit, bound, tied }
}

type EarnedRow = [attempt: number, owner: PeerIdString | null, base: number, bonus: number] | null

export function encodeRecheckRecord({ node, vote, by, earned }: RecheckRecord): Uint8Array {
  return encode([node, vote, by, earned === null ? null : [earned.attempt, earned.owner, earned.base, earned.bonus]])
}

export function decodeRecheckRecord(bytes: Uint8Array): RecheckRecord {
  const [node, vote, by, row = null] = decode<[PeerIdString, string, TaskId | null, EarnedRow?]>('recheck', bytes)
  return { node, vote, by, earned: row === null ? null : { attempt: row[0], owner: row[1], base: row[2], bonus: row[3] } }
}

export function encodeRevisedRecord({ verdict, by, vote, atMs }: RevisedRecord): Uint8Array {
  return encode([verdict, by, vote, atMs])
}

export function decodeRevisedRecord(bytes: Uint8Array): RevisedRecord {
  const [verdict, by, vote, atMs] = decode<[RevisedRecord['verdict'], TaskId, string, number]>('revised', bytes)
  return { verdict, by, vote, atMs }
}
