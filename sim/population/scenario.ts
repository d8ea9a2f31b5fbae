/**
 * A scenario: a short YAML file that says who the volunteers are, what they are asked to do and under which policy, what
 * befalls them, and for how long. Everything but the name and the length has a default.
 *
 * ```yaml
 * name: a media day
 * length: 14 d
 * hosts: 10000
 * population: { crowds: [{ at: 5 d, for: 6 h, times: 20 }] }
 * workload: { runtime: 4 h, tasks: 2000 }
 * ```
 */
import { DEFAULT_COORDINATOR_POLICY } from '#project-server/coordinator/policy'
import { COPY_RULES, DEFAULT_POLICY, policyFault } from '#protocol/bundle/policy'
import { answerFault } from './answer.ts'
import { type AvailabilityClass, DAY_MS, HOUR_MS, REGION_MIX, type Region, type Share, VOLUNTEER_MIX } from './availability.ts'
import { NO_ERRORS, NO_MALICE, VOLUNTEER_ERRORS } from './errors.ts'
import { FITS } from './fits.ts'
import { coresMean } from './hardware.ts'
import { type Arrivals, expectedArrivals, steadyArrivalsPerDay } from './lifetimes.ts'
import type { WorldOptions } from './options.ts'
import { EXACT_RUNS, VOLUNTEER_RUNS } from './runs.ts'
import { nonsenseOf, sizesOf } from './sense.ts'
import type { Trace } from './trace.ts'
import {
  changes,
  flag,
  inside,
  lineOf,
  list,
  number,
  oneOf,
  optional,
  type Place,
  type Read,
  readYaml,
  record,
  refuse,
  share,
  size,
  speed,
  table,
  text,
  time,
  whole,
  YamlFault
} from './yaml.ts'

export interface Scenario {
  readonly name: string
  /** What it is to answer. */
  readonly question: string
  /** The answer, with places for figures: see answer.ts. */
  readonly answer: string
  readonly options: WorldOptions
}

/** Names the file and the line. */
export class ScenarioError extends Error {
  override readonly name = 'ScenarioError'
  readonly code = 'bad_scenario'
}

const HOSTS_MAX = 2_000_000
/** With all that come while it runs. */
const POPULATION_MAX = 4_000_000
const LENGTH_MS_MAX = 3650 * DAY_MS
const EVENTS_MAX = 100
/** That are put beside each other. */
export const VARIANTS_MAX = 16
const BATCH_TASKS_MAX = 500_000

const CLASSES = [...(Object.keys(FITS) as (keyof typeof FITS)[]), 'diurnal'] as const satisfies readonly AvailabilityClass[]
const REGIONS = ['europe', 'americas', 'asia'] as const satisfies readonly Region[]

/** Shares that make a whole. */
function mix<Name extends string>(names: readonly Name[]): Read<readonly Share<Name>[]> {
  const read = table(names, share)
  return (place) => {
    const shares = read(place)
    const sum = shares.reduce((total, [, part]) => total + part, 0)
    if (Math.abs(sum - 1) > 0.005) refuse(place, `the shares make ${(100 * sum).toFixed(1)} %, they must make 100 %`)
    return shares.map(([of, part]) => ({ of, share: part }))
  }
}

const during = time(1000, LENGTH_MS_MAX)
const crowd = record({
  at: time(0, LENGTH_MS_MAX),
  for: during,
  times: optional<number | null>(number(1, 1000), null),
  grows: optional<number | null>(number(1, 1000), null)
})
const variantFields = record({ name: text, set: changes })
const variant = (place: Place) => ({ ...variantFields(place), line: lineOf(place) })
const exit = record({ at: time(0, LENGTH_MS_MAX), for: during, share })
const outage = record({ at: time(0, LENGTH_MS_MAX), for: during })
const liars = record({ share, spoils: optional(share, 1), collude: optional(share, 1), honestFirst: optional(whole(0, 1_000_000), 0) })
const NO_LIARS = { share: NO_MALICE.share, spoils: 0, collude: 0, honestFirst: 0 }

const population = record({
  year: optional(whole(2006, 2040), 2026),
  mix: optional(mix(CLASSES), VOLUNTEER_MIX),
  regions: optional(mix(REGIONS), REGION_MIX),
  slots: optional(oneOf('one', 'cores'), 'one'),
  mortal: optional(flag, true),
  closes: optional(share, 0.5),
  keeps: optional(flag, true),
  errors: optional(oneOf('volunteers', 'none'), 'volunteers'),
  liars: optional(liars, NO_LIARS),
  arrivalsPerDay: optional<number | null>(number(0, 1e8), null),
  crowds: optional(list(crowd, EVENTS_MAX), []),
  exits: optional(list(exit, EVENTS_MAX), [])
})

const workload = record({
  every: optional<number | null>(time(1000, LENGTH_MS_MAX), null),
  tasks: optional<number | null>(whole(1, BATCH_TASKS_MAX), null),
  waiting: optional<number | null>(whole(1, BATCH_TASKS_MAX), null),
  runtime: optional(time(1000, 365 * DAY_MS), 4 * HOUR_MS),
  spread: optional(number(0, 3), 0.5),
  exact: optional(flag, false),
  input: optional(size(1e13), 10e6),
  output: optional(size(1e13), 1e6),
  limit: optional(time(1000, 365 * DAY_MS), 7 * DAY_MS),
  memory: optional(size(2 ** 50), 2 ** 29)
})

