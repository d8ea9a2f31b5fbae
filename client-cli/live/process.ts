/** Processes by pid and start time: a pid alone may have been given to another program since. */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

export interface ProcessId {
  readonly pid: number
  /** Opaque; equal only for the same process. */
  readonly started: string
}

export function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid <= 1) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}

/** When a process started; undefined when there is none (or only its zombie). */
export function startOf(pid: number): string | undefined {
  if (!Number.isSafeInteger(pid) || pid <= 1) return undefined
  try {
    if (process.platform !== 'linux')
      return execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim() || undefined
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    // Fields after the name, which may hold anything: state is the 1st, start time in clock ticks since boot the 20th.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    if (fields[0] === 'Z' || fields[0] === 'X' || fields[19] === undefined) return undefined
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()}/${fields[19]}`
  } catch {
    return undefined
  }
}

export function ownProcess(): ProcessId {
  return { pid: process.pid, started: startOf(process.pid) ?? '' }
}

export function isRunning(id: ProcessId): boolean {
  return id.started !== '' && startOf(id.pid) === id.started
}

/** Signals the process only when it still is the same one; whether it was. */
export function signalProcess(id: ProcessId, signal: NodeJS.Signals): boolean {
  if (!isRunning(id)) return false
  try {
    process.kill(id.pid, signal)
    return true
  } catch {
    return false
  }
}
