/** The Docker executor: one hardened container for each replica, found again by its label after the node's death. */
import { chmod, chown, mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join, resolve, sep } from 'node:path'
import type Docker from 'dockerode'
import type { RunManifest } from '#protocol/bundle/manifest'
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import type { ImageContent } from '#protocol/image/load'
import { type Ended, type Execution, type Executor, ExecutorError, type Running } from '../../ports.ts'
import { startFailure } from '../../sandbox/end.ts'
import { containerName, containerOptions, containerPrefix } from '../../sandbox/options.ts'
import { CREATES_PER_CORE, FREE_BYTES_MIN, TASK_UID } from '../../sandbox/policy.ts'
import { makeRunFolder } from '../workspace.ts'
import { cgroupParent, parentNames, removeParent } from './cgroup.ts'
import { freeBytes } from './disk.ts'
import { Engine, type EngineFacts, statusOf } from './engine.ts'
import { Gate } from './gate.ts'
import { Images } from './images.ts'
import { OutputFiles } from './output.ts'
import { ContainerRun, diskLimit, type LogStream } from './run.ts'

interface DockerExecutorOptions {
  /** Where images lie as content. */
  readonly store: ImageContent
  readonly nodeId: PeerIdString
  /** The node's folder. Tasks can read the paths of what is mounted: a folder below a home tells them a user's name. */
  readonly folder: string
  readonly logger?: { warn(text: string): void }
  /** Default: what DOCKER_HOST says, else the usual sockets. */
  readonly socketPath?: string
  /** Further labels for its containers. */
  readonly labels?: Readonly<Record<string, string>>
}

/** Makes the executor. It does not speak to the engine yet: `probe` tells whether it can. */
export async function createDockerExecutor(options: DockerExecutorOptions): Promise<Executor> {
  if (`${resolve(options.folder)}${sep}`.startsWith(`${homedir()}${sep}`) && homedir() !== sep)
    options.logger?.warn(
      `tasks can read the path ${options.folder} in /proc/self/mountinfo; keep the node's folder outside of your home if it should not tell your name`
    )
  return new DockerExecutor(options)
}

class DockerExecutor implements Executor {
  readonly engine = 'docker'
  readonly #options: DockerExecutorOptions
  readonly #engine: Engine
  readonly #images: Images
  readonly #running = new Map<ReplicaId, ContainerRun>()
  readonly #uid = process.getuid?.() ?? TASK_UID
  readonly #gid = process.getgid?.() ?? TASK_UID
  #facts: Promise<EngineFacts> | undefined
  #creating: Gate | undefined

  constructor(options: DockerExecutorOptions) {
    this.#options = options
    this.#engine = new Engine(options.socketPath)
    this.#images = new Images(this.#engine, options.store)
  }

  async probe(): Promise<void> {
    this.#facts = undefined
    await this.#known()
  }

  async prepare(manifest: RunManifest, signal: AbortSignal): Promise<void> {
    await this.#images.ready(imageOf(manifest), signal)
  }