const policy = record({
  quorum: optional(whole(1, 64), DEFAULT_POLICY.minQuorum),
  target: optional<number | null>(whole(1, 64), null),
  errors: optional(whole(1, 64), 8),
  total: optional(whole(1, 64), 20),
  success: optional(whole(1, 64), DEFAULT_POLICY.maxSuccessResults),
  heartbeat: optional(time(100, DAY_MS), DEFAULT_COORDINATOR_POLICY.heartbeatMs),
  missed: optional(whole(1, 1_000_000), DEFAULT_COORDINATOR_POLICY.missedMax),
  adaptive: optional(flag, false),
  confidence: optional(share, 0),
  trusted: optional(whole(1, 1_000_000), DEFAULT_COORDINATOR_POLICY.trustedAfter),
  straggles: optional(number(0, 1000), DEFAULT_COORDINATOR_POLICY.stragglerFactor),
  copies: optional(oneOf(...COPY_RULES), DEFAULT_POLICY.copies)
})

const clock = record({
  step: optional(time(10, HOUR_MS), 1000),
  sweep: optional<number | null>(time(500, DAY_MS), null),
  sample: optional(time(1000, DAY_MS), HOUR_MS)
})

const lineSpeed = optional<number | null>(speed(1e3, 1e12), null)
const line = record({ sends: lineSpeed, receives: lineSpeed })

const EMPTY = '{}'
const fields = record({
  name: text,
  question: optional(text, ''),
  length: time(1000, LENGTH_MS_MAX),
  hosts: whole(1, HOSTS_MAX),
  seed: optional(whole(0, Number.MAX_SAFE_INTEGER), 1),
  trace: optional<string | null>(text, null),
  outages: optional(list(outage, EVENTS_MAX), []),
  check: optional(flag, false),
  variants: optional(list(variant, VARIANTS_MAX), []),
  answer: optional(text, ''),
  population: optional(population, readYaml(EMPTY, population)),
  workload: optional(workload, readYaml(EMPTY, workload)),
  policy: optional(policy, readYaml(EMPTY, policy)),
  line: optional(line, readYaml(EMPTY, line)),
  clock: optional(clock, readYaml(EMPTY, clock))
})

/** What was written, with every default filled in. */
export type Written = ReturnType<typeof fields>

/** The coordinator looks at every node in a sweep: less often where they are many. */
const SWEEPS: readonly { readonly hosts: number; readonly sweepMs: number }[] = [
  { hosts: 5_000, sweepMs: 20_000 },
  { hosts: 50_000, sweepMs: 120_000 },
  { hosts: 300_000, sweepMs: 900_000 },
  { hosts: Number.POSITIVE_INFINITY, sweepMs: 3_600_000 }
]

/** As it is written, where all of it can be. */
const possible: Read<Written> = (place) => {
  const written = fields(place)
  const fault = policyFault(taskPolicy(written))
  if (fault !== undefined) refuse(inside(place, 'policy'), `policy: ${fault}`)
  if (written.outages.some(({ at }, index, all) => index > 0 && at <= (all[index - 1]?.at ?? 0) + (all[index - 1]?.for ?? 0)))
    refuse(inside(place, 'outages'), 'outages: one begins before the one above it is over')
  const { population, hosts, variants } = written
  for (const { times, grows } of population.crowds)
    if ((times === null) === (grows === null))
      refuse(
        inside(place, 'population', 'crowds'),
        'population.crowds: give `times` (as many as usual) or `grows` (to so many times the hosts at first), one of them'
      )
  const newcomers = expectedArrivals(arrivalsOf(written), written.length)
  if (hosts + newcomers > POPULATION_MAX)
    refuse(
      inside(place, 'population'),
      `population: ${Math.round(newcomers)} newcomers are expected beside ${hosts} hosts; at most ${POPULATION_MAX} in all are possible`
    )
  const names = variants.map(({ name }) => name)
  const twice = names.findIndex((name, index) => names.indexOf(name) !== index)
  if (twice !== -1) refuse(inside(place, 'variants', twice), `variants: two are called ${JSON.stringify(names[twice])}`)
  const blank = answerFault(written.answer, names)
  if (blank !== undefined) refuse(inside(place, 'answer'), `answer: ${blank}`)
  if (written.workload.every !== null && written.workload.waiting !== null)
    refuse(inside(place, 'workload'), 'workload: give `every` (a batch at a time) or `waiting` (a batch whenever fewer tasks wait), not both')
  const nonsense = nonsenseOf(written)
  if (nonsense !== undefined) refuse(inside(place, ...nonsense.keys), nonsense.message)
  return written
}

/** A key as a path, `population.liars.share`, its value, `10 %`, and whose wish it was, as a message names it. */
export type Change = readonly [path: string, value: string, by?: string]

