/** Pictures of a run that are not lines over time: the tail of a distribution, a week by the hour, shares side by side. Pure. */
import { HOUR_MS } from './availability.ts'
import { AREA, escapeText, figure, label, type Series } from './chart.ts'
import { showTime } from './figures.ts'
import type { Times } from './meters.ts'

const TIMES_MS = [1, 10, 60, 600, 3600, 6 * 3600, 24 * 3600, 3 * 24 * 3600, 7 * 24 * 3600, 30 * 24 * 3600].map((seconds) => seconds * 1000)
const SHARE_MIN = 1e-5

export interface Spread {
  readonly name: string
  readonly colour: string
  readonly bars: ReturnType<Times['bars']>
}

/** What share takes longer than a time, both by powers of ten: a straight fall is short-tailed, a slope that flattens is not. */
export function tailChart(title: string, unit: string, spreads: readonly Spread[]): string {
  const all = spreads.flatMap(({ bars }) => bars.map(({ toMs }) => toMs))
  const [from, to] = [Math.log(Math.min(...all, HOUR_MS)), Math.log(Math.max(...all, HOUR_MS + 1))]
  const least = Math.min(0.1, ...spreads.map(({ bars }) => 1 / Math.max(1, countOf(bars))))
  const bottom = Math.log10(Math.max(SHARE_MIN, 10 ** Math.floor(Math.log10(least))))
  const x = (ms: number): number => AREA.left + ((Math.log(ms) - from) / (to - from)) * (AREA.right - AREA.left)
  const y = (share: number): number => AREA.top + (Math.max(bottom, Math.log10(Math.max(share, 1e-12))) / bottom) * (AREA.bottom - AREA.top)
  const rows = Array.from({ length: 1 - bottom }, (_, power) => {
    const at = y(10 ** -power).toFixed(1)
    return `<line x1="${AREA.left}" x2="${AREA.right}" y1="${at}" y2="${at}"/><text x="${AREA.left - 6}" y="${at}" text-anchor="end" dominant-baseline="middle">${label(100 * 10 ** -power)} %</text>`
  })
  const columns = TIMES_MS.filter((ms) => Math.log(ms) >= from && Math.log(ms) <= to).map(
    (ms) =>
      `<text x="${x(ms).toFixed(1)}" y="${AREA.bottom + 16}" text-anchor="${x(ms) > AREA.right - 24 ? 'end' : 'middle'}">${escapeText(showTime(ms))}</text>`
  )
  const lines = spreads.map(({ name, colour, bars }) => {
    const count = Math.max(1, countOf(bars))
    let left = count
    const points = bars.map(({ toMs, count: here }) => {
      left -= here
      return `${x(toMs).toFixed(1)},${y(left / count).toFixed(1)}`
    })
    return `<polyline data-name="${escapeText(name)}" points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.8" stroke-linejoin="round"/>`
  })
  return figure(title, unit, seriesOf(spreads), `${rows.join('')}${columns.join('')}${lines.join('')}`, '')
}

const DAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun']
const HOURS = 24

