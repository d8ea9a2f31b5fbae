/** Scenarios beside each other, on the same seeds: what is better, by how much, and whether that is more than chance. Pure. */
import { DAY_MS, HOUR_MS } from './availability.ts'
import type { Report } from './report.ts'
import { difference, type Estimate, estimate, isClear } from './statistics.ts'

interface Measure {
  readonly name: string
  readonly of: (report: Report) => number
  readonly digits: number
}

const MEASURES: readonly Measure[] = [
  { name: 'tasks ready a day', of: ({ totals, reachedMs }) => totals.ready / (reachedMs / DAY_MS), digits: 0 },
  { name: 'turnaround, half within (h)', of: ({ turnaroundMs }) => turnaroundMs.p50 / HOUR_MS, digits: 2 },
  { name: 'turnaround, 95 % within (h)', of: ({ turnaroundMs }) => turnaroundMs.p95 / HOUR_MS, digits: 2 },
  { name: 'turnaround, 99 % within (h)', of: ({ turnaroundMs }) => turnaroundMs.p99 / HOUR_MS, digits: 2 },
  { name: 'replicas for each task', of: ({ totals }) => totals.leased / Math.max(1, totals.ready), digits: 3 },
  { name: 'tasks failed (%)', of: ({ totals }) => (100 * totals.failed) / Math.max(1, totals.ready + totals.failed), digits: 3 },
  { name: 'wrong answers accepted (%)', of: ({ totals }) => (100 * totals.wrong) / Math.max(1, totals.ready), digits: 3 },
  { name: 'coordinator events for each task', of: ({ totals }) => totals.applied / Math.max(1, totals.ready), digits: 1 }
]

/** One variant: what it is called and its reports, one a seed, in the order of the seeds. */
export interface Variant {
  readonly name: string
  readonly reports: readonly Report[]
}

/** A line for each measure: each variant's estimate, and for all but the first how it differs from the first, with `*` when that is clear. */
export function tableOf(variants: readonly Variant[]): readonly string[] {
  const [first] = variants
  if (first === undefined) return []
  const rows = MEASURES.map(({ name, of, digits }) => {
    const base = first.reports.map(of)
    const cells = variants.map((variant) => {
      const values = variant.reports.map(of)
      if (variant === first) return show(estimate(values), digits)
      const change = difference(base, values)
      return `${show(estimate(values), digits)}  ${change.mean < 0 ? '' : '+'}${show(change, digits)}${isClear(change) ? ' *' : ''}`
    })
    return [name, ...cells]
  })
  const table = [['', ...variants.map(({ name }) => name)], ...rows]
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => (row[column] ?? '').length))) ?? []
  return table.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  )
}

function show({ mean, within }: Estimate, digits: number): string {
  return Number.isFinite(within) ? `${mean.toFixed(digits)} ±${within.toFixed(digits)}` : mean.toFixed(digits)
}
