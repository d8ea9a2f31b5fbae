/**
 * Makes a run of a population that was not as it must be small: a shorter time, fewer hosts, nothing that befalls them, simpler
 * volunteers and policies, as long as the same complaint comes. Each step is a change as `--set` makes one, tried in a fixed
 * order and bounded by what it costs in hosts and virtual time: the same failure is made small in the same way everywhere.
 */
import { kindOf } from '../runner/shrink.ts'
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
  const kind = kindOf(failure.report.complaint ?? '')
  const { hosts: all, lengthMs: whole } = failure.report
  const budget = Math.max(COST_MAX * costOf(failure.report), all * whole)
  let smallest = failure
  let runs = 0
  let spent = 0
  const take = async (...changes: readonly Change[]): Promise<boolean> => {
    if (ports.signal.aborted || runs >= RUNS_MAX || spent >= budget) return false
    const variant = await changed(smallest.variant, changes)
    if (variant === undefined || isAlike(variant, smallest.variant)) return false
    runs++
    const report = await play(variant, smallest.report.seed, null, ports, { run: runs, runs: RUNS_MAX })
    spent += costOf(report)
    if (report.complaint === null || kindOf(report.complaint) !== kind) return false
    smallest = { variant, report }
    return true
  }
  for (let before = ''; before !== sizeOf(smallest); ) {
    before = sizeOf(smallest)
    const { reachedMs, hosts } = smallest.report
    if (reachedMs < smallest.report.lengthMs) await take(...until(smallest.variant, reachedMs))
    for (const share of LENGTH_SHARES) if (await take(...until(smallest.variant, share * reachedMs))) break
    // Fewer hosts need longer for the same.
    for (const share of HOSTS_SHARES) {
      const left: Change = ['hosts', String(Math.max(1, Math.floor(share * hosts)))]
      const { lengthMs } = smallest.report
      const longer: Change = ['length', seconds(Math.min(failure.report.lengthMs, lengthMs / share))]
      if (share * hosts >= 1 && ((await take(left)) || (await take(left, longer)))) break
    }
    for (const [path, list] of listsOf(smallest.variant.written)) await fewer(list, (kept) => take([path, `[${kept.map(({ text }) => text).join(', ')}]`]))
    for (const change of PLAINER) await take(change)
  }
  return smallest
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

/** Leaves out all at once, then one at a time. */
async function fewer(list: readonly Befalls[], fails: (kept: readonly Befalls[]) => Promise<boolean>): Promise<void> {
  if (list.length === 0 || (await fails([]))) return
  let kept = list
  for (const one of list) {
    const without = kept.filter((other) => other !== one)
    if (without.length > 0 && without.length < kept.length && (await fails(without))) kept = without
  }
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

/** What was changed is so already. */
function isAlike({ written }: PlannedVariant, { written: other }: PlannedVariant): boolean {
  return JSON.stringify(written) === JSON.stringify(other)
}

function sizeOf({ variant: { changes }, report: { hosts, lengthMs } }: Failure): string {
  return `${hosts} ${lengthMs} ${changes.map(([path, value]) => `${path}=${value}`).join()}`
}

function costOf({ hosts, reachedMs }: Report): number {
  return hosts * Math.max(1, reachedMs)
}

/** At least a second, upwards: what has happened by then happens. */
function seconds(ms: number): string {
  return `${Math.max(1, Math.ceil(ms / 1000))} s`
}
