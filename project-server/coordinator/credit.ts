/**
 * Credit, from validated work only: who earns it, how much, and when it is taken back. An entry of the ledger is made where a
 * result gets its verdict, and is written in that commit. Nobody earns twice for one task.
 *
 * All whose results decided a task earn alike: the (lower) median of what they claim, so that whoever claims more than others
 * gains nothing by it, as in BOINC's first credit system. A node that decides alone claims against nobody; its claim is scaled
 * by how its claims compared with what was granted where there were others. On top comes the bonus for an early return, as
 * Folding@home gives it, where the task has a deadline.
 */
import { amountOf, type CreditKind, type CreditRow as Row } from '#protocol/credit/ledger'
import { type BatchId, type PeerIdString, parseTaskId, type TaskId } from '#protocol/ids'
import { lateKey } from './keys.ts'
import type { Node, Replica, Task } from './model.ts'
import { CREDIT_BONUS_MAX } from './policy.ts'
import type { State } from './state.ts'
import { encodeLateRecord } from './trust-records.ts'

/** A node's claims are taken as they are, in millionths. */
export const CLAIMS_WHOLE_PPM = 1_000_000
/** How fast a node's claims are known anew: a tenth of each new comparison, as BOINC's estimates go. */
const CLAIMS_STEP = 10

/** What one result earned: kept with what may be taken back. */
export interface Earned {
  readonly attempt: number
  readonly owner: PeerIdString | null
  readonly base: number
  readonly bonus: number
}

/** Its result agrees with what was decided, and is new: `alone` when no other confirms it; `agreed`: `baseOf` its task. Answers what it earned without a bonus. */
export function earn(state: State, replica: Replica, { alone, agreed }: { readonly alone: boolean; readonly agreed: number }): number {
  const { task, node } = replica
  const claim = claimOf(replica)
  const scaled = Math.max(1, Math.floor((claim / CLAIMS_WHOLE_PPM) * node.claimsPpm))
  const base = alone ? scaled : replica.from === null ? agreed : Math.min(claim, agreed)
  if (!alone && replica.from === null) compareClaim(node, claim, base)
  grant(state, node, 'earned', {
    batch: task.batch.id,
    index: task.index,
    attempt: replica.attempt,
    owner: node.offer.owner,
    base,
    bonus: bonusOf(replica, base)
  })
  replica.creditPage = state.out.ledger.page
  for (const other of task.replicas) if (other !== replica && other.node === node) forgetLate(state, other)
  return base
}

/** It came late and agrees; `most`: what those earned who decided it. Without a bonus. */
export function earnLate(state: State, node: Node, { task, attempt, cpuMs, most }: { task: TaskId; attempt: number; cpuMs: number; most: number }): void {
  const base = Math.min(Math.max(1, cpuMs), most)
  if (base > 0) grant(state, node, 'late', { ...partsOf(task), attempt, owner: node.offer.owner, base, bonus: 0 })
}

/** What it decided alone is wrong: what it earned by it is gone, by an entry of its own. */
export function takeBackCredit(state: State, node: Node, { task, earned }: { task: TaskId; earned: Earned }): void {
  const { attempt, owner, base, bonus } = earned
  grant(state, node, 'taken_back', { ...partsOf(task), attempt, owner, base, bonus })
}

/** What each of those earns without a bonus that agree so far, this very moment. At least one thousandth. */
export function baseOf({ replicas }: Task): number {
  const agreeing = replicas.filter(({ verdict }) => verdict === 'valid')
  // Who went on from a checkpoint did a part of it, and claims as much.
  const whole = agreeing.filter(({ from }) => from === null)
  const claims = (whole.length > 0 ? whole : agreeing).map(claimOf)
  if (claims.length > 1) claims.sort((a, b) => a - b)
  return claims[(claims.length - 1) >> 1] ?? 0
}

/** Processor time as its node signed it, and no more than its run could have used in the time that the coordinator saw; each GPU that was its alone counts as a processor. In thousandths. */
function claimOf({ report, ranMs, gpus, task }: Replica): number {
  const cpuMs = Math.min(report?.cpuMs ?? 0, (ranMs / 1000) * task.bundle.needs.cpuMillis)
  return Math.max(1, Math.floor(cpuMs + ranMs * gpus.length))
}

/** Folding@home's square root: a run that took a quarter of its deadline earns twice as much, one that took all of it no more. */
function bonusOf({ task, tookMs, from }: Replica, base: number): number {
  const { deadlineMs } = task.batch.policy
  if (from !== null || deadlineMs === 0 || tookMs === 0 || tookMs >= deadlineMs) return 0
  return Math.floor(base * (Math.min(CREDIT_BONUS_MAX, Math.sqrt(deadlineMs / tookMs)) - 1))
}

/** Who claims less than others is not scaled up: it would have been the least that counts. */
function compareClaim(node: Node, claim: number, base: number): void {
  const ratioPpm = Math.round(Math.min(1, base / claim) * CLAIMS_WHOLE_PPM)
  node.claimsPpm = Math.round(node.claimsPpm + (ratioPpm - node.claimsPpm) / CLAIMS_STEP)
}

function grant(state: State, node: Node, kind: CreditKind, row: Omit<Row, 'node'>): void {
  state.out.ledger.add(kind, { ...row, node: node.id })
  node.credit += amountOf(kind, row)
  state.out.node(node)
}

function partsOf(task: TaskId): { readonly batch: BatchId; readonly index: number } {
  const parts = parseTaskId(task)
  if (parts === undefined) throw new TypeError(`${task} is no task`)
  return parts
}

/** Another run of the same node is paid: one that may come late is judged, and earns nothing more. */
function forgetLate(state: State, { id }: Replica): void {
  const late = state.late.get(id)
  if (late === undefined) return
  const unpaid = { ...late, credit: 0 }
  state.late.set(id, unpaid)
  state.out.put(lateKey(id), encodeLateRecord(unpaid))
}
