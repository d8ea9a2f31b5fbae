/** What came of a scenario: for people in a few lines, for programs as JSON, for tables as CSV. Pure. */
import { DAY_MS, HOUR_MS } from './availability.ts'
import type { Sample, Times, Totals } from './meters.ts'
import type { Scenario } from './scenario.ts'

export interface Report {
  readonly v: 1
  readonly name: string
  readonly question: string
  readonly seed: number | string
  /** Of everything that happened: a run that is repeated has the same. */
  readonly hash: string
  readonly hosts: number
  readonly lengthMs: number
  /** How far it got: less than its length when it was stopped. */
  readonly reachedMs: number
  readonly totals: Readonly<Totals>
  readonly turnaroundMs: { readonly p50: number; readonly p90: number; readonly p95: number; readonly p99: number }
  readonly turnaround: ReturnType<Times['bars']>
  readonly samples: readonly Sample[]
}

export interface Ran {
  readonly totals: Totals
  readonly samples: readonly Sample[]
  readonly turnaround: Times
  readonly nowMs: number
  readonly hash: string
}

export function reportOf({ name, question, options: { seed, hosts, lengthMs } }: Scenario, { totals, samples, turnaround, nowMs, hash }: Ran): Report {
  const [p50, p90, p95, p99] = [0.5, 0.9, 0.95, 0.99].map((q) => turnaround.quantileMs(q)) as [number, number, number, number]
  return {
    v: 1,
    name,
    question,
    seed,
    hash,
    hosts,
    lengthMs,
    reachedMs: nowMs,
    totals: { ...totals },
    turnaroundMs: { p50, p90, p95, p99 },
    turnaround: turnaround.bars(),
    samples
  }
}

/** One line a sample. */
export function csvOf({ samples }: Report): string {
  const [first] = samples
  if (first === undefined) return ''
  const columns = Object.keys(first) as (keyof Sample)[]
  return `${[columns, ...samples.map((sample) => columns.map((column) => sample[column]))].map((cells) => cells.join(',')).join('\n')}\n`
}

export function linesOf({ name, question, seed, hash, reachedMs, lengthMs, hosts, totals, turnaroundMs, samples }: Report): readonly string[] {
  const online = mean(samples.map((sample) => sample.online))
  const days = reachedMs / DAY_MS
  const per = (part: number, of: number): string => (of === 0 ? '-' : `${((100 * part) / of).toFixed(2)} %`)
  return [
    name,
    ...(question === '' ? [] : [question]),
    '',
    `${days.toFixed(1)} days${reachedMs < lengthMs ? ` of ${(lengthMs / DAY_MS).toFixed(1)}, then stopped` : ''}; ${hosts} hosts at first, ${totals.arrived} came, ${totals.left} left; ${Math.round(online)} online on average`,
    `tasks       ${totals.ready} ready (${Math.round(totals.ready / days)} a day), ${totals.failed} failed, ${samples.at(-1)?.waiting ?? 0} waiting`,
    `turnaround  half within ${hours(turnaroundMs.p50)}, 95 % within ${hours(turnaroundMs.p95)}, 99 % within ${hours(turnaroundMs.p99)}`,
    `replicas    ${totals.leased} leased, ${(totals.leased / Math.max(1, totals.ready)).toFixed(2)} for each task; ${totals.reported} reported, ${totals.errors} failed, ${totals.cancelled} taken back`,
    `wrong       ${per(totals.reportedWrong, totals.reported)} of the results, ${totals.wrong} accepted (${per(totals.wrong, totals.ready)})`,
    `coordinator ${totals.applied} events, ${totals.commits} commits of ${(totals.changedBytes / 1e6).toFixed(0)} MB`,
    `moved       ${(totals.movedBytes / 1e12).toFixed(2)} TB`,
    `repeat      seed ${seed}, hash ${hash}, Node ${process.version}`
  ]
}

function hours(ms: number): string {
  return ms < HOUR_MS ? `${(ms / 60_000).toFixed(1)} min` : `${(ms / HOUR_MS).toFixed(1)} h`
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}
