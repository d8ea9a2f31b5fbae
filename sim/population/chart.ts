/** Small charts as SVG: lines over time and bars over a logarithmic scale of times. Pure; numbers in, markup out. */

export interface Series {
  readonly name: string
  /** A CSS colour, or a variable of the page. */
  readonly colour: string
  /** One for each x. */
  readonly values: readonly number[]
}

export interface Frame {
  readonly title: string
  /** What the y axis counts. */
  readonly unit: string
}

/** Of a picture, in its own units. */
export const WIDTH = 560
const HEIGHT = 200
const LEFT = 52
const RIGHT = 8
const TOP = 8
const BOTTOM = 22
/** Where a chart's curves are, in the units of its picture. */
export const AREA = { left: LEFT, right: WIDTH - RIGHT, top: TOP, bottom: HEIGHT - BOTTOM }
const TICKS = 4
const POINTS_MAX = 560
const HOURS_UP_TO_DAYS = 2

/** A time that is shaded, in days. */
export interface Shade {
  readonly name: string
  readonly from: number
  readonly to: number
}

/** Lines over days, or hours when it is short. `xs` are days and rise. Shaded below when there is one line. */
export function lineChart({ title, unit }: Frame, xs: readonly number[], series: readonly Series[], shades: readonly Shade[] = []): string {
  const top = niceTop(Math.max(...series.flatMap(({ values }) => values), 0))
  const [from, to] = [xs[0] ?? 0, Math.max(xs.at(-1) ?? 1, (xs[0] ?? 0) + 1e-9)]
  const x = (value: number): number => LEFT + ((value - from) / (to - from)) * (WIDTH - LEFT - RIGHT)
  const y = (value: number): number => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM)
  const every = Math.max(1, Math.ceil(xs.length / POINTS_MAX))
  const lines = series.map(({ name, colour, values }) => {
    // A line that ends before the others ends there.
    const points = xs.flatMap((at, index) => {
      const value = values[index]
      return value !== undefined && (index % every === 0 || index === xs.length - 1) ? [`${x(at).toFixed(1)},${y(value).toFixed(1)}`] : []
    })
    const area =
      series.length > 1
        ? ''
        : `<polygon points="${x(from).toFixed(1)},${y(0)} ${points.join(' ')} ${x(to).toFixed(1)},${y(0)}" fill="${colour}" opacity="0.14"/>`
    return `${area}<polyline data-name="${escapeText(name)}" points="${points.join(' ')}" fill="none" stroke="${colour}" stroke-width="1.6" stroke-linejoin="round"/>`
  })
  const hours = to - from <= HOURS_UP_TO_DAYS
  const ticks = (hours ? ticksOf(from * 24, to * 24).map((value) => value / 24) : ticksOf(from, to)).map(
    (value) => `<text x="${x(value).toFixed(1)}" y="${HEIGHT - 6}" text-anchor="middle">${label(hours ? value * 24 : value)}</text>`
  )
  const shaded = shades.map(({ name, from: begins, to: ends }) => {
    const [left, right] = [x(Math.min(Math.max(begins, from), to)), x(Math.max(Math.min(ends, to), from))]
    return `<rect class="shade" x="${left.toFixed(1)}" y="${TOP}" width="${Math.max(0.5, right - left).toFixed(1)}" height="${HEIGHT - TOP - BOTTOM}"><title>${escapeText(name)}</title></rect>`
  })
  const scale = `data-scale="${[from * (hours ? 24 : 1), to * (hours ? 24 : 1), top].join(' ')}"`
  return figure(title, unit, series, `${shaded.join('')}${yAxis(top, y)}${ticks.join('')}${lines.join('')}`, hours ? 'hours' : 'days', scale)
}

export interface Bar {
  readonly label: string
  readonly value: number
}

/** Columns side by side; labels below some of them. */
export function barChart({ title, unit }: Frame, bars: readonly Bar[], colour: string): string {
  const top = niceTop(Math.max(...bars.map(({ value }) => value), 0))
  const y = (value: number): number => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM)
  const wide = (WIDTH - LEFT - RIGHT) / Math.max(1, bars.length)
  const columns = bars.map(
    ({ label: name, value }, index) =>
      `<rect x="${(LEFT + index * wide + 0.5).toFixed(1)}" y="${y(value).toFixed(1)}" width="${Math.max(0.5, wide - 1).toFixed(1)}" height="${(y(0) - y(value)).toFixed(1)}" fill="${colour}"><title>${escapeText(name)}: ${label(value)}</title></rect>`
  )
  const every = Math.max(1, Math.ceil(bars.length / 8))
  const names = bars.map(({ label: name }, index) =>
    index % every === 0 ? `<text x="${(LEFT + (index + 0.5) * wide).toFixed(1)}" y="${HEIGHT - 6}" text-anchor="middle">${escapeText(name)}</text>` : ''
  )
  return figure(title, unit, [], `${yAxis(top, y)}${columns.join('')}${names.join('')}`, '')
}

export function escapeText(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** 1234567 as 1.23 M. */
export function label(value: number): string {
  const size = Math.abs(value)
  for (const [unit, scale] of UNITS) if (size >= scale) return `${short(value / scale)} ${unit}`
  return short(value)
}

const UNITS = [
  ['T', 1e12],
  ['G', 1e9],
  ['M', 1e6],
  ['k', 1e3]
] as const

function short(value: number): string {
  return String(Number(value.toPrecision(3)))
}

/** Markup in the frame that all charts have. */
export function figure(title: string, unit: string, series: readonly Series[], body: string, below: string, data = ''): string {
  const legend = series.length < 2 ? '' : series.map(({ name, colour }) => `<span><i style="background:${colour}"></i>${escapeText(name)}</span>`).join('')
  const caption = `<figcaption><b>${escapeText(title)}</b> <small>${escapeText(unit)}${below === '' ? '' : `, over ${below}`}</small>${legend}</figcaption>`
  return `<figure>${caption}<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="${escapeText(title)}"${data === '' ? '' : ` ${data}`}>${body}</svg></figure>`
}

function yAxis(top: number, y: (value: number) => number): string {
  return Array.from({ length: TICKS + 1 }, (_, tick) => {
    const value = (top * tick) / TICKS
    const at = y(value).toFixed(1)
    return `<line x1="${AREA.left}" x2="${AREA.right}" y1="${at}" y2="${at}"/><text x="${LEFT - 6}" y="${at}" text-anchor="end" dominant-baseline="middle">${label(value)}</text>`
  }).join('')
}

/** A little more than the greatest value, that divides into ticks one can read. */
function niceTop(value: number): number {
  if (!(value > 1e-9)) return 1
  const scale = 10 ** Math.floor(Math.log10(value))
  const step = [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8, 10].find((one) => one * scale >= value) ?? 10
  return step * scale
}

function ticksOf(from: number, to: number): readonly number[] {
  const span = to - from
  const scale = 10 ** Math.floor(Math.log10(span))
  const step = [0.1, 0.2, 0.5, 1, 2].map((one) => one * scale).find((one) => span / one <= 8) ?? span
  const first = Math.ceil(from / step)
  return Array.from({ length: Math.floor(to / step) - first + 1 }, (_, tick) => Number(((first + tick) * step).toPrecision(6)))
}
