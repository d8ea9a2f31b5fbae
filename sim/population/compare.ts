/** Variants beside each other, on the same seeds: what is better, by how much, and whether that is more than chance. Pure. */
import { DAY_MS, HOUR_MS } from './availability.ts'
import { figureOf } from './figures.ts'
import type { Report } from './report.ts'
import { difference, type Estimate, estimate, isClear } from './statistics.ts'

interface Measure {
  readonly name: string
  /** Not a number when there is none of it: then it is left out. */
  readonly of: (report: Report) => number
  readonly digits: number
}

const MEASURES: readonly Measure[] = [
  { name: 'tasks ready a day', of: ({ totals, reachedMs }) => totals.ready / (reachedMs / DAY_MS), digits: 0 },
  { name: 'turnaround, half within (h)', of: ({ totals, turnaroundMs }) => ifReady(totals, turnaroundMs.p50 / HOUR_MS), digits: 2 },
  { name: 'turnaround, 95 % within (h)', of: ({ totals, turnaroundMs }) => ifReady(totals, turnaroundMs.p95 / HOUR_MS), digits: 2 },
  { name: 'turnaround, 99 % within (h)', of: ({ totals, turnaroundMs }) => ifReady(totals, turnaroundMs.p99 / HOUR_MS), digits: 2 },
  { name: 'turnaround, the last (h)', of: ({ totals, turnaroundMs }) => ifReady(totals, turnaroundMs.last / HOUR_MS), digits: 2 },
  { name: 'replicas for each task', of: ({ totals }) => ifReady(totals, totals.leased / totals.ready), digits: 3 },
  { name: 'tasks failed (%)', of: ({ totals }) => (100 * totals.failed) / Math.max(1, totals.ready + totals.failed), digits: 3 },
  { name: 'wrong answers accepted (%)', of: ({ totals }) => (100 * totals.wrong) / Math.max(1, totals.ready), digits: 3 },
  { name: 'coordinator events for each task', of: ({ totals }) => totals.applied / Math.max(1, totals.ready), digits: 1 },
  { name: 'line full of inputs (% of the time)', of: (report) => 100 * figureOf('sendsFull', report), digits: 1 },
  { name: 'an input takes, mean (s)', of: (report) => figureOf('input', report) / 1000, digits: 1 }
]

/** One variant: what it is called and its reports, one a seed, in the order of the seeds. */
export interface Variant {
  readonly name: string
  readonly reports: readonly Report[]
}

export interface Cell extends Estimate {
  readonly variant: string
  /** How it differs from the first variant, on the same seeds; null in the first. */
  readonly change: Estimate | null
  /** The change is more than chance. */
  readonly clear: boolean
}

export interface Row {
  readonly measure: string
  readonly digits: number
  /** One a variant. */
  readonly cells: readonly Cell[]
}

export function isWhole({ reachedMs, lengthMs, complaint }: Report): boolean {
  return reachedMs >= lengthMs && complaint === null
}

/** Those that played a seed to its end: the others were stopped before. */
export function comparable<One extends Variant>(variants: readonly One[]): readonly One[] {
  return variants.filter(({ reports }) => reports.some(isWhole))
}

/** Seeds that all of these have played to the end; the others would compare unlike things. */
export function wholeSeeds(variants: readonly Variant[]): number {
  const counts = comparable(variants).map(({ reports }) => reports.filter(isWhole).length)
  return counts.length === 0 ? 0 : Math.min(...counts)
}

/** Of those that can be compared. */
export function rowsOf(all: readonly Variant[]): readonly Row[] {
  const variants = comparable(all)
  const [first] = variants
  const seeds = wholeSeeds(variants)
  if (first === undefined || seeds === 0) return []
  const had = MEASURES.filter(({ of }) => variants.every(({ reports }) => reports.slice(0, seeds).every((report) => !Number.isNaN(of(report)))))
  return had.map(({ name, of, digits }) => {
    const base = first.reports.slice(0, seeds).map(of)
    const cells = variants.map((variant) => {
      const values = variant.reports.slice(0, seeds).map(of)
      if (variant === first) return { variant: variant.name, ...estimate(values), change: null, clear: false }
      const change = difference(base, values)
      return { variant: variant.name, ...estimate(values), change, clear: isClear(change) }
    })
    return { measure: name, digits, cells }
  })
}

/** A line for each measure: each variant's estimate, and for all but the first how it differs from the first, with `*` when that is clear. */
export function tableOf(variants: readonly Variant[]): readonly string[] {
  const rows = rowsOf(variants).map(({ measure, digits, cells }) => [measure, ...cells.map((cell) => showCell(cell, digits))])
  const table = [['', ...comparable(variants).map(({ name }) => name)], ...rows]
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => (row[column] ?? '').length))) ?? []
  return table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  )
}

export function showCell({ change, clear, ...own }: Omit<Cell, 'variant'>, digits: number): string {
  if (change === null || Number.isNaN(change.mean)) return showEstimate(own, digits)
  const shown = showEstimate(change, digits).replace(/^-(?=[0.]+(?: |$))/, '')
  return `${showEstimate(own, digits)}  ${shown.startsWith('-') ? '' : '+'}${shown}${clear ? ' *' : ''}`
}

/** Not a number where nothing is ready. */
function ifReady({ ready }: Report['totals'], value: number): number {
  return ready === 0 ? Number.NaN : value
}

function showEstimate({ mean, within }: Estimate, digits: number): string {
  if (Number.isNaN(mean)) return '-'
  return Number.isFinite(within) ? `${mean.toFixed(digits)} ±${within.toFixed(digits)}` : mean.toFixed(digits)
}
