/** The real `talko`, as a person's shell runs it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startProgram, type TestProcess } from './process.ts'
import { until } from './until.ts'

export const TALKO = fileURLToPath(new URL('../../client-cli/bin/talko.js', import.meta.url))
/** A command that hangs fails by its own name instead of the whole file's. */
const COMMAND_MS_MAX = 60_000

export interface Said {
  readonly status: number | null
  readonly out: string
  readonly err: string
}

export interface TalkoOptions {
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /** Runs it as this user; for tests that are root. */
  readonly uid?: number
  /** A command that runs the one that follows it, and becomes it. */
  readonly within?: readonly string[]
}

/** Runs one command line to its end. */
export async function talko(argv: readonly string[], { env = {}, cwd, uid, within = [] }: TalkoOptions = {}): Promise<Said> {
  const [command = '', ...words] = [...within, process.execPath, TALKO, ...argv]
  const child = spawn(command, words, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, NODE_TEST_CONTEXT: '', ...env },
    timeout: COMMAND_MS_MAX,
    ...(cwd === undefined ? {} : { cwd }),
    ...(uid === undefined ? {} : { uid, gid: uid })
  })
  let out = ''
  let err = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text
  })
  const [status] = await once(child, 'close')
  return { status, out, err }
}

/** Starts one that goes on. */
export function startTalko(argv: readonly string[], env: Readonly<Record<string, string>> = {}, within: readonly string[] = []): TestProcess {
  return startProgram(TALKO, argv, env, within)
}

/** That a command line was refused with this status, by one line that says so: nothing on stdout, no stack. */
export function assertRefused({ status, out, err }: Said, exit: number, says: RegExp): void {
  assert.equal(status, exit, err)
  const lines = err.trimEnd().split('\n')
  assert.equal(lines.filter((line) => line.startsWith('talko: ')).length, 1, err)
  assert.match(lines.at(-1) ?? '', says)
  assert.doesNotMatch(err, /^\s+at /m)
  assert.equal(out, '')
}

/** That it did what it was asked. */
export function assertDone({ status, err }: Said): void {
  assert.equal(status, 0, err)
}

/** One process that runs command lines, many at once: cheaper than a process for each. */
export class TalkoShell {
  readonly process: TestProcess
  #next = 1

  constructor(env: Readonly<Record<string, string>>, { within = [], cwd }: Pick<TalkoOptions, 'within' | 'cwd'> = {}) {
    this.process = startProgram(fileURLToPath(new URL('./shell-program.ts', import.meta.url)), cwd === undefined ? [] : [cwd], env, within, 'pipe')
  }

  async run(...argv: readonly string[]): Promise<Said> {
    const id = this.#next++
    this.process.tell(JSON.stringify({ id, argv }))
    const line = await until(
      `talko ${argv.join(' ')}`,
      () => {
        if (this.process.child.exitCode !== null) throw new Error(this.process.errors())
        return this.process.lines.find((said) => said.startsWith(`{"id":${id},`))
      },
      COMMAND_MS_MAX
    )
    return JSON.parse(line)
  }
}
