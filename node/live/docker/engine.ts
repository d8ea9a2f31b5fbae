/** The Docker engine as the executor uses it: few calls, each with its failures told apart. */
import { existsSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { availableParallelism } from 'node:os'
import Docker from 'dockerode'
import { messageOf } from '#protocol/message-of'
import { ExecutorError } from '../../ports.ts'
import { NODE_LABEL, REPLICA_LABEL } from '../../sandbox/options.ts'

/** What the engine says of itself, as far as the sandbox needs it. */
export interface EngineFacts {
  readonly cores: number
  readonly cgroupfs: boolean
  readonly usernsRemap: boolean
  readonly rootless: boolean
}

interface ContainerFacts {
  readonly running: boolean
  /** Created and never started. */
  readonly unborn: boolean
  readonly exitCode: number
  readonly oomKilled: boolean
  readonly pid: number
  readonly startedAtMs: number
  readonly endedAtMs: number
}

interface ListedContainer {
  readonly id: string
  readonly replica: string
}

/** For calls that do not wait for a task; a busy disk may take long to make a container. */
const ANSWER_MS_MAX = 120_000
const ANSWER_BYTES_MAX = 64 * 1024
const WAIT_STATUS = { 200: true, 404: 'no such container', 500: 'server error' } as const
const START_HINT = 'start it (systemctl start docker) or run the set-up script'

/** Status of a Docker API error; undefined when the engine did not answer. */
export function statusOf(error: unknown): number | undefined {
  const status = typeof error === 'object' && error !== null && 'statusCode' in error ? error.statusCode : undefined
  return typeof status === 'number' ? status : undefined
}

export class Engine {
  readonly docker: Docker
  readonly #socketPath: string | undefined
  readonly #answerMsMax: number

  constructor(socketPath: string | undefined, answerMsMax = ANSWER_MS_MAX) {
    this.docker = new Docker(socketPath === undefined ? undefined : { socketPath })
    this.#socketPath = socketPath
    this.#answerMsMax = answerMsMax
  }

  /** Bounds a call that should be short: the library never settles one whose connection broke in the middle of the answer. */
  async inTime<T>(call: Promise<T>): Promise<T> {
    const late = Promise.withResolvers<never>()
    const timer = setTimeout(
      () => late.reject(new ExecutorError('engine_down', `Docker did not answer in ${this.#answerMsMax} ms; restart it`)),
      this.#answerMsMax
    )
    try {
      return await Promise.race([call, late.promise])
    } finally {
      clearTimeout(timer)
    }
  }

  /** An API failure as the node sees it. */
  failure(what: string, cause: unknown): ExecutorError {
    if (cause instanceof ExecutorError) return cause
    const message = messageOf(cause).trim()
    if (statusOf(cause) === undefined) {
      const where = this.#socketPath === undefined ? '' : ` at ${this.#socketPath}`
      return new ExecutorError('engine_down', `Docker does not answer${where} (${message}); ${START_HINT}`, { cause })
    }
    if (/no space left on device/.test(message))
      return new ExecutorError('disk_full', `Docker cannot ${what}: its disk is full; free some space (docker system df shows what uses it)`, { cause })
    if (/docker-init/.test(message))
      return new ExecutorError('engine_down', `Docker cannot ${what}: it has no docker-init; install the package that brings it (docker-init or tini)`, {
        cause
      })
    return new ExecutorError('failed', `Docker cannot ${what}: ${message}`, { cause })
  }

  /** Throws ExecutorError `engine_down` when the engine does not answer or cannot hold a hostile program, saying what is missing. */
  async check(): Promise<EngineFacts> {
    const info = await this.inTime(this.docker.info()).catch((cause: unknown) => {
      throw this.failure('answer', cause)
    })
    const security: readonly string[] = info.SecurityOptions ?? []
    const missing = [
      info.OSType !== 'linux' && 'it runs no Linux containers (switch Docker Desktop to Linux containers)',
      (info.CgroupDriver === 'none' || info.MemoryLimit === false) && 'it cannot limit memory (mount the memory cgroup, or boot with cgroup_enable=memory)',
      info.PidsLimit === false && 'it cannot limit processes (mount the pids cgroup)',
      info.CpuCfsQuota === false && 'it cannot limit CPU time (mount the cpu cgroup)',
      !security.some((option) => option.startsWith('name=seccomp')) && 'it has no seccomp (use a kernel and a runc built with it)'
    ].filter((fault) => typeof fault === 'string')
    if (missing.length > 0) throw new ExecutorError('engine_down', `this Docker engine cannot hold a stranger's program: ${missing.join('; ')}`)
    return {
      cores: info.NCPU ?? availableParallelism(),
      cgroupfs: info.CgroupDriver === 'cgroupfs' && existsSync('/sys/fs/cgroup'),
      usernsRemap: security.some((option) => option.startsWith('name=userns')),
      rootless: security.some((option) => option.startsWith('name=rootless'))
    }
  }

  /** All containers of a node, running or not. */
  async list(node: string): Promise<readonly ListedContainer[]> {
    const found = await this.inTime(this.docker.listContainers({ all: true, filters: { label: [`${NODE_LABEL}=${node}`] } })).catch((cause: unknown) => {
      throw this.failure('list containers', cause)
    })
    return found.map(({ Id, Labels }) => ({ id: Id, replica: Labels[REPLICA_LABEL] ?? '' }))
  }

  async inspect(container: string): Promise<ContainerFacts | undefined> {
    try {
      const { State } = await this.inTime(this.docker.getContainer(container).inspect())
      return {
        running: State.Running,
        unborn: State.Status === 'created',
        exitCode: State.ExitCode,
        oomKilled: State.OOMKilled,
        pid: State.Pid,
        startedAtMs: Date.parse(State.StartedAt),
        endedAtMs: Date.parse(State.FinishedAt)
      }
    } catch (cause) {
      if (statusOf(cause) === 404) return undefined
      throw this.failure('inspect a container', cause)
    }
  }

  /** Sends a signal; nothing happens when the container has ended. */
  async signal(container: string, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
    try {
      await this.inTime(this.docker.getContainer(container).kill({ signal }))
    } catch (cause) {
      const status = statusOf(cause)
      if (status !== 404 && status !== 409 && !(status === 500 && /not running/.test(messageOf(cause)))) throw this.failure('end a container', cause)
    }
  }

  /** Removes a container by id or name, running or not, with its volumes; it may be gone already. */
  async remove(container: string): Promise<void> {
    try {
      await this.inTime(this.docker.getContainer(container).remove({ force: true, v: true }))
    } catch (cause) {
      const status = statusOf(cause)
      if (status !== 404 && status !== 409) throw this.failure('remove a container', cause) // 409: its removal is under way
    }
  }

  /**
   * The exit code, once it ended. Call it after the start: a wait that is registered before can miss a short run for ever. The
   * response is read here, because the engine sends its head at once and the library would never tell that the rest got lost.
   */
  async wait(container: string, signal: AbortSignal): Promise<number> {
    const request = { path: `/containers/${container}/wait`, method: 'POST', isStream: true, statusCodes: WAIT_STATUS, abortSignal: signal } as const
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) =>
        this.docker.modem.dial(request, (error, answer) => (error === null ? resolve(answer as IncomingMessage) : reject(error)))
      )
      let text = ''
      for await (const chunk of response) if (text.length < ANSWER_BYTES_MAX) text += String(chunk)
      const { StatusCode } = JSON.parse(text) as { StatusCode?: unknown }
      if (typeof StatusCode === 'number') return StatusCode
      throw new Error('no exit code')
    } catch (cause) {
      throw this.failure('wait for a container', cause)
    }
  }

  /** What a running or ended container wrote, as a multiplexed stream from the log's begin or from `sinceMs` on, to the container's end. */
  async logs(container: string, sinceMs?: number): Promise<NodeJS.ReadableStream & AsyncIterable<Uint8Array> & { destroy(): void }> {
    const since = sinceMs === undefined ? {} : { since: (sinceMs / 1000).toFixed(3) as unknown as number }
    try {
      const stream = await this.inTime(this.docker.getContainer(container).logs({ follow: true, stdout: true, stderr: true, ...since }))
      return stream as NodeJS.ReadableStream & AsyncIterable<Uint8Array> & { destroy(): void }
    } catch (cause) {
      throw this.failure("read a container's log", cause)
    }
  }
}
