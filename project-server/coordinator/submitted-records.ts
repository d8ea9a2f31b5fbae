/**
 * `submitted/<batch>.<index of the first, 9 digits>`: tasks as they came, those of one commit that lie in a row, each with its
 * bundle. A record of the store costs more than what is in it: so a task has one of its own (`task/`) from its first change
 * on. What waits for other tasks has that from the beginning, and a bundle that tasks are made from lies by itself.
 */
import { type BatchId, taskId } from '#protocol/ids'
import { NONE } from '#protocol/lists'
import type { Change } from '../ports.ts'
import { type BundleRow, bundleFields, bundleOfRow, type StoredBundle, writeBundle } from './bundle-records.ts'
import type { AcceptedBundle } from './events.ts'
import { SUBMITTED_PREFIX, submittedKey } from './keys.ts'
import type { Task } from './model.ts'
import { decodeRecord, RECORD_VERSION } from './record-version.ts'
import { WRITER } from './record-writer.ts'
import type { TaskState } from './states.ts'
import type { TaskRecord } from './task-records.ts'

/** Whoever looks for one of them reads all: about 30 KB. */
export const SUBMITTED_TASKS_MAX = 64
/** Of manifests; one that is larger, or the last, may go beyond. */
const SUBMITTED_BYTES_MAX = 64 * 1024

interface Page {
  readonly first: Task
  readonly rows: { readonly task: Task; readonly accepted: AcceptedBundle }[]
  bytes: number
}

/** Gathers those of one commit. */
export class SubmittedTasks {
  #pages: Page[] = []

  /** A task that came, and waits for no other. */
  add(task: Task, accepted: AcceptedBundle): void {
    let page = this.#pages.at(-1)
    if (page === undefined || !isNext(page, task)) {
      page = { first: task, rows: [], bytes: 0 }
      this.#pages.push(page)
    }
    page.rows.push({ task, accepted })
    page.bytes += accepted.bytes.length
  }

  take(): Change[] {
    if (this.#pages.length === 0) return []
    const changes = this.#pages.map((page) => ({ key: submittedKey(page.first.batch.id, page.first.index), value: encodePage(page) }))
    this.#pages = []
    return changes
  }
}

function isNext({ first, rows, bytes }: Page, task: Task): boolean {
  const isFull = rows.length >= SUBMITTED_TASKS_MAX || bytes >= SUBMITTED_BYTES_MAX
  return !isFull && task.batch === first.batch && task.index === first.index + rows.length && task.createdAtMs === first.createdAtMs
}

function encodePage({ first, rows }: Page): Uint8Array {
  // Tasks of a batch are staged together; one that went further has its own record.
  const isStaged = rows.every(({ task }) => task.state !== 'created')
  WRITER.list(3 + rows.length)
    .int(RECORD_VERSION)
    .int(first.createdAtMs)
    .flag(isStaged)
  for (const [at, { task, accepted }] of rows.entries()) {
    const same = task.bundle.users > 1 ? rows.findIndex(({ accepted: { cid } }) => cid === accepted.cid) : at
    if (same < at) WRITER.int(same)
    else {
      WRITER.list(1 + bundleFields(accepted)).text(accepted.cid)
      writeBundle(accepted)
    }
  }
  return WRITER.done()
}

type Row = [cid: string, ...BundleRow]

/** One of a page: how it came, and its bundle. */
export interface SubmittedTask {
  readonly index: number
  readonly record: TaskRecord
  readonly bundle: StoredBundle
}

export class SubmittedPage {
  readonly #batch: BatchId
  readonly #first: number
  readonly #createdAtMs: number
  readonly #state: TaskState
  readonly #rows: readonly (Row | number)[]

  /** Throws when the bytes are not a record that this version wrote: the store is corrupt. */
  constructor(key: string, bytes: Uint8Array) {
    const [createdAtMs, isStaged, ...rows] = decodeRecord<[number, boolean, ...(Row | number)[]]>('submitted', bytes)
    const dot = key.lastIndexOf('.')
    this.#batch = key.slice(SUBMITTED_PREFIX.length, dot)
    this.#first = Number(key.slice(dot + 1))
    this.#createdAtMs = createdAtMs
    this.#state = isStaged ? 'staged' : 'created'
    this.#rows = rows
  }

  /** From this index on. */
  *tasks(from = this.#first): Generator<SubmittedTask, void, undefined> {
    for (let index = Math.max(from, this.#first); index < this.#first + this.#rows.length; index++) {
      const task = this.at(index)
      if (task !== undefined) yield task
    }
  }

  /** Undefined when it is not here. */
  at(index: number): SubmittedTask | undefined {
    const found = this.#rows[index - this.#first]
    const row = typeof found === 'number' ? this.#rows[found] : found
    if (row === undefined || typeof row === 'number') return undefined
    const [bundle, ...fields] = row
    const record: TaskRecord = {
      id: taskId(this.#batch, index),
      bundle,
      createdAtMs: this.#createdAtMs,
      startedAtMs: null,
      endedAtMs: null,
      state: this.#state,
      failure: null,
      decision: null,
      outputLosses: 0,
      replicas: NONE,
      held: null,
      repeats: null
    }
    return { index, record, bundle: bundleOfRow(fields) }
  }
}
