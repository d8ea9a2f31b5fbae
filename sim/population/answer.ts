/**
 * A scenario's answer: text with places for figures, `{wrongShare}` of the first variant or `{a quorum of 3: wrongShare}` of
 * the one that is named. Pure.
 */
import { FIGURE_NAMES, type FigureName, figureOf, showFigure } from './figures.ts'
import type { Report } from './report.ts'

const PLACE = /\{([^{}]*)\}/g

/** What is wrong with an answer for these variants; undefined when nothing is. */
export function answerFault(answer: string, variants: readonly string[]): string | undefined {
  for (const [, inner = ''] of answer.matchAll(PLACE)) {
    const { variant, figure } = placeOf(inner)
    if (variant !== undefined && !variants.includes(variant))
      return `no variant is called ${JSON.stringify(variant)}; there ${variants.length === 0 ? 'are none' : `are ${variants.join(', ')}`}`
    if (!isFigure(figure)) return `no figure is called ${JSON.stringify(figure)}; there are ${FIGURE_NAMES.join(', ')}`
  }
  return undefined
}

/** `runs` by the names of their variants, the first one first, one a seed: figures are their means. Empty when one that it speaks of was not run. */
export function answerOf(answer: string, runs: ReadonlyMap<string, readonly Report[]>): string {
  const [first] = runs.values()
  let whole = true
  const text = answer.replace(PLACE, (place, inner: string) => {
    const { variant, figure } = placeOf(inner)
    const reports = (variant === undefined ? first : runs.get(variant)) ?? []
    whole &&= reports.length > 0
    if (reports.length === 0 || !isFigure(figure)) return place
    return showFigure(figure, reports.reduce((sum, report) => sum + figureOf(figure, report), 0) / reports.length)
  })
  return whole ? text : ''
}

function placeOf(inner: string): { readonly variant: string | undefined; readonly figure: string } {
  const at = inner.lastIndexOf(':')
  return at === -1 ? { variant: undefined, figure: inner.trim() } : { variant: inner.slice(0, at).trim(), figure: inner.slice(at + 1).trim() }
}

function isFigure(name: string): name is FigureName {
  return FIGURE_NAMES.some((known) => known === name)
}
