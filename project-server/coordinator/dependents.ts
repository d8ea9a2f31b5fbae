/**
 * What follows for tasks that wait for others when one of those is over:
 *
 * ```
 * created ──(all sources over)──> asks for its complete bundle ──(completed)──> staged
 *    │                                                       └── its complete bundle was decided before: ready
 *    └── a source failed or was killed, an input cannot be had ──> failed: `source`
 * ```
 *
 * With `allowFailed` a failed source counts as one that is over. A list is worked off, never a call within a call: a chain of
 * a hundred thousand tasks fails as a chain of two.
 */

import type { Source } from '#protocol/bundle/sources'
import { bundleOf } from './batches.ts'
import { encodeBundleRecord } from './bundle-records.ts'
import type { Event } from './events.ts'
import { bundleKey } from './keys.ts'
import { needsAtFirst } from './memory.ts'
import type { Batch, Task } from './model.ts'
import { MESSAGE_CHARS_MAX } from './policy.ts'
import { batchFault, expects, less, link, named } from './sources.ts'
import { encodeSourcesRecord, sourcesKey } from './sources-records.ts'
import type { State } from './state.ts'
import { isTerminal } from './states.ts'
import { moveTask } from './task-moves.ts'
import { fail } from './tasks.ts'

/** Called once at the end of each event. */
export function releaseDependents(state: State, nowMs: number): void {
  while (state.over.length + state.doomed.length > 0) {
    for (const { task, message } of state.doomed.splice(0)) failOne(state, task, message, nowMs)
    for (const over of state.over.splice(0)) {
      if ('tasks' in over) releaseWhole(state, over)
      else releaseOf(state, over)
    }
  }
  if (state.complete.length > 0) for (const task of state.complete.splice(0)) ask(state, task)
}

/** created -> staged, or only complete while its batch is open; or failed because an input cannot be had. */
export function completed(state: State, event: Extract<Event, { kind: 'completed' }>, nowMs: number): void {
  const task = state.task(event.task)
  if (task === undefined || task.waits?.asked !== true) return
  if (event.bundle === null) {
    failOne(state, task, event.message, nowMs)
    return
  }
  const { batch, bundle: template } = task
  const { bundle: accepted } = event
  if (--template.users === 0) state.bundles.delete(template.cid)
  task.bundle = bundleOf(state, accepted)
  task.bundle.users++
  task.needs = needsAtFirst(state, batch, task.bundle, accepted.manifest)
  task.waits = null
  if (event.repeat !== undefined) {
    task.decision = event.repeat.decision
    task.repeats = event.repeat.task
  }
  state.out.put(bundleKey(batch.id, accepted.cid), encodeBundleRecord(accepted))
  state.out.task(task)
  if (batch.open) return
  // It waits for a node from now on.
  batch.queuedAtMs = nowMs
  state.queueLimits.restart(batch)
  moveTask(state, task, 'staged')
  state.touched.add(task)
}

/** Waits once more, for what computes the lost inputs again. They get the ids that they had. */
export function again(state: State, event: Extract<Event, { kind: 'again' }>, nowMs: number): void {
  const task = state.task(event.task)
  if (task === undefined || task.waits?.asked !== true) return
  const gone = event.through.find((of) => !expects(state, of))
  if (gone !== undefined) {
    failOne(state, task, 'an input is no longer here, and cannot be computed again now: submit it again later', nowMs)
    return
  }
  const { sources, depth } = task.waits
  const list = [...sources.list, ...event.through.map((of): Source => ({ name: '', of, from: 0, count: 0, part: 'after', path: '' }))]
  link(state, task, { ...sources, list }, depth)
  state.out.put(sourcesKey(task.id), encodeSourcesRecord({ template: task.bundle.cid, depth, sources: { ...sources, list } }))
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
    for (const task of one) less(state, task, fault)
  }
  for (const range of dependents.ranges) {
    if (index < range.from || index >= range.to) continue
    range.left--
    if (range.left === 0 || fault !== null) less(state, range.task, fault, range.left === 0)
  }
  if (dependents.ranges.some(({ left }) => left === 0))
    dependents.ranges.splice(0, dependents.ranges.length, ...dependents.ranges.filter(({ left }) => left > 0))
  if (fault !== null) for (const task of dependents.whole) less(state, task, fault, false)
}

function releaseWhole(state: State, batch: Batch): void {
  const { failed, killed } = batch.counts
  const fault = failed + killed === 0 ? null : batchFault(batch)
  for (const task of batch.dependents?.whole.splice(0) ?? []) less(state, task, fault)
}

function failOne(state: State, task: Task, message: string, nowMs: number): void {
  if (task.waits !== null && !isTerminal(task.state)) fail(state, task, { code: 'source', message }, nowMs)
}

function ask(state: State, task: Task): void {
  if (task.waits === null || task.waits.asked || isTerminal(task.state)) return
  task.waits.asked = true
  state.out.effect({ kind: 'complete', task: task.id })
}
