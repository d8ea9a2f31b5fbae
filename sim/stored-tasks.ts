/** What the simulated project's disk says of tasks, read without a promise: as project-server/coordinator/stored-tasks.ts reads it. */
import { decodeBundleRecord, type StoredBundle } from '#project-server/coordinator/bundle-records'
import { bundleKey, SUBMITTED_PREFIX, submittedKey, taskKey } from '#project-server/coordinator/keys'
import { SUBMITTED_TASKS_MAX, SubmittedPage, type SubmittedTask } from '#project-server/coordinator/submitted-records'
import { decodeTaskRecord, type TaskRecord } from '#project-server/coordinator/task-records'
import type { Change } from '#project-server/ports'
import { type BatchId, parseTaskId, type TaskId } from '#protocol/ids'
import type { MemoryStore } from './store.ts'

type Records = Pick<MemoryStore, 'peek'>

/** Whoever checks asks for the same ones again and again; what is stored is never written to. */
const PAGES = new WeakMap<Uint8Array, SubmittedPage>()

/** Every task that a commit wrote, as it is after it. */
export function changedTasks(changes: readonly Change[]): readonly TaskRecord[] {
  const own = new Map<TaskId, TaskRecord>()
  const came: TaskRecord[] = []
  for (const { key, value } of changes) {
    if (value === null) continue
    if (key.startsWith(SUBMITTED_PREFIX)) for (const { record } of pageOf(key, value).tasks()) came.push(record)
    else if (key.startsWith('task/')) {
      const task = decodeTaskRecord(value)
      own.set(task.id, task)
    }
  }
  return came.length === 0 ? [...own.values()] : [...came.filter(({ id }) => !own.has(id)), ...own.values()]
}

/** All of a batch, by id, in no order. */
export function peekTasks(records: Pick<MemoryStore, 'keys' | 'peek'>, batch: BatchId): ReadonlyMap<TaskId, TaskRecord> {
  const tasks = new Map<TaskId, TaskRecord>()
  const read = (key: string): Uint8Array => records.peek(key) ?? new Uint8Array(0)
  for (const key of records.keys(`${SUBMITTED_PREFIX}${batch}.`)) for (const { record } of pageOf(key, read(key)).tasks()) tasks.set(record.id, record)
  for (const key of records.keys(`task/${batch}.`)) {
    const task = decodeTaskRecord(read(key))
    tasks.set(task.id, task)
  }
  return tasks
}

export function peekTask(records: Records, id: TaskId): TaskRecord | undefined {
  const own = parseTaskId(id) === undefined ? undefined : records.peek(taskKey(id))
  return own === undefined ? peekSubmitted(records, id)?.record : decodeTaskRecord(own)
}

/** Throws when it is missing. */
export function peekBundle(records: Records, task: TaskId, cid: string): StoredBundle {
  const found = peekSubmitted(records, task)
  return found?.record.bundle === cid ? found.bundle : peekTemplate(records, parseTaskId(task)?.batch ?? '', cid)
}

/** The same, of one that lies by itself. */
export function peekTemplate(records: Records, batch: BatchId, cid: string): StoredBundle {
  const bytes = records.peek(bundleKey(batch, cid))
  if (bytes === undefined) throw new Error(`the record of bundle ${cid} is missing`)
  return decodeBundleRecord(bytes)
}

/** How the task came. */
function peekSubmitted(records: Records, id: TaskId): SubmittedTask | undefined {
  const { batch, index } = parseTaskId(id) ?? { batch: '', index: -1 }
  for (let first = index; first >= 0 && first > index - SUBMITTED_TASKS_MAX; first--) {
    const key = submittedKey(batch, first)
    const page = records.peek(key)
    if (page !== undefined) return pageOf(key, page).at(index)
  }
  return undefined
}

function pageOf(key: string, bytes: Uint8Array): SubmittedPage {
  const page = PAGES.get(bytes) ?? new SubmittedPage(key, bytes)
  PAGES.set(bytes, page)
  return page
}
