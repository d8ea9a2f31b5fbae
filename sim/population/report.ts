/** What came of one run of a scenario: what is counted, when what befell it, and how long it took. Pure. */
import type { Sample, Times, Totals } from './meters.ts'
import type { LineSpeeds } from './options.ts'
import type { Scenario } from './scenario.ts'

/** Something that befell the world, from when to when. */
export interface Mark {
  readonly kind: 'outage' | 'crowd' | 'exit'
  readonly fromMs: number
  readonly toMs: number
}

export interface Report {
  readonly seed: number | string
  /** Of everything that happened: a run that is repeated has the same. */
  readonly hash: string
  /** What was not as it must be; null when all was. */
  readonly complaint: string | null
  readonly hosts: number
  readonly lengthMs: number
  /** How far it got: less than its length when it was stopped. */
  readonly reachedMs: number
  /** Votes that must agree. */
  readonly quorum: number
  readonly totals: Readonly<Totals>
  readonly turnaroundMs: { readonly p50: number; readonly p90: number; readonly p95: number; readonly p99: number; readonly last: number }
  readonly turnaround: ReturnType<Times['bars']>
  /** The project's line, where it has one of its own, and how long inputs took over it that came after the warm-up; null when none did. */
  readonly line?: LineSpeeds & { readonly inputMs: { readonly mean: number; readonly p95: number } | null }
  readonly marks: readonly Mark[]
  readonly samples: readonly Sample[]
  /** Of the run itself, in the real world: differs from machine to machine. */
  readonly took: { readonly seconds: number; readonly memoryBytes: number }
}

export interface Ran {
  readonly totals: Totals
  readonly samples: readonly Sample[]
  readonly turnaround: Times
  readonly inputs: Times | null
  readonly nowMs: number
  readonly hash: string
}

export function reportOf(
  { options: { seed, hosts, lengthMs, workload, arrivals, outages, model, line } }: Scenario,
  { totals, samples, turnaround, inputs, nowMs, hash }: Ran,
  { complaint, took }: Pick<Report, 'complaint' | 'took'>
): Report {
  const [p50, p90, p95, p99, last] = [0.5, 0.9, 0.95, 0.99, 1].map((q) => turnaround.quantileMs(q)) as [number, number, number, number, number]
  const befell = [
    ...outages.map((one) => ({ ...one, kind: 'outage' as const })),
    ...(arrivals?.crowds ?? []).map((one) => ({ ...one, kind: 'crowd' as const })),
    ...(model.exits ?? []).map((one) => ({ ...one, kind: 'exit' as const }))
  ]
  return {
    seed,
    hash,
    complaint,
    hosts,
    lengthMs,
    reachedMs: nowMs,
    quorum: workload.policy.minQuorum,
    totals: { ...totals },
    turnaroundMs: { p50, p90, p95, p99, last },
    turnaround: turnaround.bars(),
    ...(line === undefined
      ? {}
      : { line: { ...line, inputMs: inputs === null || inputs.count === 0 ? null : { mean: inputs.meanMs, p95: inputs.quantileMs(0.95) } } }),
    marks: befell.map(({ kind, fromMs, forMs }) => ({ kind, fromMs, toMs: fromMs + forMs })).sort((a, b) => a.fromMs - b.fromMs),
    samples,
    took
  }
}
