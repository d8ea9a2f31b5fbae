/**
 * The `process` engine: runs a command as a plain process of the node's own account. It is no sandbox; it serves trusted
 * code, tests and benchmarks, and a node offers it only when its owner says so.
 *
 * Each run is a session of its own, so that all its processes can be signalled together. A short script stands over the
 * command and writes down its exit status, and what it took of processors: when the node is killed, the run goes on, and both
 * can still be had. Every word of the manifest is quoted in it.
 */
import type { ChildProcess } from 'node:child_process'
import { accessSync, constants, existsSync, mkdirSync, readdirSync, readFileSync, statfsSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ReplicaId } from '#protocol/ids'
import { messageOf } from '#protocol/message-of'
import { RESUME_NAME } from '../leases.ts'
import { type Ended, type Execution, type Executor, ExecutorError, type Logger, type Running } from '../ports.ts'
import type { StopCause } from '../sandbox/end.ts'
import { Silence, silenceText } from '../sandbox/silence.ts'
import { changedMs } from './changed.ts'
import { factsOf, usageOf } from './proc.ts'
import { quote, type Shell, WarmShells } from './shell.ts'
import { CHECKPOINT_FOLDER } from './snapshots.ts'
import { makeRunFolder } from './workspace.ts'

export interface ProcessExecutorOptions {
  readonly logger: Logger
  /** The folder of replicas' folders, where `sweep` looks for what is left. */
  readonly folder: string
}

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
/** How often a run's usage and limits are looked at. */
const LOOK_MS = 250
/** From TERM to KILL when a limit ended the run. */
const LIMIT_GRACE_MS = 2_000
/** Bytes of stdout and stderr together. */
const LOG_BYTES_MAX = 256 * 1024 ** 2
/** With less free space than this a file may be missing for want of it. */
const FREE_BYTES_MIN = 1024 ** 2
const NOT_FOUND = 127
const NOT_EXECUTABLE = 126
const KILLED_STATUS = 137

interface PidFile {
  readonly pid: number
  readonly startTicks: number
  readonly startedAtMs: number
}

export function createProcessExecutor({ logger, folder }: ProcessExecutorOptions): Executor {
  const runs = new Map<ReplicaId, Run>()
  const shells = new WarmShells()
  const keep = (replica: ReplicaId, run: Run): Run => {
    runs.set(replica, run)
    return run
  }
  return {
    engine: 'process',
    async probe() {},
    async prepare() {},
    async start(execution) {
      return keep(execution.replica, begin(execution, shells))
    },
    async recover(executions) {
      const found = new Map<ReplicaId, Running>()
      for (const execution of executions) {
        const left = readPid(execution.folder)
        if (left === undefined || (!isAlive(left) && readExit(execution.folder) === undefined)) continue
        found.set(execution.replica, keep(execution.replica, new Run(execution, left, undefined)))
      }
      return found
    },
    async sweep(keepThese) {
      if (!existsSync(folder)) return
      for (const name of readdirSync(folder)) {
        const left = keepThese.has(name) ? undefined : readPid(join(folder, name))
        if (left === undefined || !isAlive(left)) continue
        logger.info({ replica: name, pid: left.pid }, 'ending a process of an earlier start')
        signalGroup(left.pid, 'SIGKILL')
      }
    },
    async remove(replica) {
      runs.get(replica)?.forget()
      runs.delete(replica)
    },
    async stop() {
      shells.stop()
      for (const run of runs.values()) run.forget()
      runs.clear()
    }
  }
}

/** Starts the command. A command that is not there ends the run with 127 (or 126), as a shell says it. */
function begin(execution: Execution, shells: WarmShells): Run {
  const { folder, manifest, inputs, gpus, snapshots } = execution
  const out = join(folder, 'out')
  makeRunFolder(folder)
  mkdirSync(out)
  mkdirSync(join(folder, 'in'))
  if (snapshots === true) mkdirSync(join(folder, CHECKPOINT_FOLDER))
  for (const { name, path } of inputs) symlinkSync(path, join(folder, 'in', name))
  const startedAtMs = Date.now()
  const [name = '', ...rest] = manifest.command
  const program = findProgram(name, out)
  if (typeof program === 'number') {
    writeFileSync(join(folder, 'stdout'), '')
    writeFileSync(join(folder, 'stderr'), `${name}: ${program === NOT_FOUND ? 'command not found' : 'not executable'}\n`)
    writeFileSync(join(folder, 'exit'), `${program}\n`)
    return new Run(execution, { pid: 0, startTicks: 0, startedAtMs }, undefined)
  }
  for (const log of ['stdout', 'stderr']) writeFileSync(join(folder, log), '', { mode: 0o644 })
  let shell: Shell
  try {
    shell = shells.take()
  } catch (cause) {
    throw new ExecutorError('failed', `the process could not be started: ${messageOf(cause)}`, { cause })
  }
  const pid = shell.process.pid ?? 0
  const left: PidFile = { pid, startTicks: factsOf(pid)?.startTicks ?? 0, startedAtMs }
  if (pid > 0) writeFileSync(join(folder, 'pid'), JSON.stringify(left))
  const run = new Run(execution, left, shell.process)
  const cards: Record<string, string> = gpus === undefined ? {} : { CUDA_VISIBLE_DEVICES: gpus.join(',') }
  const environment = {
    PATH,
    HOME: folder,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    TALKO_IN: join(folder, 'in'),
    ...cards,
    ...manifest.environment,
    ...snapshotVariables(execution, folder)
  }
  shell.run(scriptOf(folder, environment, [program, ...rest]))
  return run
}

