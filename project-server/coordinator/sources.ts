/**
 * What tasks take from other tasks. A task with sources stays `created` until they are over: parents know their dependents,
 * and a dependent counts the sources that it still waits for, so that nothing is ever looked through. A sweep waits as one,
 * whatever it is to make. What follows when one is over is in dependents.ts.
 */
import type { Source, Sources } from '#protocol/bundle/sources'
import { type BatchId, isBatchId, parseTaskId, type TaskId } from '#protocol/ids'
import type { SubmitRefusal } from './batches.ts'
import type { Event } from './events.ts'
import { inputOver } from './lost-inputs.ts'
import { type Batch, type Dependents, isSweep, type Task, type Waiter } from './model.ts'
import { MESSAGE_CHARS_MAX, RANGES_MAX, SOURCE_DEPTH_MAX, SOURCE_LINKS_MAX } from './policy.ts'
import { encodeSourcesRecord, sourcesKey } from './sources-records.ts'
import type { State } from './state.ts'
import { isTerminal } from './states.ts'
import { isUnmade, unmade } from './sweeps.ts'

type Submit = Extract<Event, { kind: 'submit' }>

/** Why these sources cannot be waited for. */
export function sourcesRefusal(state: State, event: Submit): SubmitRefusal | undefined {
  const { sources, batch: id } = event
  if (sources === undefined) return undefined
  const batch = state.batches.get(id)
  const have = batch?.tasks.length ?? 0
  const tasks = (event.from ?? have) + (event.sweep === undefined ? event.bundles.length : 1)
  let links = state.sourceLinks
  let ranges = batch?.dependents?.ranges.length ?? 0
  const depths = new Map<number, number>()
  const depthAt = (index: number): number => depths.get(index) ?? batch?.tasks.get(index)?.waits?.depth ?? 0
  for (const [index, { list }] of [...sources].sort(([a], [b]) => a - b)) {
    // A part that was sent again.
    if (index < have) continue
    if (index >= tasks) return { code: 'malformed', message: `the sources of task ${index} came without the task` }
    let depth = 0
    for (const { of, from, count } of list) {
      if (of !== '') {
        if (!expects(state, of) && event.ended?.has(of) !== true)
          return { code: 'not_found', message: `task ${index} waits for ${of}, which is not known here` }
        depth = Math.max(depth, depthOf(state, of))
        links++
      } else if (from + count > index)
        return {
          code: 'malformed',
          message: `task ${index} waits for task ${from + count - 1} of its batch: a task can only wait for earlier ones, a circle would never end`
        }
      else if (count === 1) {
        depth = Math.max(depth, depthAt(from))
        links++
      } else {
        ranges++
        for (let at = from; at < from + count; at++) depth = Math.max(depth, depthAt(at))
      }
    }
    depths.set(index, depth + 1)
    if (depth + 1 > SOURCE_DEPTH_MAX)
      return { code: 'too_large', message: `task ${index} comes after ${depth} others, one after the other; at most ${SOURCE_DEPTH_MAX} are kept` }
  }
  if (ranges > RANGES_MAX) return { code: 'too_large', message: `at most ${RANGES_MAX} sources of a batch can be several of its tasks, not ${ranges}` }
  if (links > SOURCE_LINKS_MAX)
    return { code: 'unavailable', message: `tasks wait for ${state.sourceLinks} others, at most ${SOURCE_LINKS_MAX} are kept; try again when some are done` }
  return undefined
}

/** A task or batch that is not over, so that it can be waited for. */
export function expects(state: State, of: TaskId): boolean {
  return isBatchId(of) ? state.batches.has(of) : liveTask(state, of) !== undefined || unmadeTask(state, of) !== undefined
}

/** A new task, or sweep, waits for its sources. `template`: its bundle without what it takes. `ended`: of those that are over, null for ready, else how they failed. */
export function waitFor(
  state: State,
  waiter: Waiter,
  { template, sources }: { readonly template: string; readonly sources: Sources },
  ended?: ReadonlyMap<string, string | null>
): void {
  link(state, waiter, sources)
  const { waits } = waiter
  if (waits === null) return
  state.out.put(sourcesKey(waiter.id), encodeSourcesRecord({ template, depth: waits.depth, sources }))
  if (sources.allowFailed) return
  for (const { of, from, count } of sources.list) {
    const fault = of === '' ? goneOf(batchOf(waiter), from, count) : ended?.get(of)
    const batch = state.batches.get(of)
    if (fault !== undefined && fault !== null) state.doomed.push({ waiter, message: `${named(of)} ${fault}` })
    else if (batch !== undefined && batch.counts.failed + batch.counts.killed > 0) state.doomed.push({ waiter, message: batchFault(batch) })
  }
}

