/** Runs a plan: every variant on every seed, with progress, until it is done, stopped, or something is not as it must be. */
import { HOUR_MS } from './availability.ts'
import { complaintOf } from './checks.ts'
import type { Totals } from './meters.ts'
import type { Plan, PlannedVariant, Recipe } from './plan.ts'
import { type Report, reportOf } from './report.ts'
import { World } from './world.ts'

/** How far a run is. */
export interface Progress {
  readonly variant: string
  readonly seed: number | string
  /** Which of how many runs, from 1. */
  readonly run: number
  readonly runs: number
  readonly nowMs: number
  readonly lengthMs: number
  /** Virtual time by real time. */
  readonly speedUp: number
  readonly eventsPerS: number
  readonly ready: number
}

export interface StudyPorts {
  /** Real time. */
  readonly nowMs: () => number
  readonly memoryBytes: () => number
  /** Lets signals and timers in. */
  readonly breathe: () => Promise<void>
  /** Stops it; what was done so far is kept. */
  readonly signal: AbortSignal
  readonly progress: (progress: Progress) => void
  /** What is not as it must be; without it that of checks.ts. */
  readonly complaintOf?: (totals: Readonly<Totals>) => string | undefined
  /** The talko that runs it. */
  readonly commit: string
}

export interface StudiedVariant extends Recipe {
  /** One a seed, in their order. */
  readonly reports: readonly Report[]
}

/** What came of a plan, and all that is needed to do it again. */
export interface Study {
  readonly v: 1
  readonly kind: 'talko simulation'
  readonly name: string
  readonly question: string
  readonly answer: string
  readonly commit: string
  readonly node: string
  readonly stopped: boolean
  /** How many runs it was to be. */
  readonly runs: number
  readonly variants: readonly StudiedVariant[]
}

/** Between two looks at the real clock. */
const SLICE_MS = HOUR_MS / 4

export async function conduct(plan: Plan, ports: StudyPorts): Promise<Study> {
  const reports: Report[][] = plan.variants.map(() => [])
  const runs = plan.seeds.length * plan.variants.length
  let run = 0
  seeds: for (const seed of plan.seeds)
    for (const [index, variant] of plan.variants.entries()) {
      run++
      const report = await play(variant, seed, null, ports, { run, runs })
      // One that was stopped before its first step was not begun.
      if (report.reachedMs > 0 || report.complaint !== null) reports[index]?.push(report)
      if (ports.signal.aborted || report.complaint !== null) break seeds
    }
  return {
    v: 1,
    kind: 'talko simulation',
    name: plan.name,
    question: plan.question,
    answer: plan.answer,
    commit: ports.commit,
    node: process.version,
    stopped: ports.signal.aborted,
    runs,
    variants: plan.variants.flatMap(({ name, file, source, changes, trace }, index) => {
      const done = reports[index] ?? []
      return done.length === 0 ? [] : [{ name, file, source, changes, trace, reports: done }]
    })
  }
}

/** One run, to its end or to a time before. */
export async function play(
  { name, scenario }: PlannedVariant,
  seed: number | string,
  untilMs: number | null,
  ports: StudyPorts,
  { run, runs }: { readonly run: number; readonly runs: number }
): Promise<Report> {
  const { lengthMs } = scenario.options
  const world = new World({ ...scenario.options, seed })
  const beganAtMs = ports.nowMs()
  let complaint: string | null = null
  let memoryBytes = 0
  try {
    await world.start()
    while (!world.over && world.nowMs < (untilMs ?? lengthMs) && !ports.signal.aborted && complaint === null) {
      world.advance(Math.min(world.nowMs + SLICE_MS, untilMs ?? lengthMs))
      complaint = (ports.complaintOf ?? complaintOf)(world.totals) ?? null
      memoryBytes = Math.max(memoryBytes, ports.memoryBytes())
      const seconds = Math.max(1e-3, (ports.nowMs() - beganAtMs) / 1000)
      const { events, ready } = world.totals
      const speedUp = world.nowMs / 1000 / seconds
      ports.progress({ variant: name, seed, run, runs, nowMs: world.nowMs, lengthMs, speedUp, eventsPerS: events / seconds, ready })
      await ports.breathe()
    }
  } catch (error) {
    // The world and the coordinator end with an error rather than go on with what cannot be.
    complaint = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
  }
  const took = { seconds: (ports.nowMs() - beganAtMs) / 1000, memoryBytes }
  return reportOf({ ...scenario, options: { ...scenario.options, seed } }, world, { complaint, took })
}
