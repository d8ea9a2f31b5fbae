/**
 * What the coordinator holds by itself, so that a person looks at it before it takes more: a batch that only fails, and a task
 * whose runs take their nodes down with them. A release lets it go on, and what was before the release is held against nothing.
 */
import { unended } from '#protocol/owner/counts'
import { hold } from './holds.ts'
import type { Batch, Replica, Task } from './model.ts'
import type { State } from './state.ts'
import { totalOf } from './sweeps.ts'

/** Of a batch's tasks, so many have to be over before it can be said to only fail (BOINC issue 6857: 10 %). */
const FAILING_SHARE = 0.1
/** A node that falls silent so soon after a run of a task began may have been taken down by it; later it is one of those that come and go. */
const DEATH_MS_MAX = 600_000

/** A task of the batch that was run has failed. One that failed for another proves nothing more than that other. */
export function holdFailing(state: State, batch: Batch, nowMs: number): void {
  batch.ranFailed++
  const { failingMin } = state.policy
  const { counts, ranFailed, releasedAtMs, succeeded } = batch
  const tasks = totalOf(batch)
  if (failingMin === 0 || counts.ready > 0 || succeeded || batch.held !== null || batch.open) return
  if (ranFailed < Math.max(failingMin, Math.ceil(tasks * FAILING_SHARE))) return
  // Nothing is left to be held, or somebody wants it to go on as it is.
  if (unended(counts) === 0 || releasedAtMs > 0) return
  const reason = `${ranFailed} of its ${tasks} tasks failed and none succeeded; release it to let it go on all the same`
  hold(state, batch, { by: state.project, reason, nowMs })
}

/** Why a replica is lost whose node fell silent. */
export function silence({ granted, atMs }: Replica, nowMs: number): { readonly message: string; readonly class?: 'death' } {
  const message = 'the node fell silent'
  return granted && nowMs - atMs <= DEATH_MS_MAX ? { message, class: 'death' } : { message }
}

/** The task wants to be run again: not before somebody looked why its nodes died. */
export function holdDeadly(state: State, task: Task, nowMs: number): void {
  const { deathsMax } = state.policy
  if (deathsMax === 0 || task.held !== null) return
  const died = task.replicas.filter(({ state, fault, atMs }) => state === 'lost' && fault?.class === 'death' && atMs > task.batch.releasedAtMs)
  if (died.length < deathsMax) return
  const names = died.map(({ node }) => (node.offer.name === '' ? node.id : node.offer.name)).join(', ')
  hold(state, task, {
    by: state.project,
    reason: `${died.length} nodes fell silent soon after they began to run it: ${names}; release it to try others`,
    nowMs
  })
}
