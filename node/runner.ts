/** Carries out what the agent decided about replicas: prepare, start, kill, publish, clean, remove. Answers with events. */
import { ManifestError } from '#protocol/bundle/errors'
import type { Engine, RunManifest } from '#protocol/bundle/manifest'
import { acceptCid } from '#protocol/content/cid'
import { ContentError, type ContentStore, EMPTY_DIRECTORY } from '#protocol/content/content'
import { HOLDING_BYTES_MIN } from '#protocol/control/messages'
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import { ImageError } from '#protocol/image/errors'
import { messageOf } from '#protocol/message-of'
import { type Host, HostError, StreamError } from '#protocol/peer/host'
import type { AgentEvent, CheckedLease, Fault, RunFigure } from './agent/events.ts'
import { nextUser } from './agent/next.ts'
import { fetchInputs, locateInputs, type Peers, type Using, useInputs } from './inputs.ts'
import { KeptContent, NOTHING_LEFT } from './kept.ts'
import { RESUME_NAME } from './leases.ts'
import { pause } from './pause.ts'
import { BELIEVED_TICKS, FULL_RETRY_MS, START_MS_MAX, TICK_MS } from './policy.ts'
import { type Clock, type Execution, type Executor, ExecutorError, type Logger, type Running, type Workspace } from './ports.ts'
import { figureOf } from './progress-file.ts'
import { Run, WatchedExecution } from './run.ts'
import { orStalled, StalledError } from './stalled.ts'

export interface RunnerPorts {
  readonly host: Host
  readonly content: ContentStore
  readonly peers?: Peers
  readonly workspace: Workspace
  readonly executors: readonly Executor[]
  readonly clock: Pick<Clock, 'after'>
  readonly logger: Logger
}

export interface RunnerOwner {
  /** Who has the inputs. */
  readonly project: PeerIdString
  apply(event: AgentEvent): void
  engineDown(error: ExecutorError): void
  /** The tree is kept as data for later runs. */
  isStocked(root: string): boolean
  /** Resolves when there is a connection to the coordinator. */
  online(signal: AbortSignal): Promise<void>
}

interface Todo {
  readonly abort: AbortController
  readonly before: Promise<void> | undefined
  readonly todo: (signal: AbortSignal) => Promise<void>
}

export class Runner {
  readonly #ports: RunnerPorts
  readonly #owner: RunnerOwner
  #content: KeptContent | undefined
  #runs: Map<ReplicaId, Run> | undefined
  #removing: Set<Promise<void>> | undefined
  /** Bundles whose content is brought here ahead of a lease. */
  #bringing: Map<string, { readonly abort: AbortController; readonly over: Promise<void> }> | undefined
  /** Made when something can be broken off by a stop. */
  #stopping: AbortController | undefined

  constructor(ports: RunnerPorts, owner: RunnerOwner) {
    this.#ports = ports
    this.#owner = owner
  }

