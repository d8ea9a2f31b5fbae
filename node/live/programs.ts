/**
 * Programs that somebody runs on his own machine who is no node: a project that compares results with its owners' programs. The same
 * executors, and so the same sandbox, in which volunteers run what strangers send them; each run has a folder of its own, and nothing
 * of it is kept.
 */
import { mkdir, open, readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Engine, RunManifest } from '#protocol/bundle/manifest'
import type { ContentStore } from '#protocol/content/content'
import { ImageError } from '#protocol/image/errors'
import { messageOf } from '#protocol/message-of'
import type { EndReason } from '#protocol/result/result'
import { START_MS_MAX } from '../policy.ts'
import { type Ended, type Execution, type Executor, ExecutorError, type Logger, type Running } from '../ports.ts'
import { orStalled } from '../stalled.ts'
import { systemClock } from './clock.ts'
import { createDockerExecutor } from './docker/executor.ts'
import { platformWith } from './machine.ts'
import { createProcessExecutor } from './process-executor.ts'
import { removeTree } from './remove-tree.ts'

/** Of what a program prints to stderr its last bytes are told. */
const SAID_BYTES_MAX = 1024

export interface ProgramsTools {
  /** Where images lie as content. */
  readonly store: ContentStore
  /** Whose containers they are: no node's id. */
  readonly id: string
  /** The folder of the runs' folders. */
  readonly folder: string
  readonly engines: readonly Engine[]
  readonly logger: Logger
}

export interface Program {
  readonly manifest: RunManifest
  /** Where each lies on this machine, to be shown read-only at `/in/<name>`: all that it gets. */
  readonly inputs: Execution['inputs']
}

/**
 * - `exit`: by itself, with a status.
 * - a limit of its manifest, or `hang` or `image`: its own fault, whoever runs it. `said` is why.
 */
export interface ProgramEnd {
  readonly reason: EndReason | 'hang' | 'image'
  readonly exitCode: number
  /** The end of what it wrote to stderr, or what the executor says. */
  readonly said: string
}

export class Programs {
  readonly engines: readonly Engine[]
  /** Of what is run here, like `linux/amd64`. */
  readonly platform: string
  readonly #tools: ProgramsTools
  readonly #stop = new AbortController()
  readonly #running = new Set<Promise<unknown>>()
  #executors: Promise<readonly Executor[]> | undefined
  #runs = 0

  constructor(tools: ProgramsTools) {
    this.#tools = { ...tools, folder: resolve(tools.folder) }
    this.engines = tools.engines
    this.platform = platformWith(tools.engines)
  }

  /** Ends what an earlier life left running. An engine is asked only when there may be something: nobody has to have one. */
  async begin(): Promise<void> {
    const left = await readdir(this.#tools.folder).catch(() => [])
    if (left.length === 0) return
    try {
      await this.#ready()
    } catch (error) {
      this.#tools.logger.warn({ reason: messageOf(error) }, 'programs of an earlier start may still run')
    }
  }

  /** Why nothing can be run; '' when all engines answer. */
  async trouble(): Promise<string> {
    try {
      for (const executor of await this.#ready()) await executor.probe()
      return ''
    } catch (error) {
      return messageOf(error)
    }
  }

  /** Runs it to its end. Rejects when this machine is at fault (its engine does not answer, its disk is full), or with the signal's reason. */
  async run(program: Program, signal: AbortSignal): Promise<ProgramEnd> {
    const run = this.#run(program, AbortSignal.any([signal, this.#stop.signal]))
    this.#running.add(run)
    try {
      return await run
    } finally {
      this.#running.delete(run)
    }
  }

  /** Ends what runs. */
  async stop(): Promise<void> {
    this.#stop.abort(new Error('the project stops'))
    await Promise.allSettled(this.#running)
    for (const executor of (await this.#executors?.catch(() => [])) ?? []) await executor.stop()
  }

  async #run({ manifest, inputs }: Program, signal: AbortSignal): Promise<ProgramEnd> {
    const executor = this.engines.includes(manifest.engine) ? (await this.#ready()).find(({ engine }) => engine === manifest.engine) : undefined
    if (executor === undefined) throw new ExecutorError('failed', `the engine ${manifest.engine} is not offered here`)
    const replica = `program.${++this.#runs}`
    const folder = join(this.#tools.folder, replica)
    let running: Running | undefined
    const kill = (): void => {
      running?.kill(0).catch((error: unknown) => this.#tools.logger.warn({ reason: messageOf(error) }, 'a program could not be ended'))
    }
    signal.addEventListener('abort', kill)
    try {
      await executor.prepare(manifest, signal)
      signal.throwIfAborted()
      running = await orStalled(systemClock, executor.start({ replica, manifest, inputs, folder }), {
        ms: START_MS_MAX,
        message: `the engine ${manifest.engine} did not start it within ${START_MS_MAX / 1000} s`,
        late: (late) => void late.kill(0).catch(() => undefined)
      })
      if (signal.aborted) kill()
      const ended = await running.ended
      signal.throwIfAborted()
      return await endOf(ended, join(folder, 'stderr'))
    } catch (error) {
      signal.throwIfAborted()
      if (error instanceof ExecutorError && (error.code === 'hang' || error.code === 'image')) return { reason: error.code, exitCode: 0, said: error.message }
      if (error instanceof ImageError) return { reason: 'image', exitCode: 0, said: error.message }
      throw error
    } finally {
      signal.removeEventListener('abort', kill)
      await this.#clear(executor, replica, folder)
    }
  }

  /** What cannot be removed now is swept at the next start. */
  async #clear(executor: Executor, replica: string, folder: string): Promise<void> {
    try {
      await executor.remove(replica)
      await removeTree(folder)
    } catch (error) {
      this.#tools.logger.warn({ reason: messageOf(error) }, 'what a program left is not removed yet')
    }
  }

  /** Made and asked when they are needed first; asked again when they did not answer. */
  #ready(): Promise<readonly Executor[]> {
    this.#executors ??= this.#make().catch((error: unknown) => {
      this.#executors = undefined
      throw error
    })
    return this.#executors
  }

  async #make(): Promise<readonly Executor[]> {
    const { store, id, folder, engines, logger } = this.#tools
    await mkdir(folder, { recursive: true, mode: 0o755 })
    const executors: Executor[] = []
    if (engines.includes('docker'))
      executors.push(await createDockerExecutor({ store, nodeId: id, folder, logger: { warn: (text: unknown) => logger.warn({}, String(text)) } }))
    if (engines.includes('process')) executors.push(createProcessExecutor({ logger, folder }))
    for (const executor of executors) {
      await executor.probe()
      await executor.sweep(new Set())
    }
    for (const name of await readdir(folder)) await removeTree(join(folder, name))
    return executors
  }
}

async function endOf({ reason, exitCode }: Ended, stderr: string): Promise<ProgramEnd> {
  return { reason, exitCode, said: await lastOf(stderr) }
}

/** The end of a file that the executor wrote. */
async function lastOf(path: string): Promise<string> {
  try {
    await using file = await open(path)
    const { size } = await file.stat()
    const { buffer, bytesRead } = await file.read(
      Buffer.alloc(Math.min(size, SAID_BYTES_MAX)),
      0,
      Math.min(size, SAID_BYTES_MAX),
      Math.max(0, size - SAID_BYTES_MAX)
    )
    return buffer.toString('utf8', 0, bytesRead).trim()
  } catch {
    return ''
  }
}
