/** Submissions and kills. */
import * as dagCbor from '@ipld/dag-cbor'
import type { RunManifest } from '#protocol/bundle/manifest'
import { encodeSweep, sweepCount } from '#protocol/bundle/sweep'
import { HOLDING_BYTES_MIN } from '#protocol/control/messages'
import { DEFAULT_CLIENT_SETTINGS } from '#protocol/owner/clients'
import { addBatch } from './batch.ts'
import { encodeBundleRecord, type StoredBundle } from './bundle-records.ts'
import { clientOf, quotaFault } from './clients.ts'
import type { AcceptedBundle, Aim, Event, Repeat } from './events.ts'
import { joinGroup } from './groups.ts'
import { hintWork } from './hints.ts'
import { bundleKey, nameKey, openKey, ownKey, recentKey } from './keys.ts'
import { needsAtFirst } from './memory.ts'
import type { Batch, Bundle, DataNeed, Task } from './model.ts'
import { type Lack, lackOf, needsOf } from './needs.ts'
import { BATCH_TASKS_MAX, DATA_NEEDS_MAX, LIVE_TASKS_MAX } from './policy.ts'
import { batchOver, sourcesRefusal, waitFor } from './sources.ts'
import type { State } from './state.ts'
import { encodeSweepRecord, killUnmade, makeNow, makerOf, sweepKey, unmade } from './sweeps.ts'
import { addTask } from './task.ts'
import { count } from './task-moves.ts'
import { kill } from './tasks.ts'

/** Why a submission cannot be accepted. */
export interface SubmitRefusal {
  readonly code: 'not_owner' | 'too_large' | 'quota' | 'unavailable' | 'not_found' | 'malformed' | 'unsuitable'
  readonly message: string
}

type Submit = Extract<Event, { kind: 'submit' }>

const TEXT = new TextEncoder()
const NOTHING = new Uint8Array(0)

export function submitRefusal(state: State, event: Submit): SubmitRefusal | undefined {
  const { batch: id, by, bundles } = event
  const batch = state.batches.get(id)
  if (batch === undefined && state.known.has(id)) return undefined
  if (batch !== undefined && batch.client.id !== by) return { code: 'not_owner', message: `batch ${id} belongs to another client` }
  if (batch !== undefined && !batch.open) return undefined
  const tasks = (batch?.tasks.length ?? 0) + bundles.length
  if (tasks > BATCH_TASKS_MAX) return { code: 'too_large', message: `a batch has at most ${BATCH_TASKS_MAX} tasks; submit the rest as another one` }
  const asked = event.sweep === undefined ? bundles.length : sweepCount(event.sweep.sweep)
  const quota = quotaFault(state, { by, tasks: asked, isNew: batch === undefined })
  if (quota !== undefined) return { code: 'quota', message: `${quota}, or have the limit raised (talko quota shows what you may)` }
  if (state.liveTasks + bundles.length > LIVE_TASKS_MAX)
    return {
      code: 'unavailable',
      message: `the project has ${state.liveTasks} undecided tasks, at most ${LIVE_TASKS_MAX} are kept; try again when some are done`
    }
  return memoryRefusal(event) ?? sourcesRefusal(state, event) ?? namedRefusal(state, event)
}

/** Another try with less would be no other try. */
function memoryRefusal({ bundles, sweep, policy: { retryMemoryBytes } }: Submit): SubmitRefusal | undefined {
  if (retryMemoryBytes === 0) return undefined
  let most = sweep?.template.manifest.resources.memoryBytes ?? 0
  for (const { manifest } of bundles) most = Math.max(most, manifest.resources.memoryBytes)
  if (retryMemoryBytes > most) return undefined
  return { code: 'malformed', message: `another try with ${retryMemoryBytes} bytes of memory has no more than the ${most} that the first has` }
}

const LACKS: Readonly<Record<Lack, string>> = {
  engine: 'it does not offer the engine',
  platform: 'it has another system or processor',
  tags: 'it has not the tags',
  reserved: 'it is kept for tasks that ask for its tag',
  private: "it takes its owner's tasks only",
  other_group: "it takes the tasks of other groups' clients",
  not_own: 'it is not yours, and only your own may run it',
  not_trusted: 'the project does not believe it yet',
  gpus: 'it has not the GPUs',
  other_class: 'it does not tell its processor',
  cpu: 'it lends fewer CPUs',
  memory: 'it lends less memory',
  disk: 'it lends less disk'
}

