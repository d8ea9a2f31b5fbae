/**
 * Makes a run of a population that was not as it must be small: a shorter time, fewer hosts, nothing that befalls them, simpler
 * volunteers and policies, as long as the same complaint comes. Each step is a change as `--set` makes one, tried in a fixed
 * order and bounded by what it costs in hosts and virtual time: the same failure is made small in the same way everywhere.
 */
import { type Smaller, shrink as shrinkWith } from '../shrink.ts'
import type { Changes, PlannedVariant } from './plan.ts'
import { replanned } from './plan.ts'
import type { Report } from './report.ts'
import { ScenarioError, type Written } from './scenario.ts'
import { play, type StudyPorts } from './study.ts'

export interface Failure {
  readonly variant: PlannedVariant
  readonly report: Report
}

type Change = Changes[number]

const RUNS_MAX = 80
/** In all, as many times the hosts and the virtual time of the run up to its failure; or once what it was to be. */
const COST_MAX = 12
const HOSTS_SHARES = [0.05, 0.2, 0.5, 0.8]
const LENGTH_SHARES = [0.1, 0.25, 0.5, 0.75]

/** The smallest run found that fails alike; the failure itself when there is none. */
export async function shrink(failure: Failure, ports: StudyPorts): Promise<Failure> {
  const { variant, report } = failure
  const { world, ran } = await shrinkWith(
    { world: variant, ran: report },
    {
      run: (smaller, run) => play(smaller, report.seed, null, ports, { run, runs: RUNS_MAX }),
      costOf,
      keyOf: ({ written }) => JSON.stringify(written),
      runsMax: RUNS_MAX,
      costMax: Math.max(COST_MAX * costOf(report), report.hosts * report.lengthMs),
      stopped: () => ports.signal.aborted
    },
    (smaller) => leaveOut(smaller, report.lengthMs)
  )
  return world === variant ? failure : { variant: world, report: ran }
}

async function leaveOut(smaller: Smaller<PlannedVariant, Report>, lengthMsMax: number): Promise<void> {
  const now = (): PlannedVariant => smaller.failure.world
  const take = (...changes: readonly Change[]): Promise<boolean> => smaller.take(changed(now(), changes))
  const { reachedMs, hosts, lengthMs } = smaller.failure.ran
  if (reachedMs < lengthMs) await take(...until(now(), reachedMs))
  for (const share of LENGTH_SHARES) if (await take(...until(now(), share * reachedMs))) break
  // Fewer hosts need longer for the same.
  for (const share of HOSTS_SHARES) {
    const left: Change = ['hosts', String(Math.max(1, Math.floor(share * hosts)))]
    const longer: Change = ['length', seconds(Math.min(lengthMsMax, smaller.failure.ran.lengthMs / share))]
    if (share * hosts >= 1 && ((await take(left)) || (await take(left, longer)))) break
  }
  for (const [path, list] of listsOf(now().written))
    await smaller.fewer(list, (kept) => changed(now(), [[path, `[${kept.map(({ text }) => text).join(', ')}]`]]))
  for (const change of PLAINER) await take(change)
}

/** Worlds in which less is the matter. */
const PLAINER: readonly Change[] = [
  ['population.liars', '{ share: 0 }'],
  ['population.errors', 'none'],
  ['population.mortal', 'false'],
  ['population.slots', 'one'],
  ['population.closes', '1'],
  ['workload.exact', 'true'],
  ['workload.spread', '0'],
  ['policy.adaptive', 'false'],
  ['policy.confidence', '0'],
  ['policy.copies', 'never'],
  ['line.sends', 'null'],
  ['line.receives', 'null']
]

/** Something that befalls a population, as it is written. */
interface Befalls {
  readonly atMs: number
  readonly text: string
}

function listsOf({ outages, population: { crowds, exits } }: Written): readonly (readonly [path: string, list: readonly Befalls[]])[] {
  const befalls = ({ at, for: forMs }: { readonly at: number; readonly for: number }, more = ''): Befalls => ({
    atMs: at,
    text: `{ at: ${seconds(at)}, for: ${seconds(forMs)}${more} }`
  })
  return [
    ['outages', outages.map((one) => befalls(one))],
    ['population.crowds', crowds.map((one) => befalls(one, one.times === null ? `, grows: ${one.grows}` : `, times: ${one.times}`))],
    ['population.exits', exits.map((one) => befalls(one, `, share: ${one.share}`))]
  ]
}

/** No longer than this, and without what would come later. */
function until({ written }: PlannedVariant, ms: number): readonly Change[] {
  const lists = listsOf(written).flatMap(([path, list]): Change[] => {
    const kept = list.filter(({ atMs }) => atMs < ms)
    return kept.length === list.length ? [] : [[path, `[${kept.map(({ text }) => text).join(', ')}]`]]
  })
  return [['length', seconds(ms)], ...lists]
}

/** Undefined for one that would make no sense. */
async function changed({ name, file, source, changes, trace }: PlannedVariant, more: readonly Change[]): Promise<PlannedVariant | undefined> {
  const paths = new Set(more.map(([path]) => path))
  const left = changes.filter(([path]) => !paths.has(path))
  try {
    return await replanned({ name, file, source, changes: [...left, ...more], trace })
  } catch (error) {
    if (error instanceof ScenarioError) return undefined
    throw error
  }
}

function costOf({ hosts, reachedMs }: Report): number {
  return hosts * Math.max(1, reachedMs)
}

/** At least a second, upwards: what has happened by then happens. */
function seconds(ms: number): string {
  return `${Math.max(1, Math.ceil(ms / 1000))} s`
}
