/**
 * `npm run bench [-- NAME...] [--json] [--rounds=N]`: runs the benchmarks beside this file and prints a line for each figure:
 * what, value, the peer and its value measured in the same run, their ratio and the bound it must meet. Ends with 1 when a bound is missed.
 */
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** One figure. `must` is a bound on the ratio (`>= 0.8`, or `within 5 %` of 1) or, when it starts with the word value, on the value itself (`value <= 10`); or several of these, each after a comma. */
export interface BenchLine {
  readonly name: string
  readonly value: number
  readonly unit: string
  readonly peer: string
  readonly peerValue: number
  /** value / peerValue. */
  readonly ratio: number
  readonly must: string
  readonly met: boolean
}

export interface BenchContext {
  /** How many alternating rounds each side gets; at least 3. */
  readonly rounds: number
  /** An empty folder of this benchmark, removed after it. */
  readonly workFolder: string
  /** Progress, to stderr. */
  log(line: string): void
  /** Debian packages that must be there, by name; installed when missing (needs root). */
  ensure(packages: readonly string[]): Promise<void>
  /** Installs `name@version` (several, separated by spaces) under `.bench/`; the answer is the folder whose node_modules holds them. */
  npmPeer(spec: string): Promise<string>
}

export type Benchmark = (context: BenchContext) => Promise<BenchLine[]>

const NAMES = [
  'latency',
  'tasks',
  'sustained',
  'slots',
  'flood',
  'abuse',
  'coordinator',
  'matching',
  'memory',
  'connections',
  'discovery',
  'relay',
  'sweep',
  'content',
  'docker',
  'live',
  'locality',
  'next',
  'egress',
  'agreement',
  'population',
  'agents',
  'stack',
  'simgrid'
] as const
/** Of many minutes: only when asked for by name. */
const LONG = ['population-long', 'sustained-long', 'discovery-simulated'] as const
export const ROUNDS_MIN = 3
const root = fileURLToPath(new URL('../..', import.meta.url))

/** The middle value; the mean of the two middle ones for an even count. */
export function median(values: readonly number[]): number {
  if (values.length === 0) throw new RangeError('a median needs at least one value')
  return quantile(values, 0.5)
}

/** Linear interpolation between the closest ranks; `part` from 0 to 1. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const rank = (sorted.length - 1) * part
  const low = sorted[Math.floor(rank)] ?? Number.NaN
  const high = sorted[Math.ceil(rank)] ?? Number.NaN
  return low + (high - low) * (rank - Math.floor(rank))
}

/**
 * Measures ours and the peer in turns, so that a slow minute of the machine hits both; every second round begins with the peer.
 * @returns the medians of both, each in whatever unit the two functions answer
 */
export async function alternate(
  context: Pick<BenchContext, 'rounds'>,
  ours: (round: number) => Promise<number>,
  peer: (round: number) => Promise<number>
): Promise<{ value: number; peerValue: number; values: readonly number[]; peerValues: readonly number[] }> {
  const { values, peers } = await alternateAll(context, ours, [peer])
  const peerValues = peers[0] ?? []
  return { value: median(values), peerValue: median(peerValues), values, peerValues }
}

/** The same beside several peers: the values of each, round by round. */
export async function alternateAll(
  context: Pick<BenchContext, 'rounds'>,
  ours: (round: number) => Promise<number>,
  peers: readonly ((round: number) => Promise<number>)[]
): Promise<{ readonly values: readonly number[]; readonly peers: readonly (readonly number[])[] }> {
  const values: number[] = []
  const others = peers.map((measure) => ({ measure, values: [] as number[] }))
  const theirs = async (round: number): Promise<void> => {
    for (const other of others) other.values.push(await other.measure(round))
  }
  for (let round = 0; round < Math.max(context.rounds, ROUNDS_MIN); round++) {
    if (round % 2 === 1) await theirs(round)
    values.push(await ours(round))
    if (round % 2 === 0) await theirs(round)
  }
  return { values, peers: others.map((other) => other.values) }
}

/** Seconds that `call` takes. */
export async function seconds(call: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await call()
  return (performance.now() - started) / 1000
}

