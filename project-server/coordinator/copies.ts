/**
 * Copies of runs on nodes that would be idle (the Distributed Completion Service: K copies when idle clients exceed the queue
 * by K). Whatever waits is placed first, so slots that are free then are those by which the idle exceed the queue. The first
 * results that make a quorum win; a copy yields at once to a task that waits (scheduler.ts), and what becomes of it counts
 * against no limit of its task. Stragglers are copied beside this, whether nodes are idle or not: those copies are needed.
 */
import { blockOf } from './clients.ts'
import { lacksInputs } from './lost-inputs.ts'
import { type Batch, isHeld, type Replica } from './model.ts'
import { COPIES_MAX, COPY_RUNS_LOOKED_MAX, SLOW_FACTOR, TASK_COPIES_MAX } from './policy.ts'
import { lease } from './replicas.ts'
import { freeNodeFor } from './scheduler.ts'
import type { State } from './state.ts'
import { isLive } from './states.ts'
import { isTail } from './stragglers.ts'

/** For the slow sweep, when what waits has been placed. */
export function copyToIdle(state: State, nowMs: number): void {
  if (state.policy.idleCopies <= 0 || state.free.size === 0 || nowMs < state.graceUntilMs) return
  state.begun.file()
  for (const batch of state.batches.values()) {
    const { copies } = batch.policy
    // Slots and time that are counted are for what its client asked for.
    if (batch.client.settings.parallel !== null || blockOf(batch.client, nowMs) !== undefined) continue
    if (copies === 'never' || batch.open || (copies === 'tail' && !isTail(batch))) continue
    for (const replica of batch.runs.going(COPY_RUNS_LOOKED_MAX)) {
      if (!mayCopy(state, batch)) break
      if (copies === 'tail' && !isLate(replica, nowMs)) continue
      if (!isCopied(state, replica)) copy(state, replica, nowMs)
    }
  }
}

/** So many slots are idle, or would be without the copies that they run; by the rule `idle` as many are copied. */
function mayCopy({ policy: { idleCopies }, free, copies }: State, { policy }: Batch): boolean {
  return free.slots > 0 && free.slots + copies.size >= idleCopies && copies.size < (policy.copies === 'idle' ? idleCopies : COPIES_MAX)
}

/** It takes longer than most of its batch did, or is sure to. */
function isLate({ node, task, atMs }: Replica, nowMs: number): boolean {
  return node.slowness >= SLOW_FACTOR || nowMs - atMs > (task.batch.runs.longMs ?? Number.POSITIVE_INFINITY)
}

/** Its task has a copy, or wants a run anyway, or is held, or lacks an input that a copy would lack, too, or had its share. */
function isCopied(state: State, { task, straggles }: Replica): boolean {
  if (straggles || task.wanted > 0 || task.decision !== null || isHeld(task) || lacksInputs(state, task)) return true
  let made = 0
  for (const { copy: isCopy, state: its } of task.replicas) {
    if (isCopy && isLive(its)) return true
    if (isCopy) made++
  }
  return made >= TASK_COPIES_MAX
}

function copy(state: State, { task }: Replica, nowMs: number): void {
  const node = freeNodeFor(state, task, nowMs)
  if (typeof node !== 'string') lease(state, task, node, nowMs, true)
}