/** Throws ScenarioError with file, line and what is allowed, or with whose change is at fault. */
export function parseScenario(file: string, source: string, changes: readonly Change[] = []): Written {
  const fault = faultOf(source, changes)
  if (!(fault instanceof YamlFault)) return fault
  // At fault is the last change without which it would not be so.
  let last = changes.length
  for (; last > 0; last--) {
    const before = faultOf(source, changes.slice(0, last - 1))
    if (!(before instanceof YamlFault) || before.message !== fault.message) break
  }
  const change = changes[last - 1]
  if (change === undefined) throw new ScenarioError(`${file}:${fault.line}: ${fault.message}`)
  const [, , by = `${file}, as changed`] = change
  throw new ScenarioError(`${by}: ${fault.line === 0 ? '' : `line ${fault.line}: `}${fault.message}`)
}

/** Where a key stands, or what is around it, for messages about what it names. */
export function placeOf(file: string, source: string, changes: readonly Change[], key: string): string {
  const line = readYaml(source, (place) => lineOf(inside(place, key)), changes.map(pairOf))
  return line === 0 ? `${file}, as changed` : `${file}:${line}`
}

/** What is written, or what is wrong with it. */
function faultOf(source: string, changes: readonly Change[]): Written | YamlFault {
  try {
    return readYaml(source, possible, changes.map(pairOf))
  } catch (error) {
    if (error instanceof YamlFault) return error
    throw error
  }
}
/** A world of it. `trace` is the recording that it names. */
export function scenarioOf(written: Written, trace: Trace | null): Scenario {
  const { name, question, answer, length: lengthMs, hosts, seed, population, workload, policy, line, clock } = written
  const { year, liars: malice } = population
  const slots = population.slots === 'one' ? 1 : coresMean(year)
  const waitingMin = workload.waiting ?? Math.ceil((hosts * slots) / 20)
  const options: WorldOptions = {
    seed,
    hosts,
    lengthMs,
    model: {
      year,
      mix: population.mix,
      regions: population.regions,
      errors: population.errors === 'none' ? NO_ERRORS : VOLUNTEER_ERRORS,
      malice: { share: malice.share, spoils: malice.spoils, colludes: malice.collude, honestFirst: malice.honestFirst },
      slots: population.slots,
      mortal: population.mortal,
      exits: population.exits.map(({ at, for: forMs, share: part }) => ({ fromMs: at, forMs, share: part })),
      trace
    },
    runs: workload.exact ? EXACT_RUNS : VOLUNTEER_RUNS,
    workload: {
      arrives: workload.every === null ? { kind: 'saturating', waitingMin } : { kind: 'stream', everyMs: workload.every },
      batchTasks: Math.min(BATCH_TASKS_MAX, workload.tasks ?? Math.ceil((hosts * slots) / 10)),
      sizes: sizesOf(written),
      inputBytes: workload.input,
      outputBytes: workload.output,
      policy: taskPolicy(written),
      timeMs: workload.limit,
      memoryBytes: Math.max(2 ** 23, workload.memory)
    },
    policy: {
      ...DEFAULT_COORDINATOR_POLICY,
      heartbeatMs: policy.heartbeat,
      missedMax: policy.missed,
      stragglerFactor: policy.straggles,
      trustedAfter: policy.trusted
    },
    arrivals: arrivalsOf(written),
    stepMs: clock.step,
    sweepMs: clock.sweep ?? SWEEPS.find((one) => hosts <= one.hosts)?.sweepMs ?? HOUR_MS,
    sampleMs: clock.sample,
    closes: population.closes,
    keeps: population.keeps,
    outages: written.outages.map(({ at, for: forMs }) => ({ fromMs: at, forMs })),
    check: written.check,
    ...(line.sends === null && line.receives === null ? {} : { line: { sendsBytesPerS: line.sends, receivesBytesPerS: line.receives } })
  }
  return { name, question, answer, options }
}

function arrivalsOf({ hosts, population }: Pick<Written, 'hosts' | 'population'>): Arrivals {
  const steady = population.arrivalsPerDay ?? (population.mortal ? steadyArrivalsPerDay(hosts) : 0)
  // A crowd is so many times the usual, however few those are.
  const perDay = population.crowds.length === 0 ? steady : Math.max(steady, 1e-6)
  const crowds = population.crowds.map(({ at, for: forMs, times, grows }) => ({
    fromMs: at,
    forMs,
    times: times ?? 1 + ((((grows ?? 1) - 1) * hosts) / perDay) * (DAY_MS / forMs)
  }))
  return { perDay, crowds }
}

function taskPolicy({ policy: { quorum, target, errors, total, success, adaptive, confidence, copies } }: Written) {
  return {
    ...DEFAULT_POLICY,
    minQuorum: quorum,
    targetResults: target ?? quorum,
    maxErrorResults: errors,
    maxTotalResults: total,
    maxSuccessResults: success,
    adaptive,
    copies,
    doubtPpm: confidence === 0 ? 0 : Math.round((1 - confidence) * 1_000_000)
  }
}

function pairOf([path, value]: Change): readonly [path: string, value: string] {
  return [path, value]
}
