/**
 * Carries out the core's wish for a task's complete bundle, once all that it takes something from is over: what came out of
 * those is read from their durable records, looked for in the content store, and added to the manifest. What is gathered from
 * many tasks is one tree of what is here already: only directory blocks are new. Of a sweep that is its template, once for all
 * of its tasks.
 */
import { CID } from 'multiformats/cid'
import { ManifestError } from '#protocol/bundle/errors'
import { type Dependency, encodeManifest, manifestCidText, type RunManifest } from '#protocol/bundle/manifest'
import { GATHERED_MAX, gatheredName, type Source } from '#protocol/bundle/sources'
import { largestOf } from '#protocol/bundle/sweep'
import { type ContentStore, EMPTY_DIRECTORY } from '#protocol/content/content'
import { type BatchId, batchIdFrom, isBatchId, type PeerIdString, parseTaskId, type TaskId, taskId } from '#protocol/ids'
import { NONE } from '#protocol/lists'
import { clip } from './control/inbound.ts'
import { decodeBatchRecord } from './coordinator/batch-records.ts'
import { acceptedOf } from './coordinator/batches.ts'
import type { AcceptedBundle, Effect, Event, Repeat } from './coordinator/events.ts'
import { batchKey } from './coordinator/keys.ts'
import { decodeSourcesRecord, type SourcesRecord, sourcesKey } from './coordinator/sources-records.ts'
import { storedBundle, storedTask, storedTasks, templateOf } from './coordinator/stored-tasks.ts'
import { decodeSweepRecord, sweepKey } from './coordinator/sweeps.ts'
import type { TaskRecord } from './coordinator/task-records.ts'
import { type Taken, takeLost } from './lineage.ts'
import type { Logger } from './logger.ts'
import { makeFolder } from './owner/make.ts'
import { findRepeats, stillHere } from './owner/repeats.ts'
import { OwnerError } from './owner/request.ts'
import { dataOf } from './owner/sizes.ts'
import { AGAIN_MAX, COMPLETION_RETRY_MS, COMPLETIONS_MAX, DATA_NAME_CHARS_MAX } from './policy.ts'
import type { Clock, Random, Store } from './ports.ts'

type Completed = Extract<Event, { kind: 'completed' }>
type Submit = Extract<Event, { kind: 'submit' }>
type Asked = Extract<Effect, { kind: 'complete' | 'inputs' }>

export interface CompletionsPorts {
  readonly store: Pick<Store, 'get' | 'getMany' | 'range'>
  readonly content: Pick<ContentStore, 'check' | 'has' | 'locate' | 'resolve' | 'sizeOf' | 'getBlock' | 'putBlock' | 'pin'>
  readonly clock: Clock
  readonly logger: Logger
  readonly random: Random
  /** Events that follow one another are applied together. */
  readonly done: (...events: readonly Event[]) => void
}

const EMPTY = CID.parse(EMPTY_DIRECTORY)

/** Outputs of these tasks are needed, and are no longer here. */
class Lost extends Error {
  readonly tasks: ReadonlySet<TaskId>
  constructor(tasks: ReadonlySet<TaskId>) {
    super(`outputs of ${tasks.size} tasks are no longer here`)
    this.tasks = tasks
  }
}

/** An input cannot be had; the message is for the task's owner. */
class Missing extends Error {}

export class Completions {
  readonly #ports: CompletionsPorts
  /** Bounded by the tasks and sweeps that wait: each is asked for once. */
  readonly #waiting: Asked[] = []
  readonly #running = new Set<Promise<void>>()
  #stopped = false

  constructor(ports: CompletionsPorts) {
    this.#ports = ports
  }

  /** To complete a bundle, or to look whether what it is made from is still here; what is not is computed again. */
  ask(asked: Asked): void {
    this.#waiting.push(asked)
    this.#next()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#running)
  }

