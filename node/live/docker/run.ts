/** One container from its start to its end: output to files, limits watched, the reason found. */
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { type Ended, type Execution, ExecutorError, type Running } from '../../ports.ts'
import { endReason, STOP_CAUSES, type StopCause } from '../../sandbox/end.ts'
import { pidsLimit } from '../../sandbox/options.ts'
import { DRAIN_MS_MAX, FREE_BYTES_MIN, KILL_STREAM_MS, LOG_BYTES_MIN, nextLookMs, REFUSED_FORKS_MAX } from '../../sandbox/policy.ts'
import { Silence, silenceText } from '../../sandbox/silence.ts'
import { changedMs } from '../changed.ts'
import { CHECKPOINT_FOLDER } from '../snapshots.ts'
import { containerUsage, NO_USAGE, parentUsage, processUsage, type Usage } from './cgroup.ts'
import { diskUse, freeBytes } from './disk.ts'
import type { Engine } from './engine.ts'
import { type OutputFiles, OutputGap } from './output.ts'

/** setTimeout takes no longer delay. */
const TIMER_MS_MAX = 2_000_000_000

export type LogStream = AsyncIterable<Uint8Array> & { destroy(): void }

interface Begun {
  readonly engine: Engine
  readonly execution: Execution
  /** Docker's id and our name of it. */
  readonly id: string
  readonly name: string
  readonly startedAtMs: number
  /** Known when it ended before it was found again. */
  readonly endedAtMs?: number
  readonly output: OutputFiles
  /** Attached before the start; undefined for a container that was found again, whose output comes from the engine's log. */
  readonly stream: LogStream | undefined
  readonly warn: (what: string) => void
}

/** Bytes of output tree, stdout and stderr that a run may have. */
export function diskLimit(execution: Execution): number {
  return Math.max(execution.manifest.resources.diskBytes, LOG_BYTES_MIN)
}

export class ContainerRun implements Running {
  readonly ended: Promise<Ended>
  readonly #begun: Begun
  readonly #over = new AbortController()
  #stream: LogStream | undefined
  #stopped: StopCause | undefined
  /** The node's own failure, which ends the run without a result. */
  #fault: ExecutorError | undefined
  #usage: Usage = NO_USAGE
  #pid: number | undefined
  /** Undefined when nobody asked for it. */
  readonly #silence: Silence | undefined

  constructor(begun: Begun) {
    this.#begun = begun
    const { silenceMs } = begun.execution.manifest.resources
    this.#silence = silenceMs === undefined ? undefined : new Silence(silenceMs)
    this.#stream = begun.stream
    this.ended = this.#supervise()
    this.ended.catch(() => undefined) // whoever waits sees it; nobody may be waiting yet
  }