/** Nodes were named, and none of them can ever run one of the tasks, as far as they are known. One that never came may. */
function namedRefusal(state: State, { by, bundles, sweep, policy: { nodes, tags, sameClass, trust } }: Submit): SubmitRefusal | undefined {
  const named = nodes.map((id) => state.nodes.get(id)).filter((node) => node !== undefined)
  if (nodes.length === 0 || named.length < nodes.length) return undefined
  const client = state.clients.get(by) ?? { id: by, settings: DEFAULT_CLIENT_SETTINGS }
  // All tasks of a sweep need what its template does.
  for (const { manifest, platform } of sweep === undefined ? new Set(bundles) : [sweep.template]) {
    const needs = needsOf(manifest, platform)
    // Whether it is believed passes.
    const lacks = named.map(({ offer }) => lackOf({ offer, believed: true }, { needs, tags, client, sameClass, trust }))
    if (lacks.includes(undefined)) continue
    const [first] = named
    const others = named.length === 1 ? '' : `, nor can the ${named.length - 1} others that are named`
    return {
      code: 'unsuitable',
      message: `node ${first?.offer.name || first?.id} can never run it: ${LACKS[lacks[0] ?? 'engine']}${others}; name others, or ask for less`
    }
  }
  return undefined
}

/** Nothing | created, and staged with the last part. */
export function submit(state: State, event: Submit, nowMs: number): void {
  if (submitRefusal(state, event) === undefined) accept(state, event, nowMs)
}

/** The same whatever its client may: what the project itself has to run is never refused. */
export function accept(state: State, event: Submit, nowMs: number): void {
  const { batch: id } = event
  let batch = state.batches.get(id)
  if (state.known.has(id) && batch?.open !== true) return
  batch ??= open(state, event, nowMs)
  // A part that was sent again, because its answer was lost, has its tasks already.
  const from = event.from ?? batch.tasks.length
  if (from > batch.tasks.length) return
  if (event.sweep === undefined) for (const accepted of event.bundles.slice(batch.tasks.length - from)) create(state, batch, accepted, event, nowMs)
  state.out.batch(batch)
  if (event.more) return
  if (event.sweep !== undefined) beginSweep(state, batch, event.sweep, event)
  batch.open = false
  state.out.journal.batch(batch.id, 'submitted', `${batch.tasks.length} ${batch.tasks.length === 1 ? 'task' : 'tasks'}`)
  if (batch.waits === null) hintWork(state, batch)
  batch.stored.clear()
  for (const task of batch.tasks) {
    if (task.waits !== null) continue
    // Not written again: a record `created` in a batch that is complete means staged.
    task.state = 'staged'
    state.touched.add(task)
  }
  if (batch.tasks.size === 0 && batch.maker === null) closeEmpty(state, batch)
}

/** One task, some or the whole batch; what is terminal stays as it is. */
export function killEvent(state: State, event: Extract<Event, { kind: 'kill' }>, nowMs: number): void {
  const batch = state.batches.get(event.batch)
  if (batch === undefined) return
  if (event.task !== undefined || event.only !== undefined) {
    if (event.task !== undefined) makeNow(state, event.task, nowMs)
    else if (event.only === 'waiting') killUnmade(state, batch)
    for (const task of aimed(state, event)) kill(state, task, nowMs)
    if (!batch.open && batch.tasks.size === 0 && unmade(batch) === 0) closeEmpty(state, batch)
    return
  }
  batch.open = false
  state.out.batch(batch)
  const tasks = [...batch.tasks]
  killUnmade(state, batch)
  for (const task of tasks) kill(state, task, nowMs)
  if (tasks.length === 0) closeEmpty(state, batch)
}

/** The live tasks that a request is about. */
export function aimed(state: State, { batch, task: id, only }: Aim): Task[] {
  const named = id === undefined ? undefined : state.task(id)
  const all = id === undefined ? [...(state.batches.get(batch)?.tasks ?? [])] : named?.batch.id === batch ? [named] : []
  return only === undefined ? all : all.filter((task) => (task.state === 'created' || task.state === 'staged') === (only === 'waiting'))
}

/** The decoded form of a manifest, shared by all live tasks that name it. */
export function bundleOf(state: State, { cid, bytes, manifest, platform, data }: AcceptedBundle): Bundle {
  let bundle = state.bundles.get(cid)
  if (bundle !== undefined) return bundle
  const { resources, compareStdout, image, dependencies } = manifest
  const { timeMs, silenceMs = 0 } = resources
  const found = needsOf(manifest, platform)
  const needs = state.needs.get(found.key) ?? found
  state.needs.set(needs.key, needs)
  const atOnce = image === null && dependencies.length === 0
  bundle = {
    cid,
    needs,
    data: toChooseBy(data),
    timeMs,
    atOnce,
    bytes,
    silenceMs,
    compareStdout,
    leaf: null,
    users: 0,
    decidedFor: null,
    program: null
  }
  state.bundles.set(cid, bundle)
  return bundle
}

