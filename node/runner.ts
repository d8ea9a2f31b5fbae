/** Carries out what the agent decided about replicas: prepare, start, kill, publish, clean, remove. Answers with events. */
import { ManifestError } from '#protocol/bundle/errors'
import type { Engine, RunManifest } from '#protocol/bundle/manifest'
import { ContentError, type ContentStore } from '#protocol/content/content'
import type { ReplicaId } from '#protocol/ids'
import { ImageError } from '#protocol/image/errors'
import { HostError, StreamError } from '#protocol/peer/host'
import type { AgentEvent, CheckedLease, Fault } from './agent/events.ts'
import { fetchInputs, type InputsPorts, locateInputs } from './inputs.ts'
import { type KeptContent, NOTHING_LEFT } from './kept.ts'
import { type Execution, type Executor, ExecutorError, type Logger, type Running, type Workspace } from './ports.ts'

export interface RunnerPorts {
  readonly executors: ReadonlyMap<Engine, Executor>
  readonly store: ContentStore
  readonly kept: KeptContent
  readonly workspace: Workspace
  readonly inputs: InputsPorts
  readonly logger: Logger
  readonly onEvent: (event: AgentEvent) => void
  readonly onEngineDown: (error: ExecutorError) => void
}

interface Work {
  readonly abort: AbortController
  readonly before: Promise<void> | undefined
  readonly todo: (signal: AbortSignal) => Promise<void>
}

/** What is known of one replica from its start, or the wish to end it, until it is removed. */
class Run {
  /** Resolves when the executor has started it, or could not. */
  started: Promise<void> | undefined
  running: Running | undefined
  /** Asked to be killed, perhaps before it runs. */
  graceMs: number | undefined
  /** Its executor knows where its folder is: there may be one. */
  folderTold = true
}

/** Notes when its executor asks for the folder. */
class Watched implements Execution {
  readonly replica: ReplicaId
  readonly manifest: RunManifest
  readonly inputs: Execution['inputs']
  readonly #run: Run
  readonly #workspace: Workspace

  constructor({ replica, manifest, inputs }: Omit<Execution, 'folder'>, run: Run, workspace: Workspace) {
    this.replica = replica
    this.manifest = manifest
    this.inputs = inputs
    this.#run = run
    this.#workspace = workspace
    run.folderTold = false
  }

  get folder(): string {
    this.#run.folderTold = true
    return this.#workspace.pathOf(this.replica)
  }
}

export class Runner {
  readonly #ports: RunnerPorts
  /** Preparing and publishing, each of which can be given up. */
  readonly #atWork = new Map<ReplicaId, { readonly abort: AbortController; readonly over: Promise<void> }>()
  readonly #runs = new Map<ReplicaId, Run>()
  readonly #removing = new Set<Promise<void>>()

  constructor(ports: RunnerPorts) {
    this.#ports = ports
  }

