/** `sim run FILE`: a scenario from its file to its report. */
import { readFile, writeFile } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { HOUR_MS } from './availability.ts'
import { csvOf, linesOf, reportOf } from './report.ts'
import { parseScenario, ScenarioError, scenarioOf, type Written } from './scenario.ts'
import { readTrace, type Trace, TraceError } from './trace.ts'
import { World } from './world.ts'

export const RUN_USAGE = 'usage: sim run FILE [--seed N] [--hosts N] [--set key=value]... [--json FILE] [--csv FILE] [--quiet]'

export interface CommandIo {
  readonly out: (line: string) => void
  readonly err: (line: string) => void
  readonly nowMs: () => number
  /** Aborted by Ctrl-C: the report of what was done so far is still written. */
  readonly signal: AbortSignal
}

const PROGRESS_MS = 2_000

/** Exit status: 0, 2 for a scenario or arguments that make no sense, 130 when it was stopped. */
export async function runCommand(args: readonly string[], io: CommandIo): Promise<number> {
  try {
    return await run(args, io)
  } catch (error) {
    if (!(error instanceof ScenarioError)) throw error
    io.err(error.message)
    return 2
  }
}

async function run(args: readonly string[], io: CommandIo): Promise<number> {
  const { file, changes, json, csv, quiet } = parse(args)
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
    io.err(
      `${(world.nowMs / 24 / HOUR_MS).toFixed(2)} days, ${Math.round(world.nowMs / 1000 / seconds)} times as fast, ${Math.round(events / seconds)} events/s`
    )
  }
  const report = reportOf(scenario, world)
  for (const line of linesOf(report)) io.out(line)
  if (json !== undefined) await writeFile(json, `${JSON.stringify(report, null, 1)}\n`)
  if (csv !== undefined) await writeFile(csv, csvOf(report))
  return io.signal.aborted ? 130 : 0
}

interface Arguments {
  readonly file: string
  readonly changes: readonly (readonly [string, string])[]
  readonly json: string | undefined
  readonly csv: string | undefined
  readonly quiet: boolean
}

function parse(args: readonly string[]): Arguments {
  const options = {
    seed: { type: 'string' },
    hosts: { type: 'string' },
    set: { type: 'string', multiple: true },
    json: { type: 'string' },
    csv: { type: 'string' },
    quiet: { type: 'boolean', default: false }
  } as const
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true })
    const [file] = positionals
    if (file === undefined || positionals.length > 1) throw new ScenarioError(`one scenario file is expected\n${RUN_USAGE}`)
    const changes = (values.set ?? []).map((change): [string, string] => {
      const at = change.indexOf('=')
      if (at < 1) throw new ScenarioError(`--set ${change}: key=value is expected, such as policy.quorum=3`)
      return [change.slice(0, at), change.slice(at + 1)]
    })
    if (values.seed !== undefined) changes.push(['seed', values.seed])
    if (values.hosts !== undefined) changes.push(['hosts', values.hosts])
    return { file, changes, json: values.json, csv: values.csv, quiet: values.quiet }
  } catch (error) {
    if (error instanceof ScenarioError || !(error instanceof TypeError)) throw error
    throw new ScenarioError(`${error.message}\n${RUN_USAGE}`)
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
