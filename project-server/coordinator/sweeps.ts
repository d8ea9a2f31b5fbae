/**
 * Sweeps: batches that are stored as their generator, whose tasks are made as they are wanted. A few wait ahead of what runs;
 * the rest is a number. Which manifest an index has is a function of the generator, and how many were made is written with
 * them, so that after a crash none is lost and none is made twice. A sweep that takes something from others waits for them as
 * a whole (sources.ts): its template is complete before the first task is made from it.
 */
import { encodeManifest, manifestCidText, type RunManifest } from '#protocol/bundle/manifest'
import { encodeSweep, manifestAt, type Sweep, storedSweep, sweepCount } from '#protocol/bundle/sweep'
import { type BatchId, type TaskId, taskId } from '#protocol/ids'
import { createTask } from './batches.ts'
import type { AcceptedBundle, Event, Repeat, TaskFailure } from './events.ts'
import type { Batch, Task } from './model.ts'
import { LIVE_TASKS_MAX, SWEEP_LOOK_MAX } from './policy.ts'
import { decodeRecord, encodeRecord } from './record-version.ts'
import { named, unmadeOver, waitFor } from './sources.ts'
import type { State } from './state.ts'
import { count } from './task-moves.ts'
import type { TaskRecord } from './task-records.ts'

/** What was found out of the template, and holds for all tasks. */
type BundleFacts = Pick<AcceptedBundle, 'platform' | 'data'>

/** What a batch of a sweep is made from. */
export interface Maker {
  readonly sweep: Sweep
  template: RunManifest
  facts: BundleFacts
  readonly count: number
  /** All before it were made. */
  next: number
  /** Made before their turn, because something was asked of them; null while there are none. */
  early: Set<number> | null
  /** All before it were looked up in what was decided before, which is known in memory alone. */
  looked: number
  looking: boolean
  /** Of those that are not made yet. */
  readonly repeats: Map<number, Repeat>
}

/** `sweep/<batch>`: the generator; written once. */
export function sweepKey(batch: BatchId): string {
  return `sweep/${batch}`
}

/** `made/<batch>`: how many were made, and how the rest ended. */
export function madeKey(batch: BatchId): string {
  return `made/${batch}`
}

interface SweepRecord<Of> {
  /** Id of a bundle of the batch; once the sweep waits no more, of the one that has all that it takes from others. */
  readonly template: string
  readonly sweep: Of
  /** It waits for what it takes from others: `sources/<batch>`. */
  readonly waits: boolean
}

export function encodeSweepRecord({ template, sweep, waits }: SweepRecord<Uint8Array>): Uint8Array {
  return encodeRecord([template, sweep, waits])
}

export function decodeSweepRecord(bytes: Uint8Array): SweepRecord<Sweep> {
  // Older sweeps could not wait.
  const [template, sweep, waits = false] = decodeRecord<[string, Uint8Array, boolean?]>('sweep', bytes)
  return { template, sweep: storedSweep(sweep), waits }
}

/** How those ended that were never made: killed, or failed for one that the sweep takes something from. */
export type UnmadeEnd = 'killed' | TaskFailure

export interface MadeRecord {
  readonly next: number
  /** Null while they may still be made. */
  readonly end: UnmadeEnd | null
}

function encodeMadeRecord({ next, end }: MadeRecord): Uint8Array {
  return encodeRecord(end === null || end === 'killed' ? [next, end !== null] : [next, true, end.message])
}

export function decodeMadeRecord(bytes: Uint8Array): MadeRecord {
  const [next, over, message] = decodeRecord<[number, boolean, string?]>('made', bytes)
  return { next, end: !over ? null : message === undefined ? 'killed' : { code: 'source', message } }
}

export function makerOf(sweep: Sweep, template: RunManifest, facts: BundleFacts): Maker {
  return { sweep, template, facts, count: sweepCount(sweep), next: 0, early: null, looked: 0, looking: false, repeats: new Map() }
}

/** Made when it is first written to. */
export function earlyOf(maker: Maker): Set<number> {
  maker.early ??= new Set()
  return maker.early
}

/** The bundle of a task of a sweep, as it would have been submitted. Throws ManifestError for one that is too large. */
export function bundleAt({ sweep, template, facts }: Pick<Maker, 'sweep' | 'template' | 'facts'>, index: number): AcceptedBundle {
  const manifest = manifestAt(template, sweep, index)
  const bytes = encodeManifest(manifest)
  return { cid: manifestCidText(bytes), bytes, manifest, ...facts }
}

/** How a task of a sweep that was not made yet is shown. */
export function unmadeRecord(
  batch: { readonly id: BatchId; readonly createdAtMs: number },
  maker: Pick<Maker, 'sweep' | 'template' | 'facts'>,
  index: number,
  end: UnmadeEnd | null
): TaskRecord {
  return {
    id: taskId(batch.id, index),
    bundle: bundleAt(maker, index).cid,
    createdAtMs: batch.createdAtMs,
    startedAtMs: null,
    endedAtMs: end === null ? null : batch.createdAtMs,
    state: end === null ? 'created' : end === 'killed' ? 'killed' : 'failed',
    failure: end === 'killed' ? null : end,
    decision: null,
    outputLosses: 0,
    replicas: [],
    held: null,
    repeats: null
  }
}

/** Tasks that were not made yet. */
export function unmade({ maker }: Batch): number {
  return maker === null ? 0 : maker.count - maker.next - (maker.early?.size ?? 0)
}

