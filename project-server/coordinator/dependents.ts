/**
 * What follows for tasks that wait for others when one of those is over:
 *
 * ```
 * created ──(all sources over)──> asks for its complete bundle ──(completed)──> staged
 *    │                                                       └── its complete bundle was decided before: ready
 *    └── a source failed or was killed, an input cannot be had ──> failed: `source`
 * ```
 *
 * A sweep waits likewise: its complete bundle is the template that its tasks are made from, and those that were not made fail together.
 *
 * With `allowFailed` a failed source counts as one that is over. A list is worked off, never a call within a call: a chain of
 * a hundred thousand tasks fails as a chain of two.
 */

import type { Source } from '#protocol/bundle/sources'
import { type BatchId, isBatchId, type TaskId } from '#protocol/ids'
import { bundleOf, closeEmpty } from './batches.ts'
import { encodeBundleRecord } from './bundle-records.ts'
import type { Event } from './events.ts'
import { regroup } from './groups.ts'
import { hintWork } from './hints.ts'
import { bundleKey } from './keys.ts'
import { needsAtFirst } from './memory.ts'
import { type Batch, isSweep, type Task, type Waiter } from './model.ts'
import { MESSAGE_CHARS_MAX } from './policy.ts'
import { batchFault, expects, isOver, less, link, named } from './sources.ts'
import { encodeSourcesRecord, sourcesKey } from './sources-records.ts'
import type { State } from './state.ts'
import { beginMaking, failUnmade } from './sweeps.ts'
import { moveTask } from './task-moves.ts'
import { fail } from './tasks.ts'

/** Called once at the end of each event. */
export function releaseDependents(state: State, nowMs: number): void {
  while (state.over.length + state.doomed.length > 0) {
    for (const { waiter, message } of state.doomed.splice(0)) failOne(state, waiter, message, nowMs)
    for (const over of state.over.splice(0)) {
      if ('tasks' in over) releaseWhole(state, over)
      else releaseOf(state, over)
    }
  }
  if (state.complete.length > 0) for (const waiter of state.complete.splice(0)) ask(state, waiter)
}

/** created -> staged, or only complete while its batch is open; of a sweep, that its tasks are made; or failed because an input cannot be had. */
export function completed(state: State, event: Extract<Event, { kind: 'completed' }>, nowMs: number): void {
  const waiter = waiterOf(state, event.task)
  if (waiter === undefined) return
  const { bundle: accepted } = event
  if (accepted === null) {
    failOne(state, waiter, event.message, nowMs)
    return
  }
  const batch = isSweep(waiter) ? waiter : waiter.batch
  state.out.put(bundleKey(batch.id, accepted.cid), encodeBundleRecord(accepted))
  if (isSweep(waiter)) {
    beginMaking(state, waiter, accepted)
    queuedNow(state, waiter, nowMs)
    hintWork(state, waiter)
    return
  }
  const task = waiter
  const { bundle: template } = task
  if (--template.users === 0) state.bundles.delete(template.cid)
  task.bundle = bundleOf(state, accepted)
  task.bundle.users++
  task.needs = needsAtFirst(state, batch, task.bundle, accepted.manifest)
  task.waits = null
  // What it takes from others may be data to choose its node by, of which its template had none.
  regroup(state, task)
  if (event.repeat !== undefined) {
    task.decision = event.repeat.decision
    task.repeats = event.repeat.task
  }
  state.out.task(task)
  if (batch.open) return
  queuedNow(state, batch, nowMs)
  moveTask(state, task, 'staged')
  state.touched.add(task)
}

/** Waits once more, for what computes the lost inputs again. They get the ids that they had. */
export function again(state: State, event: Extract<Event, { kind: 'again' }>, nowMs: number): void {
  const waiter = waiterOf(state, event.task)
  if (waiter === undefined || waiter.waits === null) return
  const gone = event.through.find((of) => !expects(state, of))
  if (gone !== undefined) {
    failOne(state, waiter, 'an input is no longer here, and cannot be computed again now: submit it again later', nowMs)
    return
  }
  const { sources, depth } = waiter.waits
  const list = [...sources.list, ...event.through.map((of): Source => ({ name: '', of, from: 0, count: 0, part: 'after', path: '' }))]
  link(state, waiter, { ...sources, list }, depth)
  state.out.put(sourcesKey(waiter.id), encodeSourcesRecord({ template: event.template, depth, sources: { ...sources, list } }))
}

/** Whose complete bundle was asked for. */
function waiterOf(state: State, of: TaskId | BatchId): Waiter | undefined {
  const waiter = isBatchId(of) ? state.batches.get(of) : state.task(of)
  return waiter?.waits?.asked === true ? waiter : undefined
}

/** They wait for nodes from now on. */
function queuedNow(state: State, batch: Batch, nowMs: number): void {
  batch.queuedAtMs = nowMs
  state.queueLimits.restart(batch)
  state.out.batch(batch)
}

function releaseOf(state: State, parent: Task): void {
  const { dependents } = parent.batch
  if (dependents === null) return
  const { state: end, failure, index } = parent
  const fault =
    end === 'ready' ? null : `${named(parent.id)} ${end === 'killed' ? 'was killed' : `failed: ${failure?.message ?? ''}`}`.slice(0, MESSAGE_CHARS_MAX)
  const one = dependents.one.get(index)
  if (one !== undefined) {
    dependents.one.delete(index)
    state.sourceLinks -= one.length
    for (const waiter of one) less(state, waiter, fault)
  }
  for (const range of dependents.ranges) {
    if (index < range.from || index >= range.to) continue
    range.left--
    if (range.left === 0 || fault !== null) less(state, range.waiter, fault, range.left === 0)
  }
  if (dependents.ranges.some(({ left }) => left === 0))
    dependents.ranges.splice(0, dependents.ranges.length, ...dependents.ranges.filter(({ left }) => left > 0))
  if (fault !== null) for (const waiter of dependents.whole) less(state, waiter, fault, false)
}

function releaseWhole(state: State, batch: Batch): void {
  const { failed, killed } = batch.counts
  const fault = failed + killed === 0 ? null : batchFault(batch)
  for (const waiter of batch.dependents?.whole.splice(0) ?? []) less(state, waiter, fault)
}

function failOne(state: State, waiter: Waiter, message: string, nowMs: number): void {
  if (waiter.waits === null || isOver(waiter)) return
  if (!isSweep(waiter)) {
    fail(state, waiter, { code: 'source', message }, nowMs)
    return
  }
  failUnmade(state, waiter, message)
  if (waiter.tasks.size === 0) closeEmpty(state, waiter)
}

function ask(state: State, waiter: Waiter): void {
  if (waiter.waits === null || waiter.waits.asked || isOver(waiter)) return
  waiter.waits.asked = true
  state.out.effect({ kind: 'complete', task: waiter.id })
}