/** Completes a line with its ratio and whether it keeps its bounds. Throws RangeError for a bound that is none. */
export function benchLine(figures: Omit<BenchLine, 'ratio' | 'met'>): BenchLine {
  const ratio = figures.value / figures.peerValue
  const kept = figures.must.split(', ').map((bound) => keeps(bound, figures.value, ratio))
  return { ...figures, ratio, met: kept.every((one) => one) }
}

function keeps(must: string, value: number, ratio: number): boolean {
  const within = /^within (\d+(?:\.\d+)?) %$/.exec(must)
  if (within !== null) return Math.abs(ratio - 1) <= Number(within[1]) / 100
  const match = /^(value |ratio )?(<=|>=) (\d+(?:\.\d+)?)$/.exec(must)
  if (match === null) throw new RangeError(`a bound looks like '>= 0.8', 'within 5 %' or 'value <= 10', not ${JSON.stringify(must)}`)
  const subject = match[1] === 'value ' ? value : ratio
  const bound = Number(match[3])
  return match[2] === '<=' ? subject <= bound : subject >= bound
}

function ensurePackages(packages: readonly string[]): void {
  execFileSync(process.execPath, ['scripts/setup.mjs', 'apt', ...packages], { cwd: root, stdio: ['ignore', 2, 2] })
}

async function npmPeer(spec: string, log: (line: string) => void): Promise<string> {
  const folder = join(root, '.bench', spec.replaceAll(/[^A-Za-z0-9.@-]/g, '_'))
  if (existsSync(join(folder, 'installed'))) return folder
  log(`installing ${spec}`)
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'package.json'), '{"private":true,"type":"module"}\n')
  execFileSync('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error', ...spec.split(' ')], {
    cwd: folder,
    stdio: ['ignore', 2, 2]
  })
  await writeFile(join(folder, 'installed'), '')
  return folder
}

function short(value: number): string {
  return Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3)
}

/** One figure as a person reads it. */
export function describe(line: BenchLine): string {
  const verdict = line.met ? 'ok' : 'MISSED'
  return `${verdict.padEnd(7)}${line.name}: ${short(line.value)} ${line.unit}; ${line.peer}: ${short(line.peerValue)} ${line.unit}; ratio ${line.ratio.toFixed(2)}, must be ${line.must}`
}

async function main(args: readonly string[]): Promise<number> {
  const json = args.includes('--json')
  const asked = args.filter((argument) => !argument.startsWith('--'))
  const unknown = asked.find((name) => ![...NAMES, ...LONG].some((known) => known === name))
  if (unknown !== undefined) {
    console.error(`no benchmark is called ${unknown}; there are ${[...NAMES, ...LONG].join(', ')}`)
    return 2
  }
  const rounds = Math.max(ROUNDS_MIN, Number(args.find((argument) => argument.startsWith('--rounds='))?.slice('--rounds='.length) ?? ROUNDS_MIN))
  const lines: BenchLine[] = []
  for (const name of asked.length === 0 ? NAMES : asked) {
    const file = new URL(`./${name}.ts`, import.meta.url)
    if (!existsSync(file)) continue
    const log = (line: string): void => console.error(`${name}: ${line}`)
    const workFolder = await mkdtemp(join(tmpdir(), `talko-bench-${name}-`))
    try {
      const { run } = (await import(file.href)) as { run: Benchmark }
      const context = {
        rounds,
        workFolder,
        log,
        ensure: async (packages: readonly string[]) => ensurePackages(packages),
        npmPeer: (spec: string) => npmPeer(spec, log)
      }
      for (const line of await run(context)) {
        lines.push(line)
        if (!json) console.log(describe(line))
      }
    } finally {
      await rm(workFolder, { recursive: true, force: true })
    }
  }
  if (json) console.log(JSON.stringify(lines, null, 2))
  return lines.every((line) => line.met) ? 0 : 1
}

// no await up here: the benchmarks import this file, and would wait for it while it waits for them
if (import.meta.main) {
  main(process.argv.slice(2)).then(
    (code) => process.exit(code),
    (error: unknown) => {
      console.error(error)
      process.exit(1)
    }
  )
}
