/** `sim run`, `sim compare` and `sim sweep`: scenarios from their files to their reports. */
import { readFile, writeFile } from 'node:fs/promises'
import { basename, dirname, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { DAY_MS, HOUR_MS } from './availability.ts'
import { tableOf } from './compare.ts'
import { htmlOf } from './html.ts'
import { csvOf, linesOf, type Report, reportOf } from './report.ts'
import { parseScenario, ScenarioError, scenarioOf, type Written } from './scenario.ts'
import { readTrace, type Trace, TraceError } from './trace.ts'
import { World } from './world.ts'

export const USAGE = `usage: sim run FILE [--seed N] [--hosts N] [--set key=value]... [--html FILE] [--json FILE] [--csv FILE] [--quiet]
       sim compare FILE FILE [--seeds N] [--hosts N] [--set key=value]...
       sim sweep FILE --over key=value,value,... [--seeds N] [--hosts N] [--set key=value]...`

export interface CommandIo {
  readonly out: (line: string) => void
  readonly err: (line: string) => void
  readonly nowMs: () => number
  /** Aborted by Ctrl-C: the report of what was done so far is still written. */
  readonly signal: AbortSignal
}

const PROGRESS_MS = 2_000
const STOPPED = 130

const SEEDS = 5
const SEEDS_MAX = 1000
const VARIANTS_MAX = 16

/** Exit status: 0, 2 for a scenario or arguments that make no sense, 130 when it was stopped. */
export async function simCommand([verb, ...args]: readonly string[], io: CommandIo): Promise<number> {
  try {
    if (verb === 'run') return await run(parse(args), io)
    if (verb === 'compare') return await compare(parse(args), io)
    if (verb === 'sweep') return await sweep(parse(args), io)
    throw new ScenarioError(`run, compare or sweep is expected, not ${verb ?? 'nothing'}\n${USAGE}`)
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error
    io.err(error.message)
    return 2
  }
}

async function run({ files, changes, html, json, csv, quiet }: Arguments, io: CommandIo): Promise<number> {
  const [file] = files
  if (file === undefined || files.length > 1) throw new ScenarioError(`one scenario file is expected\n${USAGE}`)
  const report = await play(file, changes, quiet, io)
  for (const line of linesOf(report)) io.out(line)
  if (html !== undefined) await writeFile(html, htmlOf(report))
  if (json !== undefined) await writeFile(json, `${JSON.stringify(report, null, 1)}\n`)
  if (csv !== undefined) await writeFile(csv, csvOf(report))
  return io.signal.aborted ? STOPPED : 0
}

async function compare({ files, changes, seeds }: Arguments, io: CommandIo): Promise<number> {
  if (files.length < 2 || files.length > VARIANTS_MAX) throw new ScenarioError(`2 to ${VARIANTS_MAX} scenario files are expected\n${USAGE}`)
  return await beside(
    files.map((file) => ({ name: basename(file, '.yaml'), file, changes })),
    seeds,
    io
  )
}

async function sweep({ files, changes, over, seeds }: Arguments, io: CommandIo): Promise<number> {
  const [file] = files
  const at = over?.indexOf('=') ?? 0
  if (file === undefined || files.length > 1 || over === undefined || at < 1)
    throw new ScenarioError(`one scenario file and --over key=value,value,... are expected\n${USAGE}`)
  const key = over.slice(0, at)
  const values = over.slice(at + 1).split(',')
  if (values.length > VARIANTS_MAX) throw new ScenarioError(`--over ${key}: at most ${VARIANTS_MAX} values`)
  return await beside(
    values.map((value) => ({ name: `${key}=${value}`, file, changes: [...changes, [key, value] as const] })),
    seeds,
    io
  )
}

/** Every variant on every seed, then one table. */
async function beside(variants: readonly { name: string; file: string; changes: Changes }[], seeds: number, io: CommandIo): Promise<number> {
  const played: { name: string; reports: Report[] }[] = variants.map(({ name }) => ({ name, reports: [] }))
  for (let seed = 1; seed <= seeds && !io.signal.aborted; seed++) {
    const reports: Report[] = []
    for (const { file, changes } of variants) reports.push(await play(file, [...changes, ['seed', String(seed)]], true, io))
    // A seed that not all have played to the end would compare unlike things.
    if (io.signal.aborted) break
    for (const [at, report] of reports.entries()) played[at]?.reports.push(report)
    io.err(`seed ${seed} of ${seeds}`)
  }
  if (played[0]?.reports.length === 0) return STOPPED
  for (const line of tableOf(played)) io.out(line)
  io.out(`${played[0]?.reports.length} seeds; ± holds the true mean 95 times in 100, * marks a difference from the first that is clear of chance`)
  return io.signal.aborted ? STOPPED : 0
}

async function play(file: string, changes: Changes, quiet: boolean, io: CommandIo): Promise<Report> {
  const written = parseScenario(file, await read(file), changes)
  const scenario = scenarioOf(written, await traceOf(file, written))
  const world = new World(scenario.options)
  await world.start()
  const beganAtMs = io.nowMs()
  let toldAtMs = beganAtMs
  while (!world.over && !io.signal.aborted) {
    world.advance(world.nowMs + HOUR_MS / 4)
    // Lets signals in.
    await setImmediate()
    const nowMs = io.nowMs()
    if (quiet || nowMs - toldAtMs < PROGRESS_MS) continue
    toldAtMs = nowMs
    const seconds = (nowMs - beganAtMs) / 1000
    const { events } = world.totals
    io.err(`${(world.nowMs / DAY_MS).toFixed(2)} days, ${Math.round(world.nowMs / 1000 / seconds)} times as fast, ${Math.round(events / seconds)} events/s`)
  }
  return reportOf(scenario, world)
}

type Changes = readonly (readonly [path: string, value: string])[]

interface Arguments {
  readonly files: readonly string[]
  readonly changes: Changes
  readonly over: string | undefined
  readonly seeds: number
  readonly html: string | undefined
  readonly json: string | undefined
  readonly csv: string | undefined
  readonly quiet: boolean
}

function parse(args: readonly string[]): Arguments {
  const options = {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    over: { type: 'string' },
    hosts: { type: 'string' },
    set: { type: 'string', multiple: true },
    html: { type: 'string' },
    json: { type: 'string' },
    csv: { type: 'string' },
    quiet: { type: 'boolean', default: false }
  } as const
  try {
    const { values, positionals: files } = parseArgs({ args: [...args], options, allowPositionals: true })
    const seeds = Number(values.seeds ?? SEEDS)
    if (!Number.isSafeInteger(seeds) || seeds < 1 || seeds > SEEDS_MAX)
      throw new ScenarioError(`--seeds is a whole number from 1 to ${SEEDS_MAX}, not ${values.seeds}`)
    const changes = (values.set ?? []).map((change): [string, string] => {
      const at = change.indexOf('=')
      if (at < 1) throw new ScenarioError(`--set ${change}: key=value is expected, such as policy.quorum=3`)
      return [change.slice(0, at), change.slice(at + 1)]
    })
    if (values.seed !== undefined) changes.push(['seed', values.seed])
    if (values.hosts !== undefined) changes.push(['hosts', values.hosts])
    return { files, changes, over: values.over, seeds, html: values.html, json: values.json, csv: values.csv, quiet: values.quiet }
  } catch (error) {
    if (error instanceof ScenarioError || !(error instanceof TypeError)) throw error
    throw new ScenarioError(`${error.message}\n${USAGE}`)
  }
}

async function read(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new ScenarioError(`${file}: cannot be read: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
}

/** A recording lies beside its scenario. */
async function traceOf(file: string, { trace }: Written): Promise<Trace | null> {
  if (trace === null) return null
  const path = resolve(dirname(file), trace)
  try {
    return await readTrace(path)
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new ScenarioError(cause instanceof TraceError ? `${path}: ${message}` : `${file}: trace: ${message}`, { cause })
  }
}
