/** Daemons started in the background: found again by the record each writes in its folder, also after a crash of whoever started it. */
import { spawn } from 'node:child_process'
import { closeSync, existsSync, fstatSync, openSync } from 'node:fs'
import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { ClientError, type ClientErrorCode, EXIT } from '../errors.ts'
import { readJson, writeWhole } from './files.ts'
import { isRunning, ownProcess, type ProcessId, signalProcess, startOf } from './process.ts'

/** Set for a daemon that runs in the background: it logs to its folder. */
export const BACKGROUND_ENV = 'TALKO_BACKGROUND'
const POLL_MS = 25
/** After TERM a daemon has so long to end nicely. */
export const STOP_MS_MAX = 20_000
/** A process that has ended may be told of a little later. */
const LAST_WORDS_MS_MAX = 2_000
const LOG_TAIL_BYTES = 64 * 1024
const MISSING: Readonly<Record<DaemonRecord['role'], (dir: string) => string>> = {
  project: (dir) => `${dir} is not a project's folder: make one with talko init ${dir}`,
  node: (dir) => `there is no node in ${dir}; make one with: talko node join`,
  relay: (dir) => `there is no relay in ${dir}; make one with: talko relay init`
}
/** What a daemon's exit status says to whoever started it. */
const MEANING: Readonly<Record<number, ClientErrorCode>> = { [EXIT.usage]: 'usage', [EXIT.notFound]: 'not_found', [EXIT.unreachable]: 'unreachable' }

export interface DaemonRecord extends ProcessId {
  readonly role: 'project' | 'node' | 'relay'
  readonly peer?: string
  readonly addresses?: readonly string[]
  /** Of a project. */
  readonly relays?: readonly string[]
}

/** A daemon just started. */
export interface Started extends ProcessId {
  /** Where its own lines begin in the folder's log. */
  readonly logFrom: number
  /** The status it ended with; resolves when it has ended. */
  readonly exit?: Promise<number | null>
}

let entry = ''

/** The script that starts talko: daemons are started with it. */
export function setEntry(script: string): void {
  entry = script
}

export function logPath(dir: string): string {
  return join(dir, 'log')
}

function recordPath(dir: string): string {
  return join(dir, 'daemon.json')
}

/** The daemon of a folder, whether it still runs or not. */
export async function readDaemon(dir: string): Promise<DaemonRecord | undefined> {
  const value = (await readJson(recordPath(dir))) as Partial<DaemonRecord> | null | undefined
  if (typeof value?.pid !== 'number' || typeof value.started !== 'string' || !isRole(value.role)) return undefined
  const texts = (list: unknown): string[] | undefined => (Array.isArray(list) ? list.filter((item) => typeof item === 'string') : undefined)
  const [addresses, relays] = [texts(value.addresses), texts(value.relays)]
  return {
    pid: value.pid,
    started: value.started,
    role: value.role,
    ...(typeof value.peer === 'string' ? { peer: value.peer } : {}),
    ...(addresses === undefined ? {} : { addresses }),
    ...(relays === undefined ? {} : { relays })
  }
}

function isRole(role: unknown): role is DaemonRecord['role'] {
  return role === 'project' || role === 'node' || role === 'relay'
}

/** The daemon of a folder when it runs. */
export async function runningDaemon(dir: string): Promise<DaemonRecord | undefined> {
  const record = await readDaemon(dir)
  return record !== undefined && isRunning(record) ? record : undefined
}

/** Notes that this process is the daemon of the folder. */
export async function recordDaemon(dir: string, what: Omit<DaemonRecord, keyof ProcessId>): Promise<void> {
  await writeWhole(recordPath(dir), `${JSON.stringify({ v: 1, ...ownProcess(), ...what })}\n`)
}

export async function forgetDaemon(dir: string): Promise<void> {
  const record = await readDaemon(dir)
  if (record !== undefined && (record.pid === process.pid || !isRunning(record))) await rm(recordPath(dir), { force: true })
}

/**
 * Starts `talko <args>` in the background for the folder `dir`, its output in the folder's log. Resolves when its record is
 * written; whether it is ready is the caller's question.
 */
export async function startDaemon(dir: string, role: DaemonRecord['role'], args: readonly string[]): Promise<Started> {
  // Nothing is left in a folder that was named by mistake.
  if (!existsSync(join(dir, `${role}.json`))) throw new ClientError('not_found', MISSING[role](dir))
  const log = openSync(logPath(dir), 'a', 0o600)
  const logFrom = fstatSync(log).size
  try {
    const child = spawn(process.execPath, [entry, ...args], {
      cwd: dir,
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...process.env, [BACKGROUND_ENV]: '1' }
    })
    const failed = new Promise<never>((_, reject) =>
      child.once('error', (cause) => reject(new ClientError('refused', `cannot start ${process.execPath}: ${cause.message}`, { cause })))
    )
    await Promise.race([new Promise((resolve) => child.once('spawn', resolve)), failed])
    const exit = new Promise<number | null>((resolve) => child.once('exit', resolve))
    child.unref()
    const id = { pid: child.pid ?? 0, started: startOf(child.pid ?? 0) ?? '' }
    // The daemon writes the same, with more, once it serves: this is for a crash of ours, or of its, in between.
    await writeWhole(recordPath(dir), `${JSON.stringify({ v: 1, ...id, role })}\n`)
    return { ...id, logFrom, exit }
  } finally {
    closeSync(log)
  }
}

/** Polls `probe` until it answers something. Throws ClientError `refused` when the daemon ends first, `timeout` after `ms`. */
export async function untilReady<T>(dir: string, id: Started, ms: number, probe: () => Promise<T | undefined>, signal: AbortSignal): Promise<T> {
  const end = Date.now() + ms
  for (;;) {
    const answer = await probe()
    if (answer !== undefined) return answer
    if (!isRunning(id)) {
      const exit = await Promise.race([id.exit, wait(LAST_WORDS_MS_MAX)])
      throw new ClientError(MEANING[exit ?? EXIT.refused] ?? 'refused', await lastWords(dir, id.logFrom))
    }
    if (Date.now() > end) throw new ClientError('timeout', `not ready after ${Math.round(ms / 1000)} s; its log is ${logPath(dir)}`)
    await wait(POLL_MS, undefined, { signal }).catch(() => {
      throw signal.reason
    })
  }
}

/** TERM, then KILL when it has not ended in time. Whether one was running. */
export async function stopDaemon(id: ProcessId, ms: number = STOP_MS_MAX): Promise<boolean> {
  if (!signalProcess(id, 'SIGTERM')) return false
  const end = Date.now() + ms
  while (isRunning(id)) {
    if (Date.now() > end) signalProcess(id, 'SIGKILL')
    await wait(POLL_MS)
  }
  return true
}

/** Waits until the process has ended. */
export async function untilGone(id: ProcessId, signal: AbortSignal): Promise<void> {
  while (isRunning(id)) {
    await wait(POLL_MS, undefined, { signal }).catch(() => {
      throw signal.reason
    })
  }
}

/** What a daemon that ended said last: its one-line error when it printed one. */
async function lastWords(dir: string, from: number): Promise<string> {
  const log = await readFile(logPath(dir)).catch(() => Buffer.alloc(0))
  const lines = log.subarray(from).subarray(-LOG_TAIL_BYTES).toString('utf8').trimEnd().split('\n')
  const said = lines.findLast((line) => line.startsWith('talko: '))
  return said === undefined ? `it ended at once; its log is ${logPath(dir)}` : said.slice('talko: '.length)
}
