/** What a study answers, as far as it was played, and what one should know of it beside its figures. Pure. */
import { answerOf } from './answer.ts'
import { comparable, isWhole, wholeSeeds } from './compare.ts'
import { showTime } from './figures.ts'
import type { Study } from './study.ts'

/** So much of the time nobody is there, and it is worth a word. */
const EMPTY_MIN = 0.5

/** The scenario's, of the seeds that all variants have played. Empty when there is none, or one that it speaks of was not played to the end. */
export function answerTo({ answer, variants, runs }: Pick<Study, 'answer' | 'variants' | 'runs'>): string {
  const seeds = wholeSeeds(variants)
  const [stopped] = variants.flatMap(({ reports }) => reports)
  if (seeds === 0 && runs === 1 && stopped?.complaint === null) {
    const far = answerOf(answer, new Map(variants.map(({ name, reports }) => [name, reports])))
    return far === '' ? '' : `After ${showTime(stopped.reachedMs)} of ${showTime(stopped.lengthMs)}: ${far}`
  }
  const text = answerOf(answer, new Map(comparable(variants).map(({ name, reports }) => [name, reports.slice(0, seeds)])))
  return seeds > 1 && text !== '' ? `${text} (Means of ${seeds} seeds.)` : text
}

/** What was not played to the end because it was stopped, or something was not as it must be; the only run says so itself. */
export function unfinishedOf({ variants, runs, stopped }: Pick<Study, 'variants' | 'runs' | 'stopped'>): readonly string[] {
  if (runs === 1) return []
  const broken = variants.flatMap(({ name, reports }) =>
    reports
      .filter((report) => !isWhole(report))
      .map(({ seed, reachedMs, lengthMs }) => {
        const which = [name, `seed ${seed}`].filter((one) => one !== '').join(', ')
        return `not whole: ${which} reached ${showTime(reachedMs)} of ${showTime(lengthMs)}; it is in no mean`
      })
  )
  const left = runs - variants.reduce((sum, { reports }) => sum + reports.length, 0)
  return [...broken, ...(left === 0 ? [] : [`${stopped ? 'stopped' : 'ended'}; not begun: ${left} of ${runs} runs`])]
}

/** What one should know of it beside the figures. */
export function remarksOf(study: Study): readonly string[] {
  const empty = study.variants.flatMap(({ name, trace, reports: [report] }) => {
    const samples = report?.samples ?? []
    const share = samples.filter(({ online }) => online === 0).length / Math.max(1, samples.length)
    const which = name === '' ? '' : `${name}: `
    return trace === null || share < EMPTY_MIN
      ? []
      : [`${which}nobody was online in ${(100 * share).toFixed(0)} % of the time: what no row of a trace covers counts as down`]
  })
  return [...unfinishedOf(study), ...empty]
}