  async start(execution: Execution): Promise<Running> {
    const facts = await this.#known()
    this.#creating ??= new Gate(Math.max(1, facts.cores * CREATES_PER_CORE))
    makeRunFolder(execution.folder)
    if ((await freeBytes(execution.folder)) < FREE_BYTES_MIN)
      throw new ExecutorError('disk_full', `the disk that holds ${execution.folder} is nearly full; free some space`)
    const out = join(execution.folder, 'out')
    const owner = this.#uid === 0 ? { uid: TASK_UID, gid: TASK_UID } : { uid: this.#uid, gid: this.#gid }
    await makeOut(out, owner, this.#uid === 0, facts)
    const output = await OutputFiles.open(execution.folder, diskLimit(execution), true)
    try {
      return await this.#creating.pass(() => this.#begin(execution, facts, { ...owner, out }, output))
    } catch (error) {
      await output.close()
      throw error
    }
  }

  async recover(executions: readonly Execution[]): Promise<ReadonlyMap<ReplicaId, Running>> {
    const listed = new Map((await this.#engine.list(this.#options.nodeId)).map(({ id, replica }) => [replica, id]))
    const found = await Promise.all(
      executions.map(async (execution) => {
        const id = listed.get(execution.replica)
        const run = id === undefined ? undefined : (this.#running.get(execution.replica) ?? (await this.#findAgain(execution, id)))
        return run === undefined ? [] : [[execution.replica, run] as const]
      })
    )
    return new Map(found.flat())
  }

  async sweep(keep: ReadonlySet<ReplicaId>): Promise<void> {
    const { nodeId } = this.#options
    const stale = (await this.#engine.list(nodeId)).filter(({ replica }) => !keep.has(replica))
    await Promise.all(stale.map(({ id }) => this.#engine.remove(id)))
    if (this.#uid !== 0) return
    const kept = new Set([...keep].map((replica) => containerName(nodeId, replica)))
    await Promise.all(parentNames(containerPrefix(nodeId)).flatMap((name) => (kept.has(name) ? [] : [removeParent(name)])))
  }

  async remove(replica: ReplicaId): Promise<void> {
    const name = containerName(this.#options.nodeId, replica)
    await this.#engine.remove(name)
    if (this.#uid === 0) await removeParent(name)
  }

  async stop(): Promise<void> {
    const runs = [...this.#running.values()]
    for (const run of runs) run.detach()
    await Promise.allSettled(runs.map(({ ended }) => ended))
  }

  /** Asked once, and again after `probe`. */
  #known(): Promise<EngineFacts> {
    this.#facts ??= this.#engine.check().catch((error: unknown) => {
      this.#facts = undefined
      throw error
    })
    return this.#facts
  }

  async #begin(execution: Execution, facts: EngineFacts, place: { uid: number; gid: number; out: string }, output: OutputFiles): Promise<Running> {
    const name = containerName(this.#options.nodeId, execution.replica)
    const kept = facts.cgroupfs && this.#uid === 0
    const container = await this.#create(execution, { ...place, cores: facts.cores, ...(kept && { cgroupParent: cgroupParent(name) }) })
    let stream: LogStream
    try {
      stream = (await this.#engine.inTime(container.attach({ stream: true, stdout: true, stderr: true }))) as NodeJS.ReadableStream as unknown as LogStream
    } catch (cause) {
      throw this.#engine.failure('attach to a container', cause)
    }
    const startedAtMs = Date.now()
    try {
      await this.#engine.inTime(container.start())
    } catch (cause) {
      stream.destroy()
      const failure = startFailure(cause instanceof Error ? cause.message : '')
      if (statusOf(cause) === undefined || failure === undefined) throw this.#engine.failure('start a container', cause)
      return neverRan(failure, String((cause as { json?: { message?: unknown } }).json?.message ?? 'the command cannot be started'), output, startedAtMs)
    }
    return this.#keep(execution, container.id, startedAtMs, output, stream)
  }

  /** Created under the replica's own name; what an earlier life of the node left under it goes first, and an image that was removed in the engine is loaded again. */
  async #create(execution: Execution, place: { uid: number; gid: number; out: string; cores: number; cgroupParent?: string }): Promise<Docker.Container> {
    const image = imageOf(execution.manifest)
    for (let attempt = 1; ; attempt++) {
      const { reference, volumes } = await this.#images.ready(image)
      const { nodeId, labels } = this.#options
      const wanted = containerOptions(execution, { node: nodeId, image: reference, volumes, ...place, ...(labels && { labels }) })
      try {
        return await this.#engine.inTime(this.#engine.docker.createContainer(wanted))
      } catch (cause) {
        const status = statusOf(cause)
        if (attempt > 2 || (status !== 404 && status !== 409)) throw this.#engine.failure('create a container', cause)
        if (status === 404) this.#images.forget(image)
        else await this.#engine.remove(containerName(nodeId, execution.replica))
      }
    }
  }

  async #findAgain(execution: Execution, id: string): Promise<ContainerRun | undefined> {
    const facts = await this.#engine.inspect(id)
    if (facts === undefined) return undefined
    if (facts.unborn) {
      await this.#engine.remove(id)
      return undefined
    }
    const output = await OutputFiles.open(execution.folder, diskLimit(execution), false)
    return this.#keep(execution, id, facts.startedAtMs, output, undefined, facts.running ? undefined : facts.endedAtMs)
  }

  #keep(execution: Execution, id: string, startedAtMs: number, output: OutputFiles, stream: LogStream | undefined, endedAtMs?: number): ContainerRun {
    const { replica } = execution
    const run = new ContainerRun({
      engine: this.#engine,
      execution,
      id,
      name: containerName(this.#options.nodeId, replica),
      startedAtMs,
      output,
      stream,
      warn: (what) => this.#options.logger?.warn(what),
      ...(endedAtMs !== undefined && { endedAtMs })
    })
    this.#running.set(replica, run)
    const forget = (): void => {
      if (this.#running.get(replica) === run) this.#running.delete(replica)
    }
    run.ended.then(forget, forget)
    return run
  }
}

function imageOf(manifest: RunManifest): NonNullable<RunManifest['image']> {
  if (manifest.image === null) throw new ExecutorError('image', 'the manifest names no image, so Docker cannot run it')
  return manifest.image
}

/** `out/` belongs to whom the task runs as. Where the engine maps users, nobody here knows who that is: then it is open, below a folder that is not. */
async function makeOut(out: string, owner: { uid: number; gid: number }, root: boolean, facts: EngineFacts): Promise<void> {
  await mkdir(out, { recursive: true, mode: 0o755 })
  if (facts.usernsRemap || facts.rootless) await chmod(out, 0o777)
  else if (root) await chown(out, owner.uid, owner.gid)
}

/** A command that the engine refuses to start fails like in a shell: 127 or 126, with the engine's words on stderr. It is the same on every node. */
async function neverRan(
  failure: { readonly reason: Ended['reason']; readonly exitCode: number },
  message: string,
  output: OutputFiles,
  startedAtMs: number
): Promise<Running> {
  await output.append('stderr', `${message.trim()}\n`)
  await output.close()
  const ended = { ...failure, startedAtMs, endedAtMs: Date.now(), cpuMs: 0, memoryPeakBytes: 0 }
  return { ended: Promise.resolve(ended), async kill() {} }
}
