/** The one door: what `talko sim` is made of. It is loaded when that is asked for, as the daemons are by their main. */
import { setImmediate } from 'node:timers/promises'
import { commitOf } from './commit.ts'
import { rowsOf } from './population/compare.ts'
import { FIGURE_NAMES, figureOf } from './population/figures.ts'
import { htmlOf } from './population/html.ts'
import { type Choice, type Plan, planComparison, planRun, planSweep, replanned, shipped } from './population/plan.ts'
import { answerTo, unfinishedOf } from './population/remarks.ts'
import type { Report } from './population/report.ts'
import { shrink } from './population/shrink.ts'
import { type Progress, conduct as run, type Study, type StudyPorts } from './population/study.ts'
import { csvOf, failureOf, linesOf, storyOf } from './population/text.ts'
import { describeReplay, type Replayed, replay as replayed } from './replay.ts'

export type { Choice, Plan, Progress, Replayed, Study }
export { csvOf, describeReplay, failureOf, htmlOf, linesOf, planComparison, planRun, planSweep, shipped }

export type SimPorts = Pick<StudyPorts, 'nowMs' | 'signal' | 'progress'>

export async function conduct(plan: Plan, ports: SimPorts): Promise<Study> {
  return await run(plan, real(ports))
}

/** The story of the smallest run that fails as one of the study did, and the line that repeats it; undefined when all was well. */
export async function smallestOf(study: Study, ports: SimPorts): Promise<string | undefined> {
  for (const recipe of study.variants)
    for (const report of recipe.reports)
      if (report.complaint !== null) return storyOf(await shrink({ variant: await replanned(recipe), report }, real(ports)), study)
  return undefined
}

export async function replay(file: string, ports: SimPorts): Promise<Replayed> {
  return await replayed(file, real(ports))
}

/** A study with its answer, the figures of each run, what its variants are beside each other, and what was left out of that: for programs. */
export function jsonOf(study: Study): object {
  const variants = study.variants.map((variant) => ({ ...variant, reports: variant.reports.map((report) => ({ ...report, figures: figuresOf(report) })) }))
  return { ...study, answer: answerTo(study), answerTemplate: study.answer, variants, beside: rowsOf(study.variants), unfinished: unfinishedOf(study) }
}

/** By name; null for one that is not a number, such as the time until something that never came. */
function figuresOf(report: Report): Readonly<Record<string, number | null>> {
  return Object.fromEntries(
    FIGURE_NAMES.map((name) => {
      const value = figureOf(name, report)
      return [name, Number.isFinite(value) ? value : null]
    })
  )
}

function real(ports: SimPorts): StudyPorts {
  return { ...ports, memoryBytes: () => process.memoryUsage.rss(), breathe: () => setImmediate(), commit: commitOf() }
}
