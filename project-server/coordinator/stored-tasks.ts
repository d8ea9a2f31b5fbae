/** Tasks and their bundles as they are stored: by records of their own, or with those they came with (submitted-records.ts). */
import { type BatchId, parseTaskId, type TaskId } from '#protocol/ids'
import type { Store } from '../ports.ts'
import { decodeBundleRecord, type StoredBundle } from './bundle-records.ts'
import { bundleKey, SUBMITTED_PREFIX, submittedKey, taskKey, taskKeyOf } from './keys.ts'
import { SubmittedPage } from './submitted-records.ts'
import { decodeTaskRecord, type TaskRecord } from './task-records.ts'

type Records = Pick<Store, 'get' | 'range'>

interface AtMost {
  readonly limit?: number
}

export interface StoredTask {
  readonly index: number
  readonly record: TaskRecord
  /** Where it lies with the task; otherwise `templateOf` has it. */
  readonly bundle: StoredBundle | undefined
}

/** Undefined when there is no such task, or it was not made yet. */
export async function storedTask(store: Records, id: TaskId): Promise<TaskRecord | undefined> {
  const parts = parseTaskId(id)
  if (parts === undefined) return undefined
  // In this order: one that changes meanwhile is found at either.
  const own = await store.get(taskKey(id))
  if (own !== undefined) return decodeTaskRecord(own)
  return (await pageOf(store, parts.batch, parts.index))?.at(parts.index)?.record
}

/** Those of a batch, in their order. */
export async function* storedTasks(
  store: Records,
  batch: BatchId,
  { from = 0, limit }: { readonly from?: number; readonly limit?: number } = {}
): AsyncGenerator<StoredTask, void, undefined> {
  const atMost = limit === undefined ? {} : { limit }
  const own = ownFrom(store, batch, from, atMost)
  const submitted = submittedFrom(store, batch, from, atMost)
  try {
    let [changed, came] = [await own.next(), await submitted.next()]
    for (let left = limit ?? Number.POSITIVE_INFINITY; left > 0 && !(changed.done === true && came.done === true); left--) {
      const task = changed.done === true ? undefined : changed.value
      const first = came.done === true ? undefined : came.value
      // Which of the two comes next; 0 when they are the same task's, and its own record is what holds.
      const order = task === undefined ? 1 : first === undefined ? -1 : task.index - first.index
      if (task !== undefined && order <= 0) {
        yield order === 0 && first?.record.bundle === task.record.bundle ? { ...task, bundle: first.bundle } : task
        changed = await own.next()
      } else if (first !== undefined) yield first
      if (order >= 0) came = await submitted.next()
    }
  } finally {
    await own.return()
    await submitted.return()
  }
}

/** The bundle of a task. Throws when its record is missing: the store is corrupt. */
export async function storedBundle(store: Records, task: TaskId, cid: string): Promise<StoredBundle> {
  const { batch, index } = parseTaskId(task) ?? { batch: '', index: 0 }
  const found = (await pageOf(store, batch, index))?.at(index)
  return found?.record.bundle === cid ? found.bundle : templateOf(store, batch, cid)
}

/** What tasks of the batch are made from, or one that has a record of its own. Throws like `storedBundle`. */
export async function templateOf(store: Pick<Store, 'get'>, batch: BatchId, cid: string): Promise<StoredBundle> {
  const bytes = await store.get(bundleKey(batch, cid))
  if (bytes === undefined) throw new Error(`the record of bundle ${cid} is missing`)
  return decodeBundleRecord(bytes)
}

/** Where it would be. */
async function pageOf(store: Records, batch: BatchId, index: number): Promise<SubmittedPage | undefined> {
  for await (const [key, value] of store.range(submittedKey(batch, 0), submittedKey(batch, index + 1), { reverse: true, limit: 1 }))
    return new SubmittedPage(key, value)
  return undefined
}

async function* ownFrom(store: Records, batch: BatchId, from: number, atMost: AtMost): AsyncGenerator<StoredTask, void, undefined> {
  for await (const [, value] of store.range(taskKeyOf(batch, from), `task/${batch}.~`, atMost)) {
    const record = decodeTaskRecord(value)
    yield { index: parseTaskId(record.id)?.index ?? 0, record, bundle: undefined }
  }
}

async function* submittedFrom(store: Records, batch: BatchId, from: number, atMost: AtMost): AsyncGenerator<StoredTask, void, undefined> {
  const before = from === 0 ? undefined : await pageOf(store, batch, from - 1)
  if (before !== undefined) yield* before.tasks(from)
  for await (const [key, value] of store.range(submittedKey(batch, from), `${SUBMITTED_PREFIX}${batch}.~`, atMost)) yield* new SubmittedPage(key, value).tasks()
}
