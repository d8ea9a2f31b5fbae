/** The one door: what `talko sim` is made of. It is loaded when that is asked for, as the daemons are by their main. */
import { setImmediate } from 'node:timers/promises'
import { commitOf } from './commit.ts'
import { rowsOf } from './population/compare.ts'
import { htmlOf } from './population/html.ts'
import { type Choice, type Plan, planComparison, planRun, planSweep, shipped } from './population/plan.ts'
import { type Progress, conduct as run, type Study, type StudyPorts } from './population/study.ts'
import { csvOf, failureOf, linesOf, unfinishedOf } from './population/text.ts'
import { describeReplay, type Replayed, replay as replayed } from './replay.ts'

export type { Choice, Plan, Progress, Replayed, Study }
export { csvOf, describeReplay, failureOf, htmlOf, linesOf, planComparison, planRun, planSweep, shipped }

export type SimPorts = Pick<StudyPorts, 'nowMs' | 'signal' | 'progress'>

export async function conduct(plan: Plan, ports: SimPorts): Promise<Study> {
  return await run(plan, real(ports))
}

export async function replay(file: string, ports: SimPorts): Promise<Replayed> {
  return await replayed(file, real(ports))
}

/** A study with what its variants are beside each other, and what was left out of that: for programs. */
export function jsonOf(study: Study): object {
  return { ...study, beside: rowsOf(study.variants), unfinished: unfinishedOf(study) }
}

function real(ports: SimPorts): StudyPorts {
  return { ...ports, memoryBytes: () => process.memoryUsage.rss(), breathe: () => setImmediate(), commit: commitOf() }
}
