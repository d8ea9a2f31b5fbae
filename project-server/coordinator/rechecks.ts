/**
 * What a node alone decided is looked at again when the node turns out wrong: each such task is run once more as a task of
 * its own, by other nodes and with a quorum. What was said stays said: the receipt names the one vote that it rests on, and
 * `ready` stays ready. What comes out is written beside it, as confirmed or revoked, and shown with it.
 *
 * askRechecks -> effect -> the shell reads manifests -> `recheck` event -> a batch -> its tasks' ends -> `revised/` records.
 * Until the batch is there, and until its task has ended, `recheck/<task>` remembers what is owed.
 */
import { type BatchId, type PeerIdString, parseTaskId, type TaskId } from '#protocol/ids'
import { type Earned, takeBackCredit } from './credit.ts'
import { recheckKey, revisedKey } from './keys.ts'
import type { Node, Task } from './model.ts'
import type { State } from './state.ts'
import { decodeRecheckRecord, encodeRecheckRecord, encodeRevisedRecord, type RevisedRecord } from './trust-records.ts'

/** A decision that is looked at again, and who alone made it. */
export interface Recheck {
  readonly task: TaskId
  readonly node: PeerIdString
  readonly vote: string
  /** What it earned by it; null for nothing. */
  readonly earned: Earned | null
}

/** Every one of these tasks was decided by this node alone. */
export function askRechecks(state: State, doubted: readonly TaskId[], node: PeerIdString): void {
  const tasks = doubted.filter((task) => !state.rechecked.has(task))
  for (const task of tasks) {
    state.rechecks.set(task, node)
    state.out.put(recheckKey(task), encodeRecheckRecord({ node, vote: '', by: null, earned: null }))
  }
  request(state, tasks)
}

/** A task came to its end: what it was to look at is confirmed, revoked, or still open when there was no agreement. Answers whom a quorum has proved wrong. */
export function endRecheck(state: State, { batch, index, id, decision }: Task, nowMs: number): Node | undefined {
  const recheck = batch.rechecks?.get(index)
  if (recheck === undefined) return undefined
  const { task, node, vote, earned } = recheck
  state.rechecked.delete(task)
  const verdict: RevisedRecord['verdict'] = decision === null ? 'open' : decision.vote === vote ? 'confirmed' : 'revoked'
  state.out.delete(recheckKey(task))
  state.out.put(revisedKey(task), encodeRevisedRecord({ verdict, by: id, vote: decision?.vote ?? '', atMs: nowMs }))
  const accused = state.nodes.get(node)
  if (verdict !== 'revoked' || accused === undefined) return undefined
  if (earned !== null) takeBackCredit(state, accused, { task, earned })
  accused.valid--
  accused.invalid++
  state.out.node(accused)
  return accused
}

/** After a restart. */
export function loadRecheck(state: State, task: TaskId, bytes: Uint8Array): readonly [by: TaskId, recheck: Recheck] | undefined {
  const { node, vote, by, earned } = decodeRecheckRecord(bytes)
  if (by !== null) {
    state.rechecked.add(task)
    return [by, { task, node, vote, earned }]
  }
  state.rechecks.set(task, node)
  return undefined
}

/** What the shell was asked for before a restart, and has not answered. */
export function askAgainForRechecks(state: State): void {
  request(state, [...state.rechecks.keys()])
}

function request(state: State, tasks: readonly TaskId[]): void {
  const byBatch = new Map<BatchId, TaskId[]>()
  for (const task of tasks) {
    const batch = parseTaskId(task)?.batch ?? ''
    const list = byBatch.get(batch)
    if (list === undefined) byBatch.set(batch, [task])
    else list.push(task)
  }
  for (const [batch, list] of byBatch) state.out.effect({ kind: 'recheck', batch, tasks: list.map((task) => ({ task, node: state.rechecks.get(task) ?? '' })) })
}