/** A mean for each hour of the week, in UTC, darker where there is more. `atMs` counts from a Monday's midnight. */
export function weekChart(title: string, unit: string, samples: readonly { readonly atMs: number; readonly value: number }[]): string {
  const everyMs = Math.max(HOUR_MS, (samples[1]?.atMs ?? 0) - (samples[0]?.atMs ?? 0))
  const cells = Math.max(1, Math.round((HOURS * HOUR_MS) / everyMs))
  const sums = Array.from({ length: DAYS.length * cells }, () => ({ sum: 0, count: 0 }))
  for (const { atMs, value } of samples) {
    const cell = sums[Math.floor(atMs / ((HOURS * HOUR_MS) / cells)) % sums.length]
    if (cell === undefined) continue
    cell.sum += value
    cell.count++
  }
  const means = sums.map(({ sum, count }) => (count === 0 ? null : sum / count))
  const known = means.filter((value) => value !== null)
  const [least, most] = [Math.min(...known), Math.max(...known)]
  const [wide, high] = [(AREA.right - AREA.left) / cells, (AREA.bottom - AREA.top) / DAYS.length]
  const squares = means.map((value, index) => {
    if (value === null) return ''
    const [day, cell] = [Math.floor(index / cells), index % cells]
    const strength = most > least ? 0.08 + (0.92 * (value - least)) / (most - least) : 0.5
    const at = `x="${(AREA.left + cell * wide + 0.5).toFixed(1)}" y="${(AREA.top + day * high + 0.5).toFixed(1)}" width="${(wide - 1).toFixed(1)}" height="${(high - 1).toFixed(1)}"`
    return `<rect ${at} rx="1.5" fill="var(--a)" opacity="${strength.toFixed(3)}"><title>${DAYS[day]} ${Math.round((cell * HOURS) / cells)}:00: ${label(value)}</title></rect>`
  })
  const days = DAYS.map(
    (name, day) => `<text x="${AREA.left - 6}" y="${(AREA.top + (day + 0.5) * high).toFixed(1)}" text-anchor="end" dominant-baseline="middle">${name}</text>`
  )
  const hours = [0, 6, 12, 18].map(
    (hour) =>
      `<text x="${(AREA.left + (hour / HOURS) * (AREA.right - AREA.left)).toFixed(1)}" y="${AREA.bottom + 16}">${String(hour).padStart(2, '0')}:00</text>`
  )
  const range = known.length === 0 ? unit : `${unit}; light ${label(least)}, dark ${label(most)}`
  return figure(title, range, [], `${squares.join('')}${days.join('')}${hours.join('')}`, '')
}

export interface Split {
  readonly name: string
  /** Shares of a whole, in the same order for all. */
  readonly parts: readonly { readonly name: string; readonly share: number }[]
}

/** A bar for each, cut into its shares. What is nowhere is left out of the legend. */
export function shareChart(title: string, unit: string, splits: readonly Split[], colours: readonly string[]): string {
  const high = (AREA.bottom - AREA.top) / splits.length
  const thick = splits.length === 1 ? high * 0.8 : Math.min(46, high * 0.6)
  const bars = splits.map(({ name, parts }, row) => {
    const middle = AREA.top + (row + 0.5) * high + (name === '' ? 0 : 7)
    let left = 0
    const pieces = parts.map(({ name: part, share }, index) => {
      const wide = share * (AREA.right - 4)
      const piece = `<rect x="${(4 + left).toFixed(1)}" y="${(middle - thick / 2).toFixed(1)}" width="${wide.toFixed(1)}" height="${thick.toFixed(1)}" fill="${colours[index % colours.length]}"><title>${escapeText(part)}: ${percent(share)}</title></rect>`
      const text =
        share < 0.06
          ? ''
          : `<text class="on" x="${(4 + left + wide / 2).toFixed(1)}" y="${middle.toFixed(1)}" text-anchor="middle" dominant-baseline="central">${percent(share)}</text>`
      left += wide
      return `${piece}${text}`
    })
    const heading = name === '' ? '' : `<text x="4" y="${(middle - thick / 2 - 5).toFixed(1)}">${escapeText(name)}</text>`
    return `${heading}${pieces.join('')}`
  })
  const legend = (splits[0]?.parts ?? []).flatMap(({ name }, index): Series[] => {
    const shares = splits.map(({ parts }) => parts[index]?.share ?? 0)
    if (Math.max(...shares) < 0.0005) return []
    return [{ name: shares.length === 1 ? `${name} ${percent(shares[0] ?? 0)}` : name, colour: colours[index % colours.length] ?? '', values: [] }]
  })
  return figure(title, unit, legend, bars.join(''), '')
}

function percent(share: number): string {
  return `${Number((100 * share).toPrecision(share < 0.1 ? 2 : 3))} %`
}

function countOf(bars: Spread['bars']): number {
  return bars.reduce((sum, { count }) => sum + count, 0)
}

function seriesOf(spreads: readonly Spread[]): readonly Series[] {
  return spreads.map(({ name, colour }) => ({ name, colour, values: [] }))
}
