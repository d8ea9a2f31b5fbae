import { CID } from 'multiformats/cid'
import { decodeBatchRecord } from '#project-server/coordinator/batch-records'
import { acceptedOf } from '#project-server/coordinator/batches'
import type { Earned } from '#project-server/coordinator/credit'
import type { Effect, Event } from '#project-server/coordinator/events'
import { batchKey, revisedKey } from '#project-server/coordinator/keys'
import { creditKey } from '#project-server/coordinator/ledger'
import { decodeSourcesRecord, sourcesKey } from '#project-server/coordinator/sources-records'
import type { TaskRecord } from '#project-server/coordinator/task-records'
import { earnedIn, isSettled, pageOf, recheckOf } from '#project-server/rechecks'
import { decodeManifest, encodeManifest, manifestCid } from '#protocol/bundle/manifest'
import { type BatchId, parseTaskId, type TaskId } from '#protocol/ids'
import type { MemoryStore } from '../../sim/store.ts'
import { peekBundle, peekTask, peekTemplate } from '../../sim/stored-tasks.ts'
import { outputOf } from './coordinator-parts.ts'

/** What the shell reads for a wish and answers with. */
export function recheckFrom(
  store: MemoryStore,
  wish: Extract<Effect, { kind: 'recheck' }>,
  drawn: { batch: BatchId; seed: number }
): Extract<Event, { kind: 'recheck' }> {
  const read = (key: string): Uint8Array => {
    const bytes = store.peek(key)
    if (bytes === undefined) throw new Error(`${key} is missing`)
    return bytes
  }
  const taskOf = (id: TaskId): TaskRecord => {
    const task = peekTask(store, id)
    if (task === undefined) throw new Error(`${id} is missing`)
    return task
  }
  const open = wish.tasks.filter(({ task }) => !isSettled(store.peek(revisedKey(task))))
  const tasks = new Map(open.map(({ task }) => [task, taskOf(task)]))
  const bundles = new Map([...tasks.values()].map((task) => [task.bundle, acceptedOf(task.bundle, peekBundle(store, task.id, task.bundle))]))
  const earned = new Map<TaskId, Earned>()
  for (const { task, node } of open) {
    const page = store.peek(creditKey(pageOf(tasks.get(task) as TaskRecord, node)))
    const got = page === undefined ? undefined : earnedIn(page, task, node)
    if (got !== undefined) earned.set(task, got)
  }
  return recheckOf(wish, { batch: decodeBatchRecord(read(batchKey(wish.batch))), tasks, bundles, earned }, drawn)
}

/** What the shell answers when all sources of a task or sweep are over: their outputs as inputs, a folder of many as one root. */
export function completion(store: MemoryStore, task: TaskId | BatchId): Extract<Event, { kind: 'completed' }> {
  const { template, sources } = decodeSourcesRecord(store.peek(sourcesKey(task)) ?? new Uint8Array())
  const batch = parseTaskId(task)?.batch ?? task
  const manifest = decodeManifest(peekTemplate(store, batch, template).bytes)
  const dependencies = [...manifest.dependencies]
  for (const { name, of, from, part, path } of sources.list) {
    if (part === 'after') continue
    if (part === 'all') {
      dependencies.push({ name, root: outputOf(`all for ${task}`), path: '', executables: [] })
      continue
    }
    // One of a sweep that was never made has no record.
    const record = peekTask(store, of === '' ? `${batch}.${from}` : of)
    if (record?.decision?.held === true) dependencies.push({ name, root: CID.parse(record.decision.output), path, executables: [] })
    else if (!sources.allowFailed) throw new Error(`${task} is completed before ${of} is ready`)
  }
  const complete = { ...manifest, dependencies }
  const bytes = encodeManifest(complete)
  return { kind: 'completed', task, bundle: { cid: manifestCid(bytes).toString(), bytes, manifest: complete }, message: '' }
}