/** The largest of what is large enough, the largest first. */
function toChooseBy(data: readonly DataNeed[] = []): readonly DataNeed[] | null {
  const large = data.filter(({ bytes }) => bytes >= HOLDING_BYTES_MIN).sort((a, b) => b.bytes - a.bytes)
  return large.length === 0 ? null : large.slice(0, DATA_NEEDS_MAX)
}

/** A bundle as it is stored: it was checked when it was accepted. */
export function storedManifest(bytes: Uint8Array): RunManifest {
  return dagCbor.decode<RunManifest>(bytes)
}

/** A bundle as it was accepted. */
export function acceptedOf(cid: string, stored: StoredBundle): AcceptedBundle {
  return { cid, manifest: storedManifest(stored.bytes), ...stored }
}

function open(state: State, { batch: id, name, by, policy, seed }: Submit, nowMs: number): Batch {
  const order = state.nextOrder++
  const batch = addBatch(state, { id, name, client: clientOf(state, by), createdAtMs: nowMs, order, seed: seed >>> 0, policy })
  state.known.add(id)
  state.out.put(recentKey(order), TEXT.encode(id))
  state.out.put(ownKey(by, order), TEXT.encode(id))
  if (name !== '') state.out.put(nameKey({ by, name }, order), TEXT.encode(id))
  state.out.create(openKey(id), NOTHING)
  return batch
}

/** Nothing | a batch of tasks to be made, once what they take from others is over. Its only bundle is the template. */
function beginSweep(state: State, batch: Batch, { template, sweep }: NonNullable<Submit['sweep']>, { sources, ended }: Submit): void {
  const maker = makerOf(sweep, template.manifest, { ...(template.platform === undefined ? {} : { platform: template.platform }), data: template.data ?? [] })
  batch.maker = maker
  state.sweeps.add(batch)
  count(batch, 'created', maker.count)
  state.out.put(bundleKey(batch.id, template.cid), encodeBundleRecord(template))
  const takes = sources?.get(0)
  state.out.put(sweepKey(batch.id), encodeSweepRecord({ template: template.cid, sweep: encodeSweep(sweep), waits: takes !== undefined }))
  if (takes !== undefined) waitFor(state, batch, { template: template.cid, sources: takes }, ended)
}

function create(state: State, batch: Batch, accepted: AcceptedBundle, { sources: all, ended, repeats }: Submit, nowMs: number): void {
  const index = batch.tasks.length
  const sources = all?.get(index)
  // What takes something from others has its bundle only when they are ready.
  const repeat = sources === undefined ? repeats?.get(accepted.cid) : undefined
  const task = createTask(state, batch, { index, accepted, repeat, waits: sources !== undefined }, nowMs)
  if (sources !== undefined) waitFor(state, task, { template: accepted.cid, sources }, ended)
}

interface ToCreate {
  readonly index: number
  /** Its template, when it waits. */
  readonly accepted: AcceptedBundle
  readonly repeat?: Repeat | undefined
  /** It takes something from others: who adds it says what. */
  readonly waits: boolean
}

/** A task of this index, created. */
export function createTask(state: State, batch: Batch, { index, accepted, repeat, waits }: ToCreate, nowMs: number): Task {
  const bundle = bundleOf(state, accepted)
  const needs = needsAtFirst(state, batch, bundle, accepted.manifest)
  const group = joinGroup(state, batch, { bundle, needs })
  const task = addTask(state, {
    batch,
    index,
    bundle,
    group,
    needs,
    state: 'created',
    createdAtMs: nowMs,
    decision: repeat?.decision ?? null,
    repeats: repeat?.task ?? null
  })
  count(batch, 'created', 1)
  if (!waits) state.out.submitted(task, accepted)
  else if (!batch.stored.has(accepted.cid)) {
    batch.stored.add(accepted.cid)
    state.out.add(bundleKey(batch.id, accepted.cid), encodeBundleRecord(accepted))
  }
  if (waits || repeat !== undefined) state.out.task(task)
  return task
}

/** A batch whose last tasks ended without having been there. */
export function closeEmpty(state: State, batch: Batch): void {
  if (!state.batches.delete(batch.id)) return
  state.out.journal.batch(batch.id, 'over')
  batch.client.batches--
  if (batch.rechecks !== null) batch.client.rechecking--
  state.queueLimits.delete(batch)
  batchOver(state, batch)
  state.out.delete(openKey(batch.id))
}