/** Counts what it waits for and makes it known there; after a restart too, when `depth` is what was written. */
export function link(state: State, waiter: Waiter, sources: Sources, depth?: number): void {
  const own = batchOf(waiter)
  let missing = 0
  let deepest = 0
  for (const source of sources.list) {
    const { of, from, count } = source
    const toCome = of === '' ? undefined : unmadeTask(state, of)
    const parent = of === '' ? (count === 1 ? own.tasks.get(from) : undefined) : liveTask(state, of)
    if (parent !== undefined) {
      addTo(dependentsOf(parent.batch).one, parent.index, waiter)
      state.sourceLinks++
      missing++
      deepest = Math.max(deepest, parent.waits?.depth ?? 0)
    } else if (toCome !== undefined) {
      addTo(dependentsOf(toCome.batch).one, toCome.index, waiter)
      state.sourceLinks++
      missing++
      deepest = Math.max(deepest, toCome.batch.waits?.depth ?? 0)
    } else if (of === '' && count > 1) {
      const left = liveIn(own, source)
      if (left === 0) continue
      dependentsOf(own).ranges.push({ from, to: from + count, left, waiter })
      missing++
      for (let at = from; at < from + count; at++) deepest = Math.max(deepest, own.tasks.get(at)?.waits?.depth ?? 0)
    } else if (isBatchId(of)) {
      const batch = state.batches.get(of)
      if (batch === undefined) continue
      dependentsOf(batch).whole.push(waiter)
      missing++
      deepest = Math.max(deepest, batch.waits?.depth ?? 0)
    }
  }
  waiter.waits = { sources, missing, asked: false, depth: depth ?? deepest + 1 }
  if (missing === 0) state.complete.push(waiter)
}

/** Nothing waits any more: it ended, or all tasks of the sweep were made. */
export function isOver(waiter: Waiter): boolean {
  return isSweep(waiter) ? unmade(waiter) === 0 : isTerminal(waiter.state)
}

/** A task that is complete waits for one that computes an input of it again: see lost-inputs.ts. */
export function waitOn(state: State, of: TaskId, task: Task): void {
  const parent = liveTask(state, of)
  if (parent === undefined) throw new Error(`task ${of} is over: nobody can wait for it`)
  addTo(dependentsOf(parent.batch).one, parent.index, task)
  state.sourceLinks++
}

/** A task is over: whoever waits for it is looked at in this event. */
export function taskOver(state: State, task: Task): void {
  if (task.batch.dependents !== null) state.over.push(task)
}

/** So is a batch. */
export function batchOver(state: State, batch: Batch): void {
  if ((batch.dependents?.whole.length ?? 0) > 0) state.over.push(batch)
}

/** One source less to wait for, unless it is one of several and not the last. */
export function less(state: State, waiter: Waiter, fault: string | null, last = true): void {
  const { waits } = waiter
  if (isOver(waiter)) return
  if (waits === null) {
    if (!isSweep(waiter)) inputOver(state, waiter, fault)
    return
  }
  if (fault !== null && !waits.sources.allowFailed) {
    state.doomed.push({ waiter, message: fault })
    return
  }
  if (last && --waits.missing === 0) state.complete.push(waiter)
}

/** The tasks of a sweep that were not made never will be (`fault` says why): whoever waits for one of them waits for nothing more. */
export function unmadeOver(state: State, batch: Batch, fault: string): void {
  const { dependents } = batch
  if (dependents === null) return
  for (const [index, waiters] of dependents.one) {
    if (batch.tasks.get(index) !== undefined) continue
    dependents.one.delete(index)
    state.sourceLinks -= waiters.length
    for (const waiter of waiters) less(state, waiter, `${named(`${batch.id}.${index}`)} ${fault}`.slice(0, MESSAGE_CHARS_MAX))
  }
}

/** How a task is called in the failure of another. */
export function named(of: string): string {
  return isBatchId(of) ? `batch ${of}` : `task ${of}`
}

export function batchFault({ id, counts: { failed, killed } }: Batch): string {
  return `${named(id)} has ${failed} failed and ${killed} killed tasks`
}

/** Of an open batch nothing has run: what is no longer there was killed, or failed for want of a source. */
function goneOf(batch: Batch, from: number, count: number): string | undefined {
  for (let at = from; at < from + count; at++)
    if (batch.tasks.get(at) === undefined) return `of the same batch (${batch.id}.${at}) was killed, or failed before it ran`
  return undefined
}

function batchOf(waiter: Waiter): Batch {
  return isSweep(waiter) ? waiter : waiter.batch
}

/** How many come one after the other before it and with it. */
function depthOf(state: State, of: TaskId | BatchId): number {
  if (isBatchId(of)) return state.batches.get(of)?.waits?.depth ?? 0
  const task = liveTask(state, of)
  return (task === undefined ? unmadeTask(state, of)?.batch.waits : task.waits)?.depth ?? 0
}

function liveTask(state: State, of: TaskId): Task | undefined {
  return parseTaskId(of) === undefined ? undefined : state.task(of)
}

interface UnmadeTask {
  readonly batch: Batch
  readonly index: number
}

/** A task of a sweep that comes yet. */
function unmadeTask(state: State, of: TaskId): UnmadeTask | undefined {
  const { batch: id = '', index = 0 } = parseTaskId(of) ?? {}
  const batch = state.batches.get(id)
  return batch !== undefined && isUnmade(batch, index) ? { batch, index } : undefined
}

function liveIn({ tasks }: Batch, { from, count }: Source): number {
  let left = 0
  for (let at = from; at < from + count; at++) if (tasks.get(at) !== undefined) left++
  return left
}

function dependentsOf(batch: Batch): Dependents {
  batch.dependents ??= { one: new Map(), ranges: [], whole: [] }
  return batch.dependents
}

function addTo(lists: Map<number, Waiter[]>, index: number, waiter: Waiter): void {
  const list = lists.get(index)
  if (list === undefined) lists.set(index, [waiter])
  else list.push(waiter)
}
