/**
 * Retry: what ended stays as it ended, so the tasks of a batch that failed or were killed are submitted again as a batch of
 * their own, under the same name, labels and policy, with what it is a retry of. One that never had what it takes from others waits
 * for them again: for those that are tried again with it, and for what the others left.
 */
import { hash } from 'node:crypto'
import type { Source, Sources } from '#protocol/bundle/sources'
import { type BatchId, batchIdFrom, type PeerIdString, parseTaskId, type TaskId, taskId } from '#protocol/ids'
import { type ManagedTarget, QUERY_ROWS_MAX, type Resolved, SUBMIT_MANIFESTS_MAX } from '#protocol/owner/messages'
import { decodeBatchRecord } from '../coordinator/batch-records.ts'
import { decodeBundleRecord } from '../coordinator/bundle-records.ts'
import { batchKey, bundleKey, taskKey } from '../coordinator/keys.ts'
import { decodeSourcesRecord, type SourcesRecord, sourcesKey } from '../coordinator/sources-records.ts'
import { decodeTaskRecord, type TaskRecord } from '../coordinator/task-records.ts'
import type { Store } from '../ports.ts'
import { readNotes } from './notes.ts'
import { OwnerError } from './request.ts'
import type { Submissions } from './submit.ts'

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
  const manifests = new Map<string, Uint8Array>()
  let first = 0
  let part: Uint8Array[] = []
  let sources = new Map<number, Sources>()
  /** Where tasks of the batch are in the new one. */
  const places = new Map<number, number>()
  const send = async (more: boolean): Promise<void> => {
    const submission = { batch: again, name, by, manifests: part, policy, more, labels, retryOf: batch, sources }
    if (!dryRun) await submissions.add(submission, first)
    first += part.length
    part = []
    sources = new Map()
  }
  for await (const { id: task, bundle } of ended(store, target, states)) {
    if (part.length >= SUBMIT_MANIFESTS_MAX) await send(true)
    const waits = bundle === '' ? await waitsOf(store, task) : undefined
    const cid = waits?.template ?? bundle
    const manifest = manifests.get(cid) ?? decodeBundleRecord((await store.get(bundleKey(batch, cid))) ?? missing(cid))
    manifests.set(cid, manifest)
    const place = first + part.length
    if (waits !== undefined)
      sources.set(place, { ...waits.sources, list: waits.sources.list.flatMap((source) => sourceAgain(source, { task, batch, places })) })
    places.set(parseTaskId(task)?.index ?? 0, place)
    part.push(manifest)
  }
  if (part.length === 0) return undefined
  await send(false)
  return { kind: 'batch', ...(dryRun ? { id: batch } : { id: again, retryOf: batch }), tasks: first, ...(name === '' ? {} : { name }) }
}

async function waitsOf(store: RetryPorts['store'], task: TaskId): Promise<SourcesRecord> {
  const bytes = await store.get(sourcesKey(task))
  if (bytes === undefined) throw new Error(`the record of what task ${task} takes from others is missing`)
  return decodeSourcesRecord(bytes)
}

/** The same source, seen from the new batch: none when it is only waited for, and over. Tasks that are tried again have places one after the other, so that a range of them is a range. */
function sourceAgain(
  source: Source,
  { task, batch, places }: { readonly task: TaskId; readonly batch: BatchId; readonly places: ReadonlyMap<number, number> }
): Source[] {
  const { of, from, count, part } = source
  if (of !== '') return [source]
  let again = 0
  let place: number | undefined
  for (let index = from; index < from + count; index++) {
    const at = places.get(index)
    if (at === undefined) continue
    place ??= at
    again++
  }
  if (again === count && place !== undefined) return [{ ...source, from: place }]
  if (count === 1) return [{ ...source, of: taskId(batch, from), from: 0, count: 0 }]
  if (part === 'after') return place === undefined ? [] : [{ ...source, from: place, count: again }]
  throw new OwnerError(
    'missing_content',
    `task ${task} takes what ${count} tasks left, of which only ${again} are tried again: talko dag rescue ${batch} writes a file for the rest of a graph; or submit them all again`
  )
}

async function* ended(store: RetryPorts['store'], { kind, id }: Resolved, states: ReadonlySet<string>): AsyncGenerator<TaskRecord, void, undefined> {
  if (kind === 'task') {
    const bytes = await store.get(taskKey(id))
    const task = bytes === undefined ? undefined : decodeTaskRecord(bytes)
    if (task !== undefined && states.has(task.state)) yield task
    return
  }
  // A page at a time: the client's next batch is not kept waiting by an open iterator of the store.
  let from = `task/${id}.`
  for (;;) {
    let rows = 0
    let last: TaskId | undefined
    for await (const [key, value] of store.range(from, `task/${id}.~`, { limit: QUERY_ROWS_MAX })) {
      rows++
      last = key
      const task = decodeTaskRecord(value)
      if (states.has(task.state)) yield task
    }
    if (last === undefined || rows < QUERY_ROWS_MAX) return
    from = `${last}\0`
  }
}

function missing(bundle: string): never {
  throw new Error(`the record of bundle ${bundle} is missing`)
}