function snapshotVariables({ snapshots, inputs }: Execution, folder: string): Record<string, string> {
  if (snapshots !== true) return {}
  const resumes = inputs.some(({ name }) => name === RESUME_NAME)
  return { TALKO_CHECKPOINT: join(folder, CHECKPOINT_FOLDER), ...(resumes ? { TALKO_RESUME: join(folder, 'in', RESUME_NAME) } : {}) }
}

/** TERM must not end the script before the command it waits for; the command itself gets the default back. */
function scriptOf(folder: string, environment: Readonly<Record<string, string>>, command: readonly [program: string, ...rest: string[]]): string {
  const variables = Object.entries(environment).map(([name, value]) => `${name}=${value}`)
  // `env` would take a path with an equals sign for another variable.
  const program = command[0].includes('=') ? ['/bin/sh', '-c', 'exec "$0" "$@"', ...command] : command
  const words = ['/usr/bin/env', '-i', ...variables, ...program].map(quote).join(' ')
  return `trap : TERM INT HUP QUIT
cd ${quote(join(folder, 'out'))} && exec > ../stdout 2> ../stderr || exit
${words} < /dev/null
ended=$?
{ times; echo $ended; } > ../exit
`
}

/** One process group until it ends; its own child, or one that an earlier life of the node started. */
class Run implements Running {
  readonly ended: Promise<Ended>
  readonly #execution: Execution
  readonly #process: PidFile
  readonly #looks: NodeJS.Timeout
  #kill: NodeJS.Timeout | undefined
  #limit: NodeJS.Timeout | undefined
  #cause: StopCause | 'exit' = 'exit'
  readonly #silence: Silence | undefined
  #over = false
  #cpuMs = 0
  #memoryPeakBytes = 0
  readonly #settle: { resolve(ended: Ended): void; reject(error: Error): void }