  async kill(graceMs: number): Promise<void> {
    if (this.#over.signal.aborted) return
    this.#stopped ??= 'killed'
    const { engine, id } = this.#begun
    if (graceMs > 0) {
      await engine.signal(id, 'SIGTERM')
      await this.#overWithin(graceMs)
    }
    if (!this.#over.signal.aborted) await this.#end('killed')
    await this.ended.catch(() => undefined)
  }

  /** Lets go of the container, which goes on; `ended` rejects. */
  detach(): void {
    this.#fault ??= new ExecutorError('failed', 'the executor was stopped while this replica ran; its container goes on and is found again by recover')
    this.#detached.resolve()
  }
  readonly #detached = Promise.withResolvers<void>()

  async #supervise(): Promise<Ended> {
    const { engine, execution, id, output, startedAtMs } = this.#begun
    const looking = this.#look()
    const timing = this.#limitTime(startedAtMs + execution.manifest.resources.timeMs)
    const writing = this.#write()
    try {
      const exitCode = await Promise.race([engine.wait(id, this.#over.signal), this.#detached.promise])
      if (exitCode === undefined) throw this.#fault
      const endedAtMs = this.#begun.endedAtMs ?? Date.now()
      await this.#drain(writing)
      if (this.#fault !== undefined) throw this.#fault
      return await this.#result(exitCode, endedAtMs)
    } finally {
      this.#over.abort()
      this.#stream?.destroy()
      await Promise.allSettled([looking, timing, writing])
      await output.close()
    }
  }

  async #result(exitCode: number, endedAtMs: number): Promise<Ended> {
    const { engine, execution, id, name, output, startedAtMs } = this.#begun
    const { resources } = execution.manifest
    const diskBytesMax = diskLimit(execution)
    const disk = await diskUse(join(execution.folder, 'out'), diskBytesMax)
    const usage = parentUsage(name) ?? this.#usage
    const unexplained = exitCode === 137 && this.#stopped === undefined
    const oomKilled = unexplained && ((await engine.inspect(id))?.oomKilled ?? false)
    const reason = endReason({
      exitCode,
      stopped: unexplained && !oomKilled ? await noted(execution) : this.#stopped,
      oomKilled,
      memoryPeakBytes: usage.memoryPeakBytes,
      memoryBytesMax: resources.memoryBytes,
      pidsRefused: this.#usage.pidsRefused > 0 || usage.pidsRefused > 0 || usage.pidsPeak >= pidsLimit(resources.pids),
      diskBytes: disk + output.bytes + (output.full ? 1 : 0),
      diskBytesMax
    })
    if (reason === 'hang') throw new ExecutorError('hang', silenceText(resources.silenceMs ?? 0))
    return { reason, exitCode, startedAtMs, endedAtMs, cpuMs: usage.cpuMs, memoryPeakBytes: usage.memoryPeakBytes }
  }

  /** The stream has an end of its own once the container ended; what is left in it must come in a bounded time. */
  async #drain(writing: Promise<void>): Promise<void> {
    const late = new AbortController()
    const timer = pause(DRAIN_MS_MAX, undefined, { signal: late.signal }).then(
      () => this.#stream?.destroy(),
      () => undefined
    )
    await writing
    late.abort()
    await timer
  }

  async #write(): Promise<void> {
    try {
      if (this.#stream === undefined || !(await this.#consumeAttached())) await this.#consumeLog()
    } catch (error) {
      await this.#fail(error)
    }
  }

  /** False when the stream broke before its end and the engine's log must give the rest. */
  async #consumeAttached(): Promise<boolean> {
    try {
      await this.#consume(false)
      return true
    } catch (error) {
      if (this.#over.signal.aborted || isDiskError(error)) throw error
      this.#begun.warn(`the output stream of ${this.#begun.execution.replica} broke (${String(error)}); reading the engine's log`)
      return false
    }
  }

  async #consumeLog(): Promise<void> {
    const { engine, execution, id, output, warn } = this.#begun
    try {
      this.#stream = await engine.logs(id)
      await this.#consume(true)
    } catch (error) {
      if (!(error instanceof OutputGap)) throw error
      if (execution.manifest.compareStdout)
        throw new ExecutorError('failed', `some output of ${execution.replica} was lost while nobody read it`, { cause: error })
      warn(`some output of ${execution.replica} was lost while nobody read it`)
      this.#stream = await engine.logs(id, await output.writtenAtMs())
      await this.#consume(false)
    }
  }

  async #consume(replay: boolean): Promise<void> {
    const stream = this.#stream
    if (stream === undefined) return
    if ((await this.#begun.output.consume(stream, replay)) === 'end') return
    const ending = this.#end('disk')
    stream.destroy() // a stream that nobody reads would hold up the container's end
    await ending
  }

  async #fail(error: unknown): Promise<void> {
    if (this.#over.signal.aborted) return
    const { engine, execution, id } = this.#begun
    this.#fault ??= isDiskError(error)
      ? new ExecutorError('disk_full', `the disk that holds ${execution.folder} is full; free some space`, { cause: error })
      : engine.failure('deliver the output', error)
    this.#stream?.destroy()
    await engine.signal(id, 'SIGKILL').catch(() => undefined)
  }

  /** KILL, for this cause unless there was one before. It is noted first: who finds the container after this process was killed can tell it then. */
  async #end(cause: StopCause): Promise<void> {
    this.#stopped ??= cause
    // A disk that takes no note must not keep the run alive.
    await writeFile(noteOf(this.#begun.execution), this.#stopped).catch(() => undefined)
    await this.#begun.engine.signal(this.#begun.id, 'SIGKILL')
    void this.#overWithin(KILL_STREAM_MS).then(() => this.#stream?.destroy())
  }

  /** Resolves when the run is over, and at the latest after `ms`. */
  async #overWithin(ms: number): Promise<void> {
    await pause(Math.min(ms, TIMER_MS_MAX), undefined, { signal: this.#over.signal }).catch(() => undefined)
  }

  async #limitTime(deadlineMs: number): Promise<void> {
    for (let leftMs = deadlineMs - Date.now(); leftMs > 0 && !this.#over.signal.aborted; leftMs = deadlineMs - Date.now()) await this.#overWithin(leftMs)
    if (!this.#over.signal.aborted) await this.#end('time').catch(() => undefined) // an engine that is gone shows in `wait`
  }

  async #look(): Promise<void> {
    let tookMs = 0
    for (let looks = 0; ; looks++) {
      await this.#overWithin(nextLookMs(looks, tookMs))
      if (this.#over.signal.aborted) return
      const began = performance.now()
      try {
        await this.#lookOnce(looks)
      } catch (error) {
        this.#begun.warn(`looking at ${this.#begun.execution.replica} failed: ${String(error)}`)
      }
      tookMs = performance.now() - began
    }
  }

  async #lookOnce(looks: number): Promise<void> {
    const { engine, execution, id, name, output } = this.#begun
    let seen = containerUsage(name, id)
    if (seen === undefined && looks > 1) {
      this.#pid ??= (await engine.inspect(id))?.pid
      seen = this.#pid === undefined || this.#pid === 0 ? undefined : await processUsage(this.#pid)
    }
    this.#usage = seen ?? this.#usage
    if (this.#usage.pidsRefused >= REFUSED_FORKS_MAX) return this.#end('pids')
    const out = join(execution.folder, 'out')
    const checkpoint = join(execution.folder, CHECKPOINT_FOLDER)
    const disk = (await diskUse(out, diskLimit(execution))) + (execution.snapshots === true ? await diskUse(checkpoint, diskLimit(execution)) : 0)
    if (disk + output.bytes > diskLimit(execution)) return this.#end('disk')
    const now = { nowMs: Date.now(), cpuMs: seen?.cpuMs, logBytes: output.bytes, changedMs: changedMs(execution.folder) }
    if (this.#silence?.look(now) === true) return this.#end('hang')
    if ((await freeBytes(execution.folder)) < FREE_BYTES_MIN)
      await this.#fail(new ExecutorError('disk_full', `the disk that holds ${execution.folder} is nearly full; free some space`))
  }
}

function isDiskError(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && (error.code === 'ENOSPC' || error.code === 'EDQUOT' || error.code === 'EIO')
}

/** Beside its output, out of the program's reach. */
function noteOf(execution: Execution): string {
  return join(execution.folder, 'stopped')
}

/** Why an earlier life of this node killed it. */
async function noted(execution: Execution): Promise<StopCause | undefined> {
  const text = await readFile(noteOf(execution), 'utf8').catch(() => '')
  return STOP_CAUSES.find((cause) => cause === text)
}
