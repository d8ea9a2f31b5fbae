/**
 * Carries out the core's wish for a task's complete bundle, once all that it takes something from is over: what came out of
 * those is read from their durable records, looked for in the content store, and added to the manifest. What is gathered from
 * many tasks is one tree of what is here already: only directory blocks are new.
 */
import { CID } from 'multiformats/cid'
import { ManifestError } from '#protocol/bundle/errors'
import { type Dependency, encodeManifest, manifestCidText, type RunManifest } from '#protocol/bundle/manifest'
import { GATHERED_MAX, gatheredName, type Source } from '#protocol/bundle/sources'
import type { ContentStore } from '#protocol/content/content'
import { type BatchId, isBatchId, parseTaskId, type TaskId, taskId } from '#protocol/ids'
import { storedManifest } from './coordinator/batches.ts'
import type { Effect, Event } from './coordinator/events.ts'
import { batchKey, bundleKey, decodeBatchRecord, decodeBundleRecord, decodeTaskRecord, factsOfBundle, type TaskRecord, taskKey } from './coordinator/records.ts'
import { decodeSourcesRecord, sourcesKey } from './coordinator/sources-records.ts'
import type { Logger } from './logger.ts'
import { makeFolder } from './owner/make.ts'
import { OwnerError } from './owner/request.ts'
import { dataOf } from './owner/sizes.ts'
import { COMPLETION_RETRY_MS, COMPLETIONS_MAX } from './policy.ts'
import type { Clock, Store } from './ports.ts'

type Completed = Extract<Event, { kind: 'completed' }>

export interface CompletionsPorts {
  readonly store: Pick<Store, 'get' | 'range'>
  readonly content: Pick<ContentStore, 'has' | 'locate' | 'resolve' | 'sizeOf' | 'getBlock' | 'putBlock' | 'pin'>
  readonly clock: Clock
  readonly logger: Logger
  readonly done: (event: Completed) => void
}

/** An input cannot be had; the message is for the task's owner. */
class Missing extends Error {}

export class Completions {
  readonly #ports: CompletionsPorts
  /** Bounded by the tasks that wait: each is asked for once. */
  readonly #waiting: TaskId[] = []
  readonly #running = new Set<Promise<void>>()
  #stopped = false

  constructor(ports: CompletionsPorts) {
    this.#ports = ports
  }

  complete({ task }: Extract<Effect, { kind: 'complete' }>): void {
    this.#waiting.push(task)
    this.#next()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await Promise.all(this.#running)
  }

