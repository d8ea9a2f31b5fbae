/** A copy of the source tree in which one bug at a time is planted, and the simulator let loose on it. */
import { spawn } from 'node:child_process'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SIM_FLAGS } from '../flags.ts'
import type { Bug } from './bugs.ts'

const ROOT = join(import.meta.dirname, '../..')
const FOLDERS = ['protocol', 'project-server', 'node', 'sim'] as const
const RUN_MS_MAX = 480_000
/** Of a world of the stack level: as few as hold all that can befall it. */
const COMPUTERS = 10

export interface Caught {
  readonly seed: number
  readonly complaint: string
  /** Arguments that repeat it where the bug is. */
  readonly repeat: readonly string[]
  /** The small case as a story, as data, and the arguments that repeat it; empty when it was not asked for. */
  readonly story: string
  readonly small: string
  readonly repeatSmall: readonly string[]
  /** Until it was caught, and until it was small. */
  readonly caughtMs: number
  readonly smallMs: number
}

export interface Effort {
  readonly seeds: number
  /** Attempts to make it small. */
  readonly shrink: number
}

export interface Simulated {
  /** Null for one that took longer than eight minutes. */
  readonly status: number | null
  readonly output: string
  readonly errors: string
  /** When it said that a seed failed, and when it ended, after it began. */
  readonly saidMs: number
  readonly endedMs: number
}

/** `npm run sim` with these arguments. */
export type Simulate = (args: readonly string[]) => Promise<Simulated>

export interface Copy {
  /** Does something where the bug is planted. Throws when the line to be changed is not there. */
  with<Done>(bug: Bug, act: (simulate: Simulate) => Promise<Done>): Promise<Done>
  remove(): Promise<void>
}

export async function copyTree(): Promise<Copy> {
  const dir = await mkdtemp(join(tmpdir(), 'talko-planted-'))
  for (const folder of FOLDERS) await cp(join(ROOT, folder), join(dir, folder), { recursive: true })
  await cp(join(ROOT, 'package.json'), join(dir, 'package.json'))
  await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
  return {
    async with(bug, act) {
      const file = join(dir, bug.file)
      const source = await readFile(file, 'utf8')
      await writeFile(file, withBug(source, bug))
      try {
        return await act((args) => simulate(dir, args))
      } finally {
        await writeFile(file, source)
      }
    },
    remove: () => rm(dir, { recursive: true, force: true })
  }
}

/** Throws when the line to be changed is not in the source once. */
export function withBug(source: string, { file, line, instead }: Bug): string {
  if (source.split(line).length !== 2) throw new Error(`${file} does not have this line once any more: ${line}`)
  return source.replace(line, () => instead)
}

/** Undefined when no seed saw anything wrong. Throws when the seeds take longer than eight minutes. */
export async function look(simulated: Simulate, bug: Bug, { seeds, shrink }: Effort): Promise<Caught | undefined> {
  const where = [...(bug.level === 'stack' ? ['--stack', '--nodes', String(COMPUTERS)] : ['--large-last']), '--shrink', String(shrink)]
  const first = bug.seed === undefined ? undefined : await caughtBy(await simulated([...where, '--seed', String(bug.seed)]))
  return first ?? (await caughtBy(await simulated([...where, '--seeds', String(seeds)])))
}

async function caughtBy({ status, errors, saidMs, endedMs }: Simulated): Promise<Caught | undefined> {
  if (status === 0) return undefined
  const failed = /^seed (\d+) failed: (.*)$/m.exec(errors)
  if (status === null) throw new Error(`the simulator took longer than ${RUN_MS_MAX / 60_000} minutes: ${errors.slice(-2_000)}`)
  if (status !== 3 || failed === null) throw new Error(`the simulator itself broke (status ${status}): ${errors.slice(-2_000)}`)
  const [, seed = '', complaint = ''] = failed
  const [, repeat = ''] = /^repeat it .* with: npm run sim -- (.*)$/m.exec(errors) ?? []
  const [, story = ''] = errors.split(/^repeat it .*\n/m)
  const [, file] = /^the small case: .* --case (.*)$/m.exec(errors) ?? []
  const small = file === undefined ? '' : await readFile(file, 'utf8')
  const repeatSmall = file === undefined ? [] : ['--case', file]
  return { seed: Number(seed), complaint, repeat: repeat.split(' '), story: story.trim(), small, repeatSmall, caughtMs: saidMs, smallMs: endedMs }
}

function simulate(dir: string, args: readonly string[]): Promise<Simulated> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    let output = ''
    let errors = ''
    let saidMs = 0
    // Several run side by side, and would write their small cases to the same files.
    const env = { ...process.env, NODE_COMPILE_CACHE: join(dir, '.compiled'), TMPDIR: dir }
    const stdio: ['ignore', 'pipe', 'pipe'] = ['ignore', 'pipe', 'pipe']
    const child = spawn(process.execPath, [...SIM_FLAGS, join(dir, 'sim/runner/main.ts'), ...args], { cwd: dir, stdio, timeout: RUN_MS_MAX, env })
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text
      if (saidMs === 0 && /^seed \d+ failed/m.test(errors)) saidMs = performance.now() - began
    })
    child.once('error', reject)
    child.once('close', (status) => resolve({ status, output, errors, saidMs, endedMs: performance.now() - began }))
  })
}