  prepare(replica: ReplicaId, manifest: RunManifest): void {
    this.#work(replica, async (signal) => {
      const { inputs } = this.#ports
      const executor = this.#executor(manifest)
      if (manifest.image !== null || manifest.dependencies.length > 0) await fetchInputs(inputs, manifest, signal)
      await executor.prepare(manifest, signal)
      signal.throwIfAborted()
      this.#ports.onEvent({ kind: 'prepared', replica })
    })
  }

  publish(replica: ReplicaId, manifest: RunManifest): void {
    if (this.#leftNothing(replica)) {
      this.#ports.onEvent({ kind: 'published', replica, published: NOTHING_LEFT })
      return
    }
    this.#work(replica, async (signal) => {
      const published = await this.#ports.kept.publish(replica, { diskBytes: manifest.resources.diskBytes, signal })
      signal.throwIfAborted()
      this.#ports.onEvent({ kind: 'published', replica, published })
    })
  }

  /** Gives up preparing or publishing: a download stops within moments. */
  abandon(replica: ReplicaId): void {
    this.#atWork.get(replica)?.abort.abort(new Error('given up'))
  }

  kill(replica: ReplicaId, graceMs: number): void {
    const run = this.#runOf(replica)
    run.graceMs = graceMs
    run.running?.kill(graceMs).catch((error: unknown) => this.#complain(replica, 'kill', error))
  }

  start(replica: ReplicaId, manifest: RunManifest): void {
    const run = this.#runOf(replica)
    if (run.started === undefined && run.running === undefined) run.started = this.#start(replica, manifest, run)
  }

  /** After the node's own restart: finds what still runs or ended unseen. Throws ExecutorError when an engine does not answer. */
  async recover(leases: readonly CheckedLease[]): Promise<ReadonlySet<ReplicaId>> {
    const found = new Set<ReplicaId>()
    for (const executor of this.#ports.executors.values()) {
      const mine = leases.filter(({ manifest }) => manifest.engine === executor.engine)
      const running = await executor.recover(mine.flatMap((lease) => this.#executionOf(lease)))
      for (const [replica, run] of running) {
        found.add(replica)
        this.#attach(replica, run, this.#runOf(replica))
      }
    }
    return found
  }

  /** Ends everything of this node but these. Throws ExecutorError when an engine does not answer. */
  async sweep(keep: ReadonlySet<ReplicaId>): Promise<void> {
    for (const executor of this.#ports.executors.values()) await executor.sweep(keep)
  }

  /** What the engine still has of a reported replica. */
  clean({ replica, manifest }: CheckedLease): void {
    const run = this.#runs.get(replica)
    if (run !== undefined) run.running = undefined
    void this.#removeRun(replica, manifest)
  }

  remove(replica: ReplicaId, began: CheckedLease | null): void {
    if (began === null && this.#leftNothing(replica)) {
      this.#runs.delete(replica)
      return
    }
    const removed = this.#remove(replica, began)
      .catch((error: unknown) => this.#complain(replica, 'remove', error))
      .finally(() => this.#removing.delete(removed))
    this.#removing.add(removed)
  }

  /** Resolves when nothing is being prepared, published, started or removed any more; what runs runs on. */
  async stop(): Promise<void> {
    for (const { abort } of this.#atWork.values()) abort.abort(new Error('the node stops'))
    const starting = [...this.#runs.values()].map(({ started }) => started)
    await Promise.allSettled([...[...this.#atWork.values()].map(({ over }) => over), ...starting, ...this.#removing])
  }

  /** It ran here and ended, and nobody can have made a folder for it: no disk needs to be asked. */
  #leftNothing(replica: ReplicaId): boolean {
    return this.#runs.get(replica)?.folderTold === false && !this.#atWork.has(replica)
  }

  #runOf(replica: ReplicaId): Run {
    const known = this.#runs.get(replica)
    if (known !== undefined) return known
    const run = new Run()
    this.#runs.set(replica, run)
    return run
  }

  #work(replica: ReplicaId, todo: (signal: AbortSignal) => Promise<void>): void {
    const abort = new AbortController()
    this.#atWork.set(replica, { abort, over: this.#over(replica, { abort, todo, before: this.#atWork.get(replica)?.over }) })
  }

  async #over(replica: ReplicaId, { abort, todo, before }: Work): Promise<void> {
    // After the caller has noted it.
    await before
    try {
      await todo(abort.signal)
    } catch (error) {
      if (!abort.signal.aborted) this.#failed(replica, error)
    }
    if (this.#atWork.get(replica)?.abort === abort) this.#atWork.delete(replica)
  }

  async #start(replica: ReplicaId, manifest: RunManifest, run: Run): Promise<void> {
    const { workspace, store } = this.#ports
    try {
      if (run.graceMs !== undefined) throw new ExecutorError('failed', 'ended before it began')
      const execution = new Watched({ replica, manifest, inputs: locateInputs(store, manifest) }, run, workspace)
      const running = await this.#executor(manifest).start(execution)
      this.#attach(replica, running, run)
    } catch (error) {
      this.#failed(replica, error)
    }
  }

  #attach(replica: ReplicaId, running: Running, run: Run): void {
    run.running = running
    running.ended.then(
      (ended) => this.#ports.onEvent({ kind: 'ended', replica, ended }),
      (error: unknown) => this.#failed(replica, error)
    )
    if (run.graceMs !== undefined) this.kill(replica, run.graceMs)
  }

  async #remove(replica: ReplicaId, began: CheckedLease | null): Promise<void> {
    await this.#atWork.get(replica)?.over
    await this.#runs.get(replica)?.started
    this.#runs.delete(replica)
    if (began !== null) await this.#removeRun(replica, began.manifest)
    await this.#ports.workspace.remove(replica)
    await this.#ports.kept.forget(replica)
  }

  /** A container that cannot be removed now is swept when its engine answers again; the watch over the engines has to know that one did not. */
  async #removeRun(replica: ReplicaId, { engine }: RunManifest): Promise<void> {
    try {
      await this.#ports.executors.get(engine)?.remove(replica)
    } catch (error) {
      this.#complain(replica, 'remove', error)
      if (error instanceof ExecutorError && error.code === 'engine_down') this.#ports.onEngineDown(error)
    }
  }

  #executionOf({ replica, manifest }: CheckedLease): Execution[] {
    const folder = this.#ports.workspace.pathOf(replica)
    try {
      return [{ replica, manifest, inputs: locateInputs(this.#ports.store, manifest), folder }]
    } catch (error) {
      // Its inputs have gone from under it: its run is found by its name all the same.
      this.#complain(replica, 'recover', error)
      return [{ replica, manifest, inputs: [], folder }]
    }
  }

  #executor({ engine }: RunManifest): Executor {
    const executor = this.#ports.executors.get(engine)
    if (executor === undefined) throw new ExecutorError('failed', `this node does not offer the engine ${engine}`)
    return executor
  }

  #failed(replica: ReplicaId, error: unknown): void {
    const fault = faultOf(error)
    this.#complain(replica, fault.code, error)
    this.#ports.onEvent({ kind: 'failed', replica, fault })
    if (error instanceof ExecutorError && error.code === 'engine_down') this.#ports.onEngineDown(error)
  }

  #complain(replica: ReplicaId, what: string, error: unknown): void {
    this.#ports.logger.warn({ replica, what, error: textOf(error) }, 'a replica met trouble')
  }
}

/** Whose fault an error is, in the words of the control protocol. */
function faultOf(error: unknown): Fault {
  const message = textOf(error)
  const node = (code: string): Fault => ({ class: 'node', code, message })
  const input = (code: string): Fault => ({ class: 'input', code, message })
  if (error instanceof ExecutorError) return error.code === 'image' ? input('image') : node(error.code)
  if (error instanceof ManifestError || error instanceof ImageError) return input(error.code)
  if (error instanceof ContentError)
    return error.code === 'disk_full' || error.code === 'exists' || error.code === 'changed' ? node(error.code) : input(error.code)
  if (error instanceof HostError || error instanceof StreamError) return input('unreachable')
  return node(isFull(error) ? 'disk_full' : 'failed')
}

function isFull(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT')
}

function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