  #next(): void {
    while (this.#running.size < COMPLETIONS_MAX && !this.#stopped) {
      const task = this.#waiting.shift()
      if (task === undefined) return
      const run = this.#run(task).finally(() => {
        this.#running.delete(run)
        this.#next()
      })
      this.#running.add(run)
    }
  }

  async #run(task: TaskId): Promise<void> {
    let event: Completed
    try {
      event = await this.#complete(task)
    } catch (error) {
      if (!(error instanceof Missing || error instanceof ManifestError || (error instanceof OwnerError && error.code === 'too_large'))) {
        this.#again(task, error)
        return
      }
      event = { kind: 'completed', task, bundle: null, message: error.message }
    }
    if (!this.#stopped) this.#ports.done(event)
  }

  /** The disk may have room again, or the store be back. */
  #again(task: TaskId, error: unknown): void {
    if (this.#stopped) return
    this.#ports.logger.warn({ task, err: error }, 'what a task takes from others could not be put together; trying again')
    this.#ports.clock.after(COMPLETION_RETRY_MS, () => {
      if (!this.#stopped) this.complete({ kind: 'complete', task })
    })
  }

  async #complete(task: TaskId): Promise<Completed> {
    const { batch, index } = parseTaskId(task) ?? { batch: '', index: 0 }
    const record = await this.#ports.store.get(sourcesKey(task))
    if (record === undefined) throw new Error(`the record of what task ${task} takes from others is missing`)
    const { template, sources } = decodeSourcesRecord(record)
    const stored = await this.#ports.store.get(bundleKey(batch, template))
    if (stored === undefined) throw new Error(`the record of bundle ${template} is missing`)
    const manifest = storedManifest(decodeBundleRecord(stored))
    const dependencies: Dependency[] = [...manifest.dependencies]
    for (const source of sources.list) {
      if (source.part === 'after') continue
      const dependency = source.part === 'all' ? await this.#gathered(source, batch, index) : await this.#single(source, batch)
      if (dependency !== undefined) dependencies.push(dependency)
      else if (!sources.allowFailed) throw new Missing(`input ${source.name}: task ${taskOf(source, batch)} left no ${source.part}`)
    }
    const complete: RunManifest = { ...manifest, dependencies }
    const bytes = encodeManifest(complete)
    const bundle = { cid: manifestCidText(bytes), bytes, manifest: complete, ...factsOfBundle(stored), data: dataOf(complete, this.#ports.content) }
    return { kind: 'completed', task, bundle, message: '' }
  }

  /** Undefined when the task left nothing that is kept, or no such file although it failed. */
  async #single(source: Source, batch: BatchId): Promise<Dependency | undefined> {
    const { content, store } = this.#ports
    const id = taskOf(source, batch)
    const bytes = await store.get(taskKey(id))
    if (bytes === undefined) throw new Missing(`input ${source.name}: there is no task ${id}`)
    const record = decodeTaskRecord(bytes)
    const text = partsOf(record)[source.part === 'stdout' ? 'stdout' : 'output']
    if (text === undefined) return undefined
    const root = CID.parse(text)
    this.#mustHave(root, `input ${source.name}: the ${source.part} of task ${id}`)
    if (source.path !== '' && content.locate(root, source.path) === undefined) {
      if (record.state !== 'ready') return undefined
      throw new Missing(`input ${source.name}: the output of task ${id} has no ${source.path}`)
    }
    return { name: source.name, root, path: source.path, executables: [] }
  }

  async #gathered(source: Source, batch: BatchId, index: number): Promise<Dependency> {
    const { store } = this.#ports
    const { name, of } = source
    const from = of === '' ? taskId(batch, source.from) : isBatchId(of) ? taskId(of, 0) : of
    const count = of === '' ? Math.min(source.count, index) : isBatchId(of) ? await this.#tasksOf(of) : 1
    if (count > GATHERED_MAX) throw new Missing(`input ${name}: ${of} has ${count} tasks, at most ${GATHERED_MAX} can be gathered`)
    const entries: { path: string; root: CID }[] = []
    const prefix = from.slice(0, from.indexOf('.'))
    let at = 0
    for await (const [, value] of store.range(taskKey(from), `task/${prefix}.~`, { limit: count })) {
      const { output, stdout } = partsOf(decodeTaskRecord(value))
      const path = gatheredName(at++, count)
      for (const [part, text] of [
        ['out', output],
        ['stdout', stdout]
      ] as const) {
        if (text === undefined) continue
        const root = CID.parse(text)
        this.#mustHave(root, `input ${name}: what a task of ${prefix} left`)
        entries.push({ path: `${path}/${part}`, root })
      }
    }
    const { cid } = await makeFolder(entries, this.#ports.content)
    return { name, root: cid, path: '', executables: [] }
  }

  async #tasksOf(batch: BatchId): Promise<number> {
    const bytes = await this.#ports.store.get(batchKey(batch))
    return bytes === undefined ? 0 : decodeBatchRecord(bytes).tasks
  }

  #mustHave(root: CID, what: string): void {
    if (!this.#ports.content.has(root)) throw new Missing(`${what} is no longer here`)
  }
}

/** CIDs of what is kept of a task that is over. */
function partsOf({ decision }: TaskRecord): { readonly output?: string; readonly stdout?: string } {
  return decision?.held === true ? { output: decision.output, stdout: decision.stdout } : {}
}

function taskOf({ of, from }: Source, batch: BatchId): TaskId {
  return of === '' ? taskId(batch, from) : of
}
