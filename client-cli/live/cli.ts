/** The command line in the real world. */
import { readFileSync, writeSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { EXIT } from '../errors.ts'
import { main } from '../main.ts'
import { systemClock } from './clock.ts'
import { setEntry } from './daemon.ts'

const COLUMNS = 100
/** A program that reads our output slowly (a pager) makes writes fail for now; they are tried again after this. */
const RETRY_WRITE_MS = 5

/** Runs `talko` with these words and ends the process; `entry` is the script to start daemons with. */
export async function runCli(argv: readonly string[], entry: string): Promise<never> {
  setEntry(entry)
  // A bug must not look like a task that failed (status 1).
  process.on('uncaughtException', (error) => {
    writeAll(2, Buffer.from(`talko: a bug: ${error instanceof Error ? error.stack : String(error)}\n`))
    process.exit(EXIT.bug)
  })
  const status = await main(argv, {
    clock: systemClock,
    version: version(entry),
    onInterrupt(call) {
      const listener = (): void => {
        if (!call()) process.exit(130)
      }
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, listener)
      return () => {
        for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, listener)
      }
    },
    io: {
      stdout: (text) => writeAll(1, typeof text === 'string' ? Buffer.from(text) : text),
      stderr: (text) => writeAll(2, Buffer.from(text)),
      terminal: process.stderr.isTTY === true,
      colour: process.stderr.isTTY === true && process.env.NO_COLOR === undefined,
      columns: () => process.stderr.columns ?? COLUMNS,
      nowMs: () => Date.now()
    }
  })
  // Sockets that are still closing must not hold a command that is done.
  process.exit(status)
}

/** Everything written when it returns, so that ending the process loses nothing; a reader that is gone ends us quietly. */
function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) {
    try {
      at += writeSync(fd, bytes, at)
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? error.code : ''
      if (code === 'EPIPE') process.exit(0)
      if (code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, RETRY_WRITE_MS)
    }
  }
}

/** The version of the nearest package.json above the script. */
function version(entry: string): string {
  for (let folder = dirname(entry); ; folder = dirname(folder)) {
    try {
      const value: { version?: unknown } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
      return typeof value.version === 'string' ? value.version : 'unknown'
    } catch {
      if (dirname(folder) === folder) return 'unknown'
    }
  }
}
