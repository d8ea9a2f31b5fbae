/**
 * Retry: what ended stays as it ended, so the tasks of a batch that failed or were killed are submitted again as a batch of
 * their own, under the same name, labels and policy, with what it is a retry of. One that never had what it takes from others waits
 * for them again: for those that are tried again with it, and for what the others left. Where it gathers what many left (the reduce
 * of a map) all of these are submitted with it: those that are ready are repeats of themselves, and not run again unless
 * their policy says `force`. A sweep that never had what it takes from others is submitted again whole.
 */
import { hash } from 'node:crypto'
import type { Source, Sources } from '#protocol/bundle/sources'
import { type Sweep, sweepCount } from '#protocol/bundle/sweep'
import { type BatchId, batchIdFrom, type PeerIdString, parseTaskId, type TaskId, taskId } from '#protocol/ids'
import { type ManagedTarget, QUERY_ROWS_MAX, type Resolved, SUBMIT_MANIFESTS_MAX } from '#protocol/owner/messages'
import { decodeBatchRecord } from '../coordinator/batch-records.ts'
import { batchKey } from '../coordinator/keys.ts'
import { decodeSourcesRecord, type SourcesRecord, sourcesKey } from '../coordinator/sources-records.ts'
import { isTerminal } from '../coordinator/states.ts'
import { type StoredTask, storedBundle, storedTasks, templateOf } from '../coordinator/stored-tasks.ts'
import { decodeMadeRecord, decodeSweepRecord, madeKey, sweepKey } from '../coordinator/sweeps.ts'
import type { Store } from '../ports.ts'
import { readNotes } from './notes.ts'
import { OwnerError } from './request.ts'
import type { Submission, Submissions } from './submit.ts'

export interface RetryPorts {
  readonly store: Pick<Store, 'get' | 'range'>
  readonly submissions: Pick<Submissions, 'add'>
}

export interface Retry {
  /** A batch or a task of this client's, or one that it may administer. */
  readonly target: Resolved
  readonly by: PeerIdString
  /** Drawn by the client for this request: repeating it makes no second batch. */
  readonly id: Uint8Array
  readonly states: ReadonlySet<string>
  readonly dryRun: boolean
}

/** The batch that it makes, or with `dryRun` the one that would be tried again; undefined when there is nothing to be. */
export async function retry({ target, by, id, states, dryRun }: Retry, { store, submissions }: RetryPorts): Promise<ManagedTarget | undefined> {
  const batch = parseTaskId(target.id)?.batch ?? target.id
  const bytes = await store.get(batchKey(batch))
  if (bytes === undefined) return undefined
  const { name, policy } = decodeBatchRecord(bytes)
  const { labels } = await readNotes(store, batch)
  const again: BatchId = batchIdFrom(new Uint8Array(hash('sha256', Buffer.concat([id, Buffer.from(target.id)]), 'buffer').subarray(0, 16)))
  const head = { batch: again, name, by, policy, more: false, labels, retryOf: batch }
  const answer = (tasks: number): ManagedTarget => ({
    kind: 'batch',
    ...(dryRun ? { id: batch } : { id: again, retryOf: batch }),
    tasks,
    ...(name === '' ? {} : { name })
  })
  const sweep = parseTaskId(target.id) === undefined ? await sweepAgain(store, batch, states) : undefined
  if (sweep !== undefined) {
    if (!dryRun) await submissions.add({ ...head, ...sweep }, 0)
    return answer(sweepCount(sweep.sweep))
  }
  const manifests = new Map<string, Uint8Array>()
  let first = 0
  let failed = 0
  let part: Uint8Array[] = []
  let sources = new Map<number, Sources>()
  /** Where tasks of the batch are in the new one. */
  const places = new Map<number, number>()
  const send = async (more: boolean): Promise<void> => {
    if (!dryRun) await submissions.add({ ...head, manifests: part, more, sources }, first)
    first += part.length
    part = []
    sources = new Map()
  }
  const gathered = await gatheredBy(store, target, states)
  for await (const { index, record, bundle: stored } of wanted(store, { target, states, gathered })) {
    const { id: task, bundle, state } = record
    if (state !== 'ready') failed++
    if (part.length >= SUBMIT_MANIFESTS_MAX) await send(true)
    const waits = bundle === '' ? await waitsOf(store, task) : undefined
    const cid = waits?.template ?? bundle
    const manifest = manifests.get(cid) ?? (stored ?? (await storedBundle(store, task, cid))).bytes
    manifests.set(cid, manifest)
    const place = first + part.length
    if (waits !== undefined) sources.set(place, { ...waits.sources, list: waits.sources.list.flatMap((source) => sourceAgain(source, { batch, places })) })
    places.set(index, place)
    part.push(manifest)
  }
  if (part.length === 0) return undefined
  await send(false)
  return answer(failed)
}