export function isUnmade({ maker }: Batch, index: number): boolean {
  return maker !== null && index >= maker.next && index < maker.count && maker.early?.has(index) !== true
}

/** All tasks that a batch has or will have. */
export function totalOf({ maker, tasks }: Batch): number {
  return maker?.count ?? tasks.length
}

/** Makes so many that a few wait, of each sweep that is not held. True when there are new ones. */
export function makeAhead(state: State, nowMs: number): boolean {
  let made = false
  for (const batch of state.sweeps.due) {
    if (state.liveTasks >= LIVE_TASKS_MAX) break
    made = makeSome(state, batch, nowMs) || made
    if (unmade(batch) === 0) state.sweeps.delete(batch)
    else if (state.liveTasks < LIVE_TASKS_MAX) state.sweeps.rest(batch)
  }
  return made
}

/** What the shell found: they may be made now. */
export function looked(state: State, { batch: id, to, repeats }: Extract<Event, { kind: 'looked' }>): void {
  const batch = state.batches.get(id)
  if (batch === undefined || batch.maker === null || !batch.maker.looking) return
  const { maker } = batch
  maker.looking = false
  maker.looked = to
  for (const [index, repeat] of repeats) if (isUnmade(batch, index)) maker.repeats.set(index, repeat)
  state.sweeps.touch(batch)
}

/** One that somebody asks something of before its turn. */
export function makeNow(state: State, id: TaskId, nowMs: number): void {
  const [of = '', at = ''] = id.split('.')
  const batch = state.batches.get(of)
  const index = Number(at)
  if (batch === undefined || !isUnmade(batch, index)) return
  make(state, batch, index, nowMs)
  if (batch.maker !== null) earlyOf(batch.maker).add(index)
}

/** Those that were not made yet will never be. */
export function killUnmade(state: State, batch: Batch): void {
  endUnmade(state, batch, 'killed')
}

/** Nor will those of a sweep that cannot have what it takes from others. */
export function failUnmade(state: State, batch: Batch, message: string): void {
  endUnmade(state, batch, { code: 'source', message })
  state.out.journal.batch(batch.id, 'failed', message)
}

function endUnmade(state: State, batch: Batch, end: UnmadeEnd): void {
  const { maker } = batch
  const left = unmade(batch)
  if (maker === null || left === 0) return
  batch.counts.created -= left
  batch.counts[end === 'killed' ? 'killed' : 'failed'] += left
  state.out.put(madeKey(batch.id), encodeMadeRecord({ next: maker.next, end }))
  maker.next = maker.count
  maker.early = null
  maker.repeats.clear()
  batch.waits = null
  state.sweeps.delete(batch)
  unmadeOver(state, batch, end === 'killed' ? 'was killed' : `failed: ${end.message}`)
  state.out.batch(batch)
}

/** What it takes from others is known: tasks are made from the complete template from now on. */
export function beginMaking(state: State, batch: Batch, { cid, manifest, platform, data = [] }: AcceptedBundle): void {
  const { maker } = batch
  if (maker === null) throw new Error(`${named(batch.id)} is no sweep`)
  batch.waits = null
  maker.template = manifest
  maker.facts = { ...(platform === undefined ? {} : { platform }), data }
  state.out.put(sweepKey(batch.id), encodeSweepRecord({ template: cid, sweep: encodeSweep(maker.sweep), waits: false }))
  state.sweeps.touch(batch)
}

function makeSome(state: State, batch: Batch, nowMs: number): boolean {
  const { maker } = batch
  const waiting = batch.counts.created - unmade(batch)
  const { ahead } = state.sweeps
  if (maker === null || batch.held !== null || batch.waits !== null) return false
  lookAt(state, batch, maker)
  if (waiting > ahead / 2) return false
  const from = maker.next
  const until = batch.policy.force ? maker.count : maker.looked
  for (let room = Math.min(ahead - waiting, LIVE_TASKS_MAX - state.liveTasks); room > 0 && maker.next < until; maker.next++) {
    if (maker.early?.delete(maker.next) === true) {
      maker.repeats.delete(maker.next)
      continue
    }
    make(state, batch, maker.next, nowMs)
    room--
  }
  if (maker.next === from) return false
  state.out.put(madeKey(batch.id), encodeMadeRecord({ next: maker.next, end: null }))
  return true
}

/** As many as may wait are looked up before they are wanted, so that nothing waits for that. */
function lookAt(state: State, { id, policy }: Batch, maker: Maker): void {
  maker.looked = Math.max(maker.looked, maker.next)
  if (policy.force || maker.looking || maker.looked >= Math.min(maker.count, maker.next + state.sweeps.ahead)) return
  maker.looking = true
  state.out.effect({ kind: 'look', batch: id, from: maker.looked, to: Math.min(maker.count, maker.looked + SWEEP_LOOK_MAX) })
}

function make(state: State, batch: Batch, index: number, nowMs: number): Task {
  const { maker } = batch
  if (maker === null) throw new Error(`batch ${batch.id} is no sweep`)
  const accepted = bundleAt(maker, index)
  const task = createTask(state, batch, { index, accepted, repeat: maker.repeats.get(index), waits: batch.waits !== null }, nowMs)
  maker.repeats.delete(index)
  // It was counted with the batch.
  count(batch, 'created', -1)
  if (batch.waits !== null) {
    // Before its turn, and before its sweep's: it waits by itself.
    waitFor(state, task, { template: accepted.cid, sources: batch.waits.sources })
    return task
  }
  task.state = 'staged'
  state.touched.add(task)
  return task
}
