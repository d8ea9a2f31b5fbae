/** What the verbs of `talko sim` share: their options, progress, and where reports go. */
import { access, constants, stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Command } from 'commander'
import type { Choice, Plan, Progress, SimPorts } from '#sim/main'
import { pairIn, parseWhole } from '../client/units.ts'
import { type Context, collect, text, texts } from '../command.ts'
import { ClientError, EXIT } from '../errors.ts'
import { fit } from '../output/progress.ts'

const SEEDS_MAX = 1000

export const SIM_EXIT_HELP =
  'Exit status: 0 ok, 2 the scenario or what was asked makes no sense, 3 something was not as it must be (the line that repeats it is printed), 130 stopped: what was done so far is reported.'

export function studyOptions(command: Command, seeds: number): void {
  command
    .option('--seed <n>', "the first seed (default: the scenario's)")
    .option('--seeds <n>', 'so many seeds, counted up from the first', String(seeds))
    .option('--hosts <n>', 'so many hosts')
    .option('--set <key=value>', 'change a key of the scenario, such as policy.quorum=3; may repeat', collect)
    .option('--html <file>', 'write the report as a page with pictures')
    .option('--json <file>', 'write the report as JSON: what `talko sim replay` repeats')
    .option('--csv <file>', 'write the samples as CSV')
    .option('--dry-run', 'check the scenario, say what would be run, and run nothing')
}

/** Throws ClientError (`usage`). */
export function choiceOf(options: Readonly<Record<string, unknown>>): Choice {
  const changes = texts(options, 'set').map((change) => {
    const pair = pairIn(change)
    if (pair === undefined) throw new ClientError('usage', `--set ${change}: key=value is expected, such as policy.quorum=3`)
    return pair
  })
  const hosts = text(options, 'hosts')
  const seed = text(options, 'seed')
  return {
    changes,
    hosts,
    seed: seed === undefined ? undefined : parseWhole(seed, '--seed', 0, Number.MAX_SAFE_INTEGER),
    seeds: parseWhole(text(options, 'seeds') ?? '1', '--seeds', 1, SEEDS_MAX)
  }
}

export function simPorts({ io, signal }: Context): SimPorts {
  return {
    nowMs: () => io.nowMs,
    signal,
    progress: (progress) => io.progress('simulating', progress.nowMs, progress.lengthMs, (_, columns) => fit(progressLine(progress), columns))
  }
}

export const DAY_MS = 86_400_000

function progressLine({ variant, seed, run, runs, nowMs, lengthMs, speedUp, eventsPerS, ready }: Progress): string {
  const which = runs === 1 ? '' : `run ${run} of ${runs} (${[variant, `seed ${seed}`].filter((one) => one !== '').join(', ')}): `
  const whole = (value: number): string => Math.round(value).toLocaleString('en')
  return `${which}day ${(nowMs / DAY_MS).toFixed(2)} of ${Number((lengthMs / DAY_MS).toFixed(1))}, ${whole(speedUp)} times as fast as life, ${whole(eventsPerS)} events/s, ${whole(ready)} tasks ready`
}

/** Runs a plan, or says what it is, and reports as the options say. */
export async function study(context: Context, plan: Plan, options: Readonly<Record<string, unknown>>): Promise<number> {
  const { io, signal } = context
  const sim = await import('#sim/main')
  await checkFiles(options)
  if (options.dryRun === true) {
    describe(context, plan)
    return EXIT.ok
  }
  context.endsItself()
  const result = await sim.conduct(plan, simPorts(context))
  io.progressEnd()
  // First the files: whoever reads the lines may stop reading.
  await write(io.say.bind(io), options, {
    html: () => sim.htmlOf(result),
    json: () => `${JSON.stringify(sim.jsonOf(result))}\n`,
    csv: () => sim.csvOf(result)
  })
  if (io.json) io.outJson(sim.jsonOf(result))
  else for (const line of sim.linesOf(result)) io.out(line)
  const failure = sim.failureOf(result)
  if (failure !== undefined) {
    for (const line of failure.split('\n')) io.say(line)
    io.say('making it smaller; Ctrl-C ends that')
    const story = signal.aborted ? undefined : await sim.smallestOf(result, simPorts(context))
    io.progressEnd()
    for (const line of story?.split('\n') ?? []) io.say(line)
    return EXIT.checkFailed
  }
  return signal.aborted ? stoppedStatus(signal) : EXIT.ok
}

export function stoppedStatus(signal: AbortSignal): number {
  return signal.reason instanceof ClientError && signal.reason.code === 'timeout' ? EXIT.timeout : EXIT.interrupted
}

const FORMATS = ['html', 'json', 'csv'] as const

/** A report that cannot be written is noticed before the hours that it is of. */
async function checkFiles(options: Readonly<Record<string, unknown>>): Promise<void> {
  for (const format of FORMATS) {
    const file = text(options, format)
    if (file === undefined) continue
    const refuse = (why: string): never => {
      throw new ClientError('usage', `--${format} ${file}: ${why}`)
    }
    if (file === '' || file === '-') refuse('the name of a file is expected; `-o json` prints')
    if ((await stat(file).catch(() => undefined))?.isDirectory() === true) refuse('it is a folder, a file is expected')
    const folder = dirname(file)
    if ((await stat(folder).catch(() => undefined))?.isDirectory() !== true) refuse(`there is no folder ${folder}`)
    await access(folder, constants.W_OK).catch(() => refuse(`nothing may be written to ${folder}`))
  }
}

async function write(
  say: (line: string) => void,
  options: Readonly<Record<string, unknown>>,
  reports: Readonly<Record<(typeof FORMATS)[number], () => string>>
): Promise<void> {
  for (const format of FORMATS) {
    const file = text(options, format)
    if (file === undefined) continue
    await writeFile(file, reports[format]())
    say(`wrote ${file}`)
  }
}

function describe({ io }: Context, { name, question, variants, seeds }: Plan): void {
  if (io.json) {
    io.outJson({
      dryRun: true,
      name,
      question,
      seeds,
      variants: variants.map(({ name: variant, file, changes, written }) => ({ name: variant, file, changes, scenario: written }))
    })
    return
  }
  io.say(`${name}: ${question}`)
  for (const { name: variant, file, scenario } of variants) {
    const { hosts, lengthMs } = scenario.options
    io.say(`would run ${variant === '' ? file : `${variant} (${file})`}: ${hosts} ${hosts === 1 ? 'host' : 'hosts'} for ${(lengthMs / DAY_MS).toFixed(1)} days`)
  }
  io.say(`${seeds.length === 1 ? `with seed ${seeds[0]}` : `with ${seeds.length} seeds from ${seeds[0]}`}; nothing was run (-o json shows every setting)`)
}