/** A sweep that ended before it had what it takes from others is tried again as a whole: it has no task that could be. */
async function sweepAgain(
  store: RetryPorts['store'],
  batch: BatchId,
  states: ReadonlySet<string>
): Promise<(Pick<Submission, 'manifests' | 'sources'> & { readonly sweep: Sweep }) | undefined> {
  const [record, made, sources] = await Promise.all([store.get(sweepKey(batch)), store.get(madeKey(batch)), store.get(sourcesKey(batch))])
  if (record === undefined || made === undefined || sources === undefined) return undefined
  const { template, sweep, waits } = decodeSweepRecord(record)
  const { end } = decodeMadeRecord(made)
  if (!waits || end === null || !states.has(end === 'killed' ? 'killed' : 'failed')) return undefined
  const { bytes } = await templateOf(store, batch, template)
  return { manifests: [bytes], sweep, sources: new Map([[0, decodeSourcesRecord(sources).sources]]) }
}

async function waitsOf(store: RetryPorts['store'], task: TaskId): Promise<SourcesRecord> {
  const bytes = await store.get(sourcesKey(task))
  if (bytes === undefined) throw new Error(`the record of what task ${task} takes from others is missing`)
  return decodeSourcesRecord(bytes)
}

/** The same source, seen from the new batch: none when it is only waited for, and over. Tasks of the new batch have places one after the other, so that a range of them is a range. */
function sourceAgain(source: Source, { batch, places }: { readonly batch: BatchId; readonly places: ReadonlyMap<number, number> }): Source[] {
  const { of, from, count } = source
  if (of !== '') return [source]
  let again = 0
  let place: number | undefined
  for (let index = from; index < from + count; index++) {
    const at = places.get(index)
    if (at === undefined) continue
    place ??= at
    again++
  }
  if (place !== undefined) return [{ ...source, from: place, count: again }]
  return count === 1 ? [{ ...source, of: taskId(batch, from), from: 0, count: 0 }] : []
}

interface Range {
  readonly from: number
  readonly to: number
}

interface Wanted {
  readonly target: Resolved
  readonly states: ReadonlySet<string>
  /** Tasks that are submitted whatever became of them. */
  readonly gathered: readonly Range[]
}

/** What the tasks that never began gather, and what those among it gather in their turn. Throws OwnerError `unavailable` where one of them is not over. */
async function gatheredBy(store: RetryPorts['store'], target: Resolved, states: ReadonlySet<string>): Promise<readonly Range[]> {
  const ranges = new Map<string, Range>()
  for (let before = -1; before < ranges.size; ) {
    before = ranges.size
    for await (const { record } of wanted(store, { target, states, gathered: [...ranges.values()] })) {
      const { id, bundle, state } = record
      if (!isTerminal(state)) throw new OwnerError('unavailable', `task ${id} is not over, and what it leaves is gathered: try again when it is`)
      if (bundle !== '') continue
      for (const { of, from, count, part } of (await waitsOf(store, id)).sources.list)
        if (of === '' && part === 'all') ranges.set(`${from} ${count}`, { from, to: from + count })
    }
  }
  return [...ranges.values()]
}

/** In the order of the batch. */
async function* wanted(store: RetryPorts['store'], { target, states, gathered }: Wanted): AsyncGenerator<StoredTask, void, undefined> {
  const asked = parseTaskId(target.id)
  const isWanted = ({ index, record: { state } }: StoredTask): boolean =>
    (states.has(state) && (asked === undefined || index === asked.index)) || gathered.some(({ from, to }) => index >= from && index < to)
  const batch = asked?.batch ?? target.id
  if (asked !== undefined && gathered.length === 0) {
    for await (const task of storedTasks(store, batch, { from: asked.index, limit: 1 })) if (isWanted(task)) yield task
    return
  }
  // A page at a time: the client's next batch is not kept waiting by an open iterator of the store.
  for (let from = 0; ; ) {
    let rows = 0
    for await (const task of storedTasks(store, batch, { from, limit: QUERY_ROWS_MAX })) {
      rows++
      from = task.index + 1
      if (isWanted(task)) yield task
    }
    if (rows < QUERY_ROWS_MAX) return
  }
}