  get #kept(): KeptContent {
    this.#content ??= new KeptContent(this.#ports.content, this.#ports.workspace, (root) => this.#owner.isStocked(root))
    return this.#content
  }

  /** At a start: what is left of replicas that are in no book any more, their content too, which an earlier life may have published. */
  clear(left: readonly ReplicaId[]): void {
    for (const replica of left)
      this.#track(
        replica,
        this.#takeUp(replica).then(() => this.#forget(replica))
      )
  }

  /** After a restart: what a reported replica left is served until it is removed; what nobody will go on from goes now. CIDs as text. */
  remember(replica: ReplicaId, content: readonly string[]): void {
    this.#kept.remember(replica, content)
    const run = new Run()
    run.takesUpSnapshot = true
    this.#track(replica, this.#dropSnapshots(replica, run))
  }

  prepare(replica: ReplicaId, manifest: RunManifest): void {
    this.#work(replica, async (signal) => {
      const executor = this.#executor(manifest)
      const run = this.#runOf(replica)
      if (manifest.dependencies.some(({ name }) => name === RESUME_NAME)) await this.#removed(signal)
      await this.#fetch(manifest, { using: this.#usingOf(replica), moved: () => run.move(), signal })
      run.believed = BELIEVED_TICKS
      await executor.prepare(manifest, signal).finally(() => {
        run.believed = 0
      })
      signal.throwIfAborted()
      this.#owner.apply({ kind: 'prepared', replica })
    })
  }

  /** What a run goes on from may lie here, in the folder of the run that made it, and go with that. */
  async #removed(signal: AbortSignal): Promise<void> {
    const aborted = Promise.withResolvers<never>()
    signal.addEventListener('abort', () => aborted.reject(signal.reason), { once: true })
    await Promise.race([Promise.all(this.#removing ?? []), aborted.promise])
  }

  /** The same for a bundle that may be leased. What fails is tried again when it is. */
  bring(bundle: string, manifest: RunManifest): void {
    const abort = new AbortController()
    const { signal } = abort
    const before = this.#bringing?.get(bundle)?.over
    this.#bringing ??= new Map()
    this.#bringing.set(bundle, { abort, over: this.#bring(bundle, manifest, { signal, before }) })
  }

  letGo(bundle: string): void {
    this.#bringing?.get(bundle)?.abort.abort(new Error('given up'))
  }

  async #bring(
    bundle: string,
    manifest: RunManifest,
    { signal, before }: { readonly signal: AbortSignal; readonly before: Promise<void> | undefined }
  ): Promise<void> {
    // After the caller has noted it, too.
    await before
    try {
      signal.throwIfAborted()
      const executor = this.#executor(manifest)
      await this.#fetch(manifest, { using: this.#usingOf(nextUser(bundle)), moved: () => undefined, signal })
      await executor.prepare(manifest, signal)
    } catch (error) {
      if (!signal.aborted) this.#ports.logger.info({ bundle, error: messageOf(error) }, 'what may be leased next could not be brought here yet')
    }
    if (this.#bringing?.get(bundle)?.abort.signal === signal) this.#bringing.delete(bundle)
  }

  async #fetch(
    manifest: RunManifest,
    { using, moved, signal }: { readonly using: Using; readonly moved: () => void; readonly signal: AbortSignal }
  ): Promise<void> {
    if (manifest.image === null && manifest.dependencies.length === 0) return
    const { content: store, host, peers, clock } = this.#ports
    const from = [this.#owner.project]
    const online = (until: AbortSignal): Promise<void> => this.#owner.online(until)
    await fetchInputs({ store, host, from, clock, online, using, moved, ...(peers === undefined ? {} : { peers }) }, manifest, signal)
  }

  publish(replica: ReplicaId, manifest: RunManifest): void {
    if (this.#runs?.get(replica)?.leftNothing === true) {
      this.#owner.apply({ kind: 'published', replica, published: NOTHING_LEFT })
      return
    }
    this.#work(replica, async (signal) => {
      const published = await this.#kept.publish(replica, { diskBytes: manifest.resources.diskBytes, signal, moved: () => this.#runs?.get(replica)?.move() })
      signal.throwIfAborted()
      this.#owner.apply({ kind: 'published', replica, published })
    })
  }

  /** Of which something moved since it was asked last: bytes of inputs came, or of an output were added. Asked at every tick. */
  moved(): ReplicaId[] {
    return [...(this.#runs ?? [])].flatMap(([replica, run]) => (run.takeMoved() ? [replica] : []))
  }

  /** What runs said of how far they are, where that is news. Asked at every tick; their files are read more seldom. */
  figures(): RunFigure[] {
    return [...(this.#runs ?? [])].flatMap(([replica, run]) => {
      if (run.figureDue()) void this.#readFigure(replica, run)
      const figure = run.takeFigure()
      return figure === undefined ? [] : [{ replica, ...figure }]
    })
  }

  async #readFigure(replica: ReplicaId, run: Run): Promise<void> {
    try {
      const bytes = await this.#ports.workspace.progress(replica)
      const figure = bytes === undefined ? undefined : figureOf(bytes)
      if (figure !== undefined) run.setFigure(figure)
    } catch (error) {
      this.#complain(replica, 'progress', error)
    }
  }

  /** Adds what runs have left of themselves, where that is due. Asked at every tick. */
  addSnapshots(): void {
    for (const [replica, run] of this.#runs ?? []) if (run.snapshotDue()) void this.#addSnapshot(replica, run, false)
  }

  /** A run has ended, and another is to go on with it: what it left last is added, or what was taken of it before. */
  save(replica: ReplicaId): void {
    const run = this.#runOf(replica)
    void (run.snapshotting ?? Promise.resolve()).then(() => this.#addSnapshot(replica, run, true))
  }

  /** The project has its snapshot. */
  saved(replica: ReplicaId): void {
    this.#runs?.get(replica)?.snapshotSaved()
  }

  async #addSnapshot(replica: ReplicaId, run: Run, last: boolean): Promise<void> {
    const adding = this.#snapshotOf(replica, run, last)
    run.snapshotting = adding.then(
      () => undefined,
      () => undefined
    )
    try {
      const snapshot = await adding
      if (snapshot !== undefined) this.#owner.apply({ kind: 'snapshot', replica, ...snapshot, last })
      else if (last) this.#owner.apply({ kind: 'unsaved', replica })
    } catch (error) {
      if (last) this.#failed(replica, error)
      else this.#complain(replica, 'checkpoint', error)
    } finally {
      run.snapshotting = undefined
    }
  }

  async #snapshotOf(replica: ReplicaId, run: Run, last: boolean): Promise<{ readonly root: string; readonly bytes: number } | undefined> {
    const { workspace } = this.#ports
    const before = await this.#takeUpSnapshot(replica, run)
    const path =
      (await workspace.takeSnapshot(replica, () => this.#kept.forgetSnapshot(replica))) ?? (last ? await workspace.takenSnapshot(replica) : undefined)
    const added = path === undefined ? before : await this.#kept.addSnapshot(replica, path, { diskBytes: run.diskBytes, signal: this.#untilStop })
    if (added !== undefined) run.tookSnapshot()
    return added
  }

  /** What an earlier life of the node took, and perhaps added without having come to say so: it is told of, and found when it is to go. */
  async #takeUpSnapshot(replica: ReplicaId, run: Run): Promise<{ readonly root: string; readonly bytes: number } | undefined> {
    if (!run.takesUpSnapshot) return undefined
    const path = await this.#ports.workspace.takenSnapshot(replica)
    const added = path === undefined ? undefined : await this.#kept.addSnapshot(replica, path, { diskBytes: run.diskBytes, signal: this.#untilStop })
    run.takesUpSnapshot = false
    return added
  }

  /** Gives up preparing or publishing: a download stops within moments. */
  abandon(replica: ReplicaId): void {
    this.#runs?.get(replica)?.work?.abort.abort(new Error('given up'))
  }

  kill(replica: ReplicaId, graceMs: number): void {
    const run = this.#runOf(replica)
    run.graceMs = graceMs
    run.running?.kill(graceMs).catch((error: unknown) => this.#complain(replica, 'kill', error))
  }

  start(lease: CheckedLease): void {
    const run = this.#runOf(lease.replica)
    if (run.started === undefined && run.running === undefined) run.started = this.#start(lease, run)
  }

  /** After the node's own restart: finds what still runs or ended unseen; nothing when the machine was started again, too. Throws ExecutorError when an engine does not answer. */
  async recover(leases: readonly CheckedLease[], isAnotherBoot = false): Promise<ReadonlySet<ReplicaId>> {
    const found = new Set<ReplicaId>()
    for (const { replica } of leases) this.#runOf(replica).ofEarlierLife = true
    if (isAnotherBoot) return found
    for (const lease of leases) this.#expectSnapshots(lease, this.#runOf(lease.replica))
    for (const executor of this.#ports.executors) {
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
    for (const executor of this.#ports.executors) await executor.sweep(keep)
  }

  /** What the engine still has of a reported replica, and what its run left for others to go on from. */
  clean({ replica, manifest, checkpoint }: CheckedLease): void {
    const run = this.#runs?.get(replica)
    if (run !== undefined) run.running = undefined
    void this.#removeRun(replica, manifest)
    if (checkpoint !== undefined) this.#track(replica, this.#dropSnapshots(replica, run))
  }

  async #dropSnapshots(replica: ReplicaId, run: Run | undefined): Promise<void> {
    await run?.snapshotting
    if (run !== undefined) await this.#takeUpSnapshot(replica, run)
    await this.#kept.forgetSnapshot(replica)
    await this.#ports.workspace.dropSnapshots(replica)
  }

  remove(replica: ReplicaId, began: CheckedLease | null): void {
    if (began === null && this.#runs?.get(replica)?.leftNothing === true) {
      this.#runs?.delete(replica)
      return
    }
    this.#track(replica, this.#remove(replica, began))
  }

  /** What a released replica left stays as data when it is large enough to be told of, or is being used. */
  release(replica: ReplicaId, content: readonly string[]): void {
    const { content: store } = this.#ports
    const [output = EMPTY_DIRECTORY] = content
    const root = output === EMPTY_DIRECTORY ? undefined : acceptCid(output)
    const bytes = root === undefined ? 0 : (store.sizeOf(root) ?? 0)
    const isHere = root !== undefined && store.locate(root)?.endsWith(`/${replica}/out`) === true
    const leftNothing = this.#runs?.get(replica)?.leftNothing === true
    this.#runs?.delete(replica)
    if (!isHere || (bytes < HOLDING_BYTES_MIN && !this.#owner.isStocked(output))) {
      if (!leftNothing) this.#track(replica, this.#drop(replica))
      return
    }
    const logs = content.slice(1).map((text) => acceptCid(text))
    const logBytes = logs.reduce((sum, cid) => sum + (cid === undefined ? 0 : (store.sizeOf(cid) ?? 0)), 0)
    this.#owner.apply({ kind: 'kept', replica, root: output, bytes: bytes + logBytes })
  }

  /** Whether a tree that was kept for later runs still lies here; what a replica left is served from there again. */
  findStocked(root: string, replica: ReplicaId | null): boolean {
    const cid = acceptCid(root)
    if (cid === undefined || !(this.#ports.content.has(cid) || this.#ports.content.isDoubted(cid))) return false
    if (replica !== null) this.#kept.remember(replica, [root])
    return true
  }

  /** At a start: what a replica that runs on may read. */
  using(replica: ReplicaId, manifest: RunManifest): void {
    useInputs(this.#ports.content, manifest, this.#usingOf(replica))
  }

  /** Removes data that no replica uses. Nothing sees it from now on, its files go by and by. */
  evict(root: string, replica: ReplicaId | null): void {
    const cid = acceptCid(root)
    if (cid === undefined) return
    const evicted = replica === null ? this.#kept.removeFetched(cid) : this.#drop(replica)
    this.#track(replica ?? '', evicted)
  }

  /** Its content first, of which nothing is seen from now on: what is prepared later does not count on it. */
  async #drop(replica: ReplicaId): Promise<void> {
    await this.#kept.forget(replica)
    await this.#ports.workspace.remove(replica)
  }

  #usingOf(replica: ReplicaId): Using {
    return ({ root, bytes, fetched }) => this.#owner.apply({ kind: 'using', replica, root: root.toString(), bytes, fetched })
  }

  #track(replica: ReplicaId, work: Promise<void>): void {
    const removed = work.catch((error: unknown) => this.#complain(replica, 'remove', error)).finally(() => this.#removing?.delete(removed))
    this.#removing ??= new Set()
    this.#removing.add(removed)
  }

  /** Resolves when nothing is being prepared, published, started or removed any more; what runs runs on. */
  async stop(): Promise<void> {
    this.#stopping ??= new AbortController()
    this.#stopping.abort(new Error('the node stops'))
    const runs = [...(this.#runs?.values() ?? [])]
    for (const { work } of runs) work?.abort.abort(new Error('the node stops'))
    const bringing = [...(this.#bringing?.values() ?? [])]
    for (const { abort } of bringing) abort.abort(new Error('the node stops'))
    await Promise.allSettled([
      ...runs.flatMap(({ work, started, snapshotting }) => [work?.over, started, snapshotting]),
      ...bringing.map(({ over }) => over),
      ...(this.#removing ?? [])
    ])
  }

  get #untilStop(): AbortSignal {
    this.#stopping ??= new AbortController()
    return this.#stopping.signal
  }

  #runOf(replica: ReplicaId): Run {
    const known = this.#runs?.get(replica)
    if (known !== undefined) return known
    const run = new Run()
    this.#runs ??= new Map()
    this.#runs.set(replica, run)
    return run
  }

  #work(replica: ReplicaId, todo: (signal: AbortSignal) => Promise<void>): void {
    const run = this.#runOf(replica)
    const before = run.work?.over
    const abort = new AbortController()
    run.work = { abort, over: this.#over(replica, run, { abort, before, todo }) }
  }

  async #over(replica: ReplicaId, run: Run, { abort, before, todo }: Todo): Promise<void> {
    // After the caller has noted it, too.
    await before
    try {
      await todo(abort.signal)
    } catch (error) {
      if (!abort.signal.aborted) this.#failed(replica, error)
    }
    if (run.work?.abort === abort) run.work = undefined
  }

  async #start(lease: CheckedLease, run: Run): Promise<void> {
    const { replica, manifest, gpus, checkpoint } = lease
    const { workspace, content } = this.#ports
    try {
      if (run.graceMs !== undefined) throw new ExecutorError('failed', 'ended before it began')
      this.#expectSnapshots(lease, run)
      const execution = new WatchedExecution(
        {
          replica,
          manifest,
          inputs: locateInputs(content, manifest),
          ...(gpus === undefined ? {} : { gpus }),
          ...(checkpoint === undefined ? {} : { snapshots: true as const })
        },
        run,
        workspace
      )
      const running = await orStalled(this.#ports.clock, this.#executor(manifest).start(execution), {
        ms: START_MS_MAX,
        message: `the engine ${manifest.engine} did not start it within ${START_MS_MAX / 1000} s`,
        late: (running) => this.#endLate(replica, manifest, running)
      })
      this.#attach(replica, running, run)
    } catch (error) {
      this.#failed(replica, error)
    }
  }

  #expectSnapshots({ manifest, checkpoint }: CheckedLease, run: Run): void {
    if (checkpoint !== undefined) run.leavesSnapshots({ everyTicks: Math.ceil(checkpoint.everyMs / TICK_MS), diskBytes: manifest.resources.diskBytes })
  }

  /** It was given back when its engine did start it. */
  #endLate(replica: ReplicaId, manifest: RunManifest, running: Running): void {
    running.ended.catch(() => undefined)
    this.#track(
      replica,
      running.kill(0).then(() => this.#removeRun(replica, manifest))
    )
  }

  #attach(replica: ReplicaId, running: Running, run: Run): void {
    run.running = running
    running.ended.then(
      (ended) => this.#owner.apply({ kind: 'ended', replica, ended }),
      (error: unknown) => this.#failed(replica, error)
    )
    if (run.graceMs !== undefined) this.kill(replica, run.graceMs)
  }

  async #remove(replica: ReplicaId, began: CheckedLease | null): Promise<void> {
    const run = this.#runs?.get(replica)
    await run?.work?.over
    await run?.started
    await run?.snapshotting
    if (run?.work === undefined) this.#runs?.delete(replica)
    else run.beginAgain()
    if (began !== null) await this.#removeRun(replica, began.manifest)
    if (began !== null && run?.ofEarlierLife === true) await this.#takeUp(replica, began.manifest.resources.diskBytes)
    await this.#forget(replica)
  }

  async #forget(replica: ReplicaId): Promise<void> {
    await this.#ports.workspace.remove(replica)
    await this.#kept.forget(replica)
  }

  /** Waits until there is room; when the node stops before, the folder stays for its next start. */
  async #takeUp(replica: ReplicaId, diskBytes?: number): Promise<void> {
    while (!(await this.#kept.takeUp(replica, diskBytes))) {
      await pause(this.#ports.clock, FULL_RETRY_MS, this.#untilStop)
    }
  }

  /** A container that cannot be removed now is swept when its engine answers again; the watch over the engines has to know that one did not. */
  async #removeRun(replica: ReplicaId, { engine }: RunManifest): Promise<void> {
    try {
      await this.#executorOf(engine)?.remove(replica)
    } catch (error) {
      this.#complain(replica, 'remove', error)
      if (error instanceof ExecutorError && error.code === 'engine_down') this.#owner.engineDown(error)
    }
  }

  #executionOf({ replica, manifest, checkpoint }: CheckedLease): Execution[] {
    const folder = this.#ports.workspace.pathOf(replica)
    const snapshots = checkpoint === undefined ? {} : { snapshots: true as const }
    try {
      return [{ replica, manifest, inputs: locateInputs(this.#ports.content, manifest), folder, ...snapshots }]
    } catch (error) {
      // Its inputs have gone from under it: its run is found by its name all the same.
      this.#complain(replica, 'recover', error)
      return [{ replica, manifest, inputs: [], folder, ...snapshots }]
    }
  }

  #executorOf(engine: Engine): Executor | undefined {
    return this.#ports.executors.find((executor) => executor.engine === engine)
  }

  #executor({ engine }: RunManifest): Executor {
    const executor = this.#executorOf(engine)
    if (executor === undefined) throw new ExecutorError('failed', `this node does not offer the engine ${engine}`)
    return executor
  }

  #failed(replica: ReplicaId, error: unknown): void {
    const fault = faultOf(error)
    this.#complain(replica, fault.code, error)
    this.#owner.apply({ kind: 'failed', replica, fault })
    if (error instanceof ExecutorError && error.code === 'engine_down') this.#owner.engineDown(error)
  }

  #complain(replica: ReplicaId, what: string, error: unknown): void {
    this.#ports.logger.warn({ replica, what, error: messageOf(error) }, 'a replica met trouble')
  }
}

/** Whose fault an error is, in the words of the control protocol. */
function faultOf(error: unknown): Fault {
  const message = messageOf(error)
  const node = (code: string): Fault => ({ class: 'node', code, message })
  const input = (code: string): Fault => ({ class: 'input', code, message })
  if (error instanceof StalledError) return node('stalled')
  if (error instanceof ExecutorError && error.code === 'hang') return { class: 'task', code: 'hang', message }
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
