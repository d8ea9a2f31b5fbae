/**
 * A shell that is started before there is anything to run: starting a process from one as large as the node's takes
 * milliseconds, which its next run need not wait for. What it is to do comes as a script on its stdin. Each is the leader of
 * a process group of its own, runs one script and ends; one that gets none ends with the node.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import type { Writable } from 'node:stream'

/** After a run began, before the next shell is started: not in the way of what follows at once. */
const REST_MS = 20

export interface Shell {
  readonly process: ChildProcess
  /** Runs the script and nothing more. */
  run(script: string): void
}

export class WarmShells {
  #ready: Shell | undefined
  #timer: NodeJS.Timeout | undefined
  #stopped = false

  /** A shell, started now unless one is ready. Throws as `spawn` does. */
  take(): Shell {
    const ready = this.#ready
    this.#ready = undefined
    this.#timer ??= setTimeout(() => this.#fill(), REST_MS).unref()
    return ready !== undefined && ready.process.exitCode === null && ready.process.signalCode === null ? ready : open()
  }

  stop(): void {
    this.#stopped = true
    clearTimeout(this.#timer)
    this.#ready?.process.kill('SIGKILL')
    this.#ready = undefined
  }

  #fill(): void {
    this.#timer = undefined
    if (this.#stopped || this.#ready !== undefined) return
    try {
      const shell = open()
      // It keeps nobody waiting, and whoever takes it hears of its end.
      shell.process.once('error', () => undefined)
      this.#ready = shell
    } catch {
      // The next run starts its own, and says why that failed.
    }
  }
}

function open(): Shell {
  const process = spawn('/bin/sh', ['-s'], { cwd: '/', detached: true, env: {}, stdio: ['pipe', 'ignore', 'ignore'] })
  const stdin: Writable = process.stdin
  // It may have ended by itself: its exit tells.
  stdin.on('error', () => undefined)
  process.unref()
  if ('unref' in stdin && typeof stdin.unref === 'function') stdin.unref()
  return {
    process,
    run(script) {
      process.ref()
      stdin.end(script)
    }
  }
}

/** A word that the shell takes as it is, whatever is in it. Text must not contain NUL. */
export function quote(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`
}