  #next(): void {
    while (this.#running.size < COMPLETIONS_MAX && !this.#stopped) {
      const asked = this.#waiting.shift()
      if (asked === undefined) return
      const run = this.#run(asked).finally(() => {
        this.#running.delete(run)
        this.#next()
      })
      this.#running.add(run)
    }
  }

  async #run(asked: Asked): Promise<void> {
    const { kind, task } = asked
    let events: readonly Event[]
    try {
      events = await (kind === 'complete' ? this.#answer(task) : this.#looked(task))
    } catch (error) {
      if (!(error instanceof Missing || error instanceof ManifestError || (error instanceof OwnerError && error.code === 'too_large'))) {
        this.#again(asked, error)
        return
      }
      const { message } = error
      events = [kind === 'complete' ? { kind: 'completed', task, bundle: null, message } : { kind: 'inputs', task, lost: false, through: NONE, message }]
    }
    if (!this.#stopped) this.#ports.done(...events)
  }

  /** What a complete bundle names is here, or was lost after it was complete. */
  async #looked(task: TaskId): Promise<readonly Event[]> {
    const { store, content, logger } = this.#ports
    const { batch } = parseTaskId(task) ?? { batch: '' }
    const [of, own, taken] = await Promise.all([store.get(batchKey(batch)), storedTask(store, task), store.get(sourcesKey(task))])
    if (of === undefined || own === undefined) throw new Missing(`task ${task} is not known any more`)
    const complete = await this.#bundleOf(task, own.bundle)
    const { manifest } = complete
    const roots = [...manifest.dependencies.map(({ root }) => root), ...(manifest.image === null ? [] : [manifest.image])]
    const here = await Promise.all(roots.map((root) => content.check(root)))
    if (here.every(Boolean)) return [{ kind: 'inputs', task, lost: false, through: NONE, message: '' }]
    // What was taken from tasks is looked for at those: of many it is one folder, which no task left and is made again here.
    const takes = taken === undefined ? undefined : decodeSourcesRecord(taken)
    const lost = takes === undefined ? new Set<TaskId>() : await this.#lostOf(task, takes)
    const bare = takes === undefined ? complete : await this.#template(batch, takes.template)
    const why = 'an input is no longer here, and it cannot be computed again'
    for (const { of: left } of (await this.#taken(bare, decodeBatchRecord(of).by, why)).list) lost.add(left)
    logger.warn({ task, lost: lost.size }, 'inputs of a task that waits are no longer here: they are computed again')
    const { submits, through } = await this.#computeAgain(lost)
    return [...submits, { kind: 'inputs', task, lost: true, through, message: '' }]
  }

  /** Tasks whose outputs this one takes and that are gone. */
  async #lostOf(task: TaskId, takes: SourcesRecord): Promise<Set<TaskId>> {
    try {
      await this.#complete(task, takes)
      return new Set()
    } catch (error) {
      if (!(error instanceof Lost)) throw error
      return new Set(error.tasks)
    }
  }

  async #answer(task: TaskId | BatchId): Promise<readonly Event[]> {
    const record = await this.#ports.store.get(sourcesKey(task))
    if (record === undefined) throw new Error(`the record of what ${task} takes from others is missing`)
    const takes = decodeSourcesRecord(record)
    try {
      return [await this.#complete(task, takes)]
    } catch (error) {
      if (!(error instanceof Lost)) throw error
      this.#ports.logger.warn({ task, lost: error.tasks.size }, 'outputs that a task takes are no longer here: they are computed again')
      const { submits, through } = await this.#computeAgain(error.tasks)
      return [...submits, { kind: 'again', task, template: takes.template, through }]
    }
  }

  /** `through`: the tasks that do it. */
  async #computeAgain(lost: ReadonlySet<TaskId>): Promise<{ readonly submits: readonly Submit[]; readonly through: readonly TaskId[] }> {
    const submits = await Promise.all([...lost].map((one) => this.#submitAgain(one)))
    return { submits, through: submits.map(({ batch }) => taskId(batch, 0)) }
  }

  async #bundleOf(task: TaskId, cid: string): Promise<AcceptedBundle> {
    return acceptedOf(cid, await storedBundle(this.#ports.store, task, cid))
  }

  async #template(batch: BatchId, cid: string): Promise<AcceptedBundle> {
    return acceptedOf(cid, await templateOf(this.#ports.store, batch, cid))
  }

  /** A batch that computes a task once more; what that one took from others it takes again, so that they are looked for in their turn. */
  async #submitAgain(id: TaskId): Promise<Submit> {
    const { store, random } = this.#ports
    const { batch, index } = parseTaskId(id) ?? { batch: '', index: 0 }
    const [of, task, taken] = await Promise.all([store.get(batchKey(batch)), storedTask(store, id), store.get(sourcesKey(id))])
    if (of === undefined || task === undefined) throw new Missing(`task ${id} is not known any more, and its output is not here`)
    const { by, policy, name } = decodeBatchRecord(of)
    const record = taken === undefined ? undefined : decodeSourcesRecord(taken)
    const list = record?.sources.list.filter(({ part }) => part !== 'after').map((source) => outside(source, batch)) ?? []
    const template = list.length > 0 && list.every((source) => source !== undefined) ? (record?.template ?? '') : task.bundle
    const own = await this.#bundleOf(id, template)
    const known = template === record?.template ? list.filter((source) => source !== undefined) : []
    const why = `the output of task ${id} is no longer here, and it cannot be computed again`
    const { bundle, list: more } = await this.#taken(own, by, why)
    const sources = [...known, ...more]
    const takes =
      sources.length === 0
        ? {}
        : {
            sources: new Map([[0, { allowFailed: record?.sources.allowFailed ?? false, list: sources }]]),
            ended: new Map(sources.map((source) => [source.of, null]))
          }
    const seed = Buffer.from(random.bytes(4)).readUInt32BE()
    const head = { batch: batchIdFrom(random.bytes(16)), name: clip(`${name === '' ? batch : name}.${index} again`, DATA_NAME_CHARS_MAX) }
    return { kind: 'submit', ...head, by, bundles: [bundle], policy, more: false, seed, ...takes }
  }

  /** What it was given as data may be gone, too. `why`: what follows when nobody can compute that again. */
  async #taken(bundle: AcceptedBundle, by: PeerIdString, why: string): Promise<Taken> {
    try {
      return await takeLost(bundle, by, this.#ports)
    } catch (error) {
      if (!(error instanceof OwnerError && error.code === 'missing_content')) throw error
      throw new Missing(`${why}: ${error.message}`)
    }
  }

  /** The disk may have room again, or the store be back. */
  #again(asked: Asked, error: unknown): void {
    if (this.#stopped) return
    this.#ports.logger.warn({ task: asked.task, err: error }, 'what a task takes from others could not be put together; trying again')
    this.#ports.clock.after(COMPLETION_RETRY_MS, () => {
      if (!this.#stopped) this.ask(asked)
    })
  }

  async #complete(task: TaskId | BatchId, { template, sources }: SourcesRecord): Promise<Completed> {
    const { batch, index } = parseTaskId(task) ?? { batch: task, index: 0 }
    const bare = await this.#template(batch, template)
    const { manifest } = bare
    const dependencies: Dependency[] = [...manifest.dependencies]
    const lost = new Set<TaskId>()
    for (const source of sources.list) {
      if (source.part === 'after') continue
      const dependency = source.part === 'all' ? await this.#gathered(source, { batch, index, lost }) : await this.#single(source, { batch, lost })
      if (dependency !== undefined) dependencies.push(dependency)
      else if (!sources.allowFailed) throw new Missing(`input ${source.name}: task ${taskOf(source, batch)} left no ${source.part}`)
    }
    if (lost.size > 0) {
      const before = sources.list.filter(({ name, of }) => name === '' && of !== '').length
      if (before + lost.size > AGAIN_MAX)
        throw new Missing(`outputs of ${[...lost].slice(0, 3).join(', ')} are no longer here, though they were computed again`)
      throw new Lost(lost)
    }
    const complete: RunManifest = { ...manifest, dependencies }
    const bytes = encodeManifest(complete)
    const bundle = { ...bare, cid: manifestCidText(bytes), bytes, manifest: complete, data: dataOf(complete, this.#ports.content) }
    if (!isBatchId(task)) return { kind: 'completed', task, bundle, message: '', repeat: await this.#repeatOf(batch, bundle) }
    await this.#checkTemplate(batch, complete)
    return { kind: 'completed', task, bundle, message: '' }
  }

  /** With what it takes from others the template is larger: what is made from it are manifests still. Throws ManifestError. */
  async #checkTemplate(batch: BatchId, template: RunManifest): Promise<void> {
    const record = await this.#ports.store.get(sweepKey(batch))
    if (record === undefined) throw new Error(`the record of sweep ${batch} is missing`)
    for (const manifest of largestOf(template, decodeSweepRecord(record).sweep)) encodeManifest(manifest)
  }

  /** What was decided of it before, like that of a bundle that is submitted. */
  async #repeatOf(batch: BatchId, bundle: AcceptedBundle): Promise<Repeat | undefined> {
    const { store, content } = this.#ports
    const record = await store.get(batchKey(batch))
    if (record === undefined) throw new Error(`the record of batch ${batch} is missing`)
    const { by, policy } = decodeBatchRecord(record)
    return stillHere(await findRepeats({ by, policy, bundles: [bundle] }, { store, content }), content).get(bundle.cid)
  }

  /** Undefined when the task left nothing that is kept, or no such file although it failed. */
  async #single(source: Source, { batch, lost }: { readonly batch: BatchId; readonly lost: Set<TaskId> }): Promise<Dependency | undefined> {
    const { content, store } = this.#ports
    const id = taskOf(source, batch)
    const record = await storedTask(store, id)
    // One of a sweep that was killed before it was made.
    if (record === undefined) return undefined
    const text = partsOf(record)[source.part === 'stdout' ? 'stdout' : 'output']
    if (text === undefined) return undefined
    const root = CID.parse(text)
    if (!(await content.check(root))) lost.add(id)
    else if (source.path !== '' && content.locate(root, source.path) === undefined) {
      if (record.state !== 'ready') return undefined
      throw new Missing(`input ${source.name}: the output of task ${id} has no ${source.path}`)
    }
    return { name: source.name, root, path: source.path, executables: [] }
  }

  async #gathered(
    source: Source,
    { batch, index, lost }: { readonly batch: BatchId; readonly index: number; readonly lost: Set<TaskId> }
  ): Promise<Dependency> {
    const { store } = this.#ports
    const { name, of } = source
    const from = of === '' ? taskId(batch, source.from) : isBatchId(of) ? taskId(of, 0) : of
    const count = of === '' ? Math.min(source.count, index) : isBatchId(of) ? await this.#tasksOf(of) : 1
    if (count > GATHERED_MAX) throw new Missing(`input ${name}: ${of} has ${count} tasks, at most ${GATHERED_MAX} can be gathered`)
    const entries: { path: string; root: CID }[] = []
    const first = parseTaskId(from) ?? { batch, index: 0 }
    let at = 0
    for await (const { record } of storedTasks(store, first.batch, { from: first.index, limit: count })) {
      const { output, stdout } = partsOf(record)
      const path = gatheredName(at++, count)
      for (const [part, text] of [
        ['out', output],
        ['stdout', stdout]
      ] as const) {
        if (text === undefined) continue
        const root = CID.parse(text)
        if (!(await this.#ports.content.check(root))) lost.add(record.id)
        entries.push({ path: `${path}/${part}`, root })
      }
    }
    const root = lost.size > 0 ? EMPTY : (await makeFolder(entries, this.#ports.content)).cid
    return { name, root, path: '', executables: [] }
  }

  async #tasksOf(batch: BatchId): Promise<number> {
    const bytes = await this.#ports.store.get(batchKey(batch))
    return bytes === undefined ? 0 : decodeBatchRecord(bytes).tasks
  }
}

/** CIDs of what is kept of a task that is over. */
function partsOf({ decision }: TaskRecord): { readonly output?: string; readonly stdout?: string } {
  return decision?.held === true ? { output: decision.output, stdout: decision.stdout } : {}
}

/** The same source seen from another batch; undefined for several tasks of its own. */
function outside(source: Source, batch: BatchId): Source | undefined {
  if (source.of !== '') return source
  return source.count === 1 ? { ...source, of: taskId(batch, source.from), from: 0, count: 0 } : undefined
}

function taskOf({ of, from }: Source, batch: BatchId): TaskId {
  return of === '' ? taskId(batch, from) : of
}