  constructor(execution: Execution, process: PidFile, child: ChildProcess | undefined) {
    this.#execution = execution
    this.#process = process
    const { promise, resolve, reject } = Promise.withResolvers<Ended>()
    this.ended = promise
    this.#settle = { resolve, reject }
    const { silenceMs } = execution.manifest.resources
    this.#silence = silenceMs === undefined ? undefined : new Silence(silenceMs)
    this.#looks = setInterval(() => this.#look(), LOOK_MS)
    const leftMs = Math.max(0, process.startedAtMs + execution.manifest.resources.timeMs - Date.now())
    // A timer holds at most 2^31 - 1 ms; a longer limit is looked at with everything else.
    if (leftMs < 2 ** 31) this.#limit = setTimeout(() => this.#look(), leftMs)
    if (child === undefined) setImmediate(() => this.#look())
    else {
      child.once('error', (cause) => this.#fail(`the process could not be started: ${cause.message}`, cause))
      child.once('exit', () => this.#finish())
    }
  }

  async kill(graceMs: number): Promise<void> {
    this.#stop('killed', graceMs)
    await this.ended.catch(() => undefined)
  }

  /** Looks no more; what runs runs on. */
  forget(): void {
    this.#over = true
    clearInterval(this.#looks)
    clearTimeout(this.#kill)
    clearTimeout(this.#limit)
  }

  #stop(cause: StopCause, graceMs: number): void {
    if (this.#over) return
    if (this.#cause === 'exit') this.#cause = cause
    signalGroup(this.#process.pid, 'SIGTERM')
    clearTimeout(this.#kill)
    this.#kill = setTimeout(() => signalGroup(this.#process.pid, 'SIGKILL'), graceMs)
  }

  /** Usage, limits, and the end of a process that is not our child. */
  #look(): void {
    if (this.#over) return
    if (!isAlive(this.#process)) {
      this.#finish()
      return
    }
    const { cpuMs, residentBytes } = usageOf(this.#process.pid)
    this.#cpuMs = Math.max(this.#cpuMs, cpuMs)
    this.#memoryPeakBytes = Math.max(this.#memoryPeakBytes, residentBytes)
    if (this.#cause !== 'exit') return
    const broken = this.#limitBroken(cpuMs)
    if (broken !== undefined) this.#stop(broken, LIMIT_GRACE_MS)
  }

  #limitBroken(cpuMs: number): 'time' | 'disk' | 'hang' | undefined {
    const { folder, manifest } = this.#execution
    const { timeMs, diskBytes } = manifest.resources
    const nowMs = Date.now()
    if (nowMs >= this.#process.startedAtMs + timeMs) return 'time'
    const logBytes = sizeOf(join(folder, 'stdout')) + sizeOf(join(folder, 'stderr'))
    if (logBytes > Math.min(LOG_BYTES_MAX, Math.max(diskBytes, 1024 ** 2))) return 'disk'
    const hangs = this.#silence?.look({ nowMs, cpuMs, logBytes, changedMs: changedMs(folder) }) === true
    return hangs ? 'hang' : undefined
  }

  #finish(): void {
    if (this.#over) return
    this.forget()
    const { pid, startedAtMs } = this.#process
    // What it left running in its group goes with it.
    if (pid > 0) signalGroup(pid, 'SIGKILL')
    if (this.#cause === 'hang') {
      this.#settle.reject(new ExecutorError('hang', silenceText(this.#execution.manifest.resources.silenceMs ?? 0)))
      return
    }
    const exit = readExit(this.#execution.folder)
    if (exit === undefined && this.#cause === 'exit') {
      this.#settle.reject(lostExit(this.#execution.folder))
      return
    }
    const endedAtMs = Math.max(startedAtMs, Math.round(exit?.atMs ?? Date.now()))
    const exitCode = exit?.status ?? KILLED_STATUS
    // What a run took after it was looked at last only its shell knows; what those took that nobody waited for only who looked.
    const cpuMs = Math.max(this.#cpuMs, exit?.cpuMs ?? 0)
    this.#settle.resolve({ reason: this.#cause, exitCode, startedAtMs, endedAtMs, cpuMs, memoryPeakBytes: this.#memoryPeakBytes })
  }

  #fail(message: string, cause: Error): void {
    if (this.#over) return
    this.forget()
    this.#settle.reject(new ExecutorError('failed', message, { cause }))
  }
}

/** The absolute path of a program, or the status a shell ends with when there is none. Never a shell's own word. */
function findProgram(name: string, cwd: string): string | number {
  const places = name.includes('/') ? [name.startsWith('/') ? name : join(cwd, name)] : PATH.split(':').map((folder) => join(folder, name))
  let status = NOT_FOUND
  for (const place of name === '' ? [] : places) {
    try {
      if (!statSync(place).isFile()) continue
      status = NOT_EXECUTABLE
      accessSync(place, constants.X_OK)
      return place
    } catch {
      // The next one.
    }
  }
  return status
}

function isAlive({ pid, startTicks }: PidFile): boolean {
  if (pid === 0) return false
  const facts = factsOf(pid)
  return facts !== undefined && !facts.ended && facts.startTicks === startTicks
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  if (pid <= 1) return
  try {
    process.kill(-pid, signal)
  } catch {
    // It has ended.
  }
}

function readPid(folder: string): PidFile | undefined {
  try {
    const value: Partial<PidFile> = JSON.parse(readFileSync(join(folder, 'pid'), 'utf8'))
    const { pid, startTicks, startedAtMs } = value
    if (!Number.isSafeInteger(pid) || !Number.isSafeInteger(startTicks) || !Number.isSafeInteger(startedAtMs)) return undefined
    return value as PidFile
  } catch {
    return undefined
  }
}

function readExit(folder: string): { readonly status: number; readonly atMs: number; readonly cpuMs: number } | undefined {
  try {
    const path = join(folder, 'exit')
    // The shell's own times, those of its children, and the status, without whose line end it is not all there yet; the status alone of a run that an older node began.
    const [, children = '', status] = /^(?:.*\n(.*)\n)?(\d{1,3})\n$/.exec(readFileSync(path, 'utf8')) ?? []
    return status === undefined ? undefined : { status: Number(status), atMs: statSync(path).mtimeMs, cpuMs: timesOf(children) }
  } catch {
    return undefined
  }
}

/** `0m0.160000s 0m0.010000s`: time of its own and of the kernel for it, in milliseconds. */
function timesOf(line: string): number {
  const sum = [...line.matchAll(/(\d+)m([\d.]+)s/g)].reduce((all, [, minutes, seconds]) => all + 60 * Number(minutes) + Number(seconds), 0)
  return Number.isFinite(sum) ? Math.round(1000 * sum) : 0
}

/** Why a run that nobody ended left no exit status. */
function lostExit(folder: string): ExecutorError {
  try {
    const { bavail, bsize } = statfsSync(folder)
    if (bavail * bsize < FREE_BYTES_MIN) return new ExecutorError('disk_full', `the disk that holds ${folder} is full; free some space`)
  } catch {
    // The folder has gone, and the status with it.
  }
  return new ExecutorError('failed', 'the process was ended by something else than talko')
}

function sizeOf(path: string): number {
  try {
    return statSync(path).size
  } catch {
    return 0
  }
}
