import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as pause } from 'node:timers/promises'
import { until } from './until.ts'

const LAST_WORDS_MS_MAX = 2_000

/** A child process of a test: its lines of stdout as they came, and ways to end it. */
export interface TestProcess {
  readonly child: ChildProcess
  readonly lines: readonly string[]
  /** What it printed on stderr, for messages of failed assertions. */
  errors(): string
  /** Writes a line to its stdin. */
  tell(line: string): void
  kill(signal: NodeJS.Signals): Promise<void>
}

/** Starts a TypeScript program with this Node; its stdout is read by lines. `within`: a command that runs the one that follows it, and becomes it. `stdin` is nothing, or what it is told. */
export function startProgram(
  file: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  within: readonly string[] = [],
  stdin: 'ignore' | 'pipe' = 'ignore'
): TestProcess {
  const [command = '', ...argv] = [...within, process.execPath, file, ...args]
  const child = spawn(command, argv, { stdio: [stdin, 'pipe', 'pipe'], env: { ...process.env, NODE_TEST_CONTEXT: '', ...env } })
  const lines: string[] = []
  let errors = ''
  createInterface({ input: child.stdout as Readable }).on('line', (line) => lines.push(line))
  child.stderr?.on('data', (data: Buffer) => {
    errors = (errors + data.toString()).slice(-20_000)
  })
  // A program that ends does not read what it is told.
  child.stdin?.on('error', () => undefined)
  const exited = once(child, 'exit')
  const closed = once(child, 'close')
  return {
    child,
    lines,
    errors: () => errors,
    tell: (line) => {
      child.stdin?.write(`${line}\n`)
    },
    async kill(signal) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill(signal)
        await exited
        // What it said last comes after its exit, unless others hold its pipes on.
        await Promise.race([closed, pause(LAST_WORDS_MS_MAX, undefined, { ref: false })])
      }
    }
  }
}

/** Until it printed its first line. Rejects with what it said when it ends before. */
export async function begun(program: TestProcess, what: string): Promise<TestProcess> {
  const { child, lines } = program
  await until(`${what} to start`, () => lines.length > 0 || child.exitCode !== null || child.signalCode !== null)
  if (lines.length === 0) throw new Error(`${what} ended: ${program.errors()}`)
  return program
}
