/** Experiments as pictures: what was measured as points, beside the ideal line or in the band where it should lie. Pure. */
import { AREA, figure as frame, label, type Series } from '../population/chart.ts'
import { pageOf } from '../population/html.ts'
import type { Figure, SuccessFigure, TimeFigure } from './figures.ts'

const COLOURS = ['var(--a)', 'var(--c)', 'var(--d)']
const IDEAL = 'var(--dim)'
const POINT = 3.2

export function pageOfFigures(figures: readonly Figure[], seed: number): string {
  const title = { name: 'Experiments', question: `How near to the ideal are the coordinator and its nodes? Simulated, seed ${seed}.` }
  return pageOf(title, `<div class="charts">${figures.map(plotOf).join('')}</div>`)
}

export function plotOf(figure: Figure): string {
  return figure.kind === 'time' ? timePlot(figure) : successPlot(figure)
}

/** Both axes logarithmic: half the time with twice the clients is a straight line. */
function timePlot({ title, over, points }: TimeFigure): string {
  const groups = over === 'clients' ? [points] : [...Map.groupBy(points, ({ clients }) => clients).values()]
  const xOf = ({ clients, tasks }: { readonly clients: number; readonly tasks: number }): number => (over === 'clients' ? clients : tasks)
  const x = logScale(points.map(xOf), AREA.left, AREA.right)
  const y = logScale(
    points.flatMap(({ ms, idealMs }) => [ms / 1000, idealMs / 1000]),
    AREA.bottom,
    AREA.top
  )
  const series: Series[] = groups.map((group, index) => ({
    name: over === 'clients' ? 'measured' : `${group[0]?.clients} clients`,
    colour: COLOURS[index] ?? IDEAL,
    values: group.map(({ ms }) => ms / 1000)
  }))
  const body = groups.map((group, index) => {
    const ideal = group.map((point) => `${place(x(xOf(point)))},${place(y(point.idealMs / 1000))}`).join(' ')
    const dots = group.map((point) => dot(x(xOf(point)), y(point.ms / 1000), COLOURS[index] ?? IDEAL, `${xOf(point)}: ${label(point.ms / 1000)} s`))
    return `<polyline points="${ideal}" fill="none" stroke="${IDEAL}" stroke-dasharray="4 3"/>${dots.join('')}`
  })
  const seconds = ticks(points.flatMap(({ ms, idealMs }) => [ms / 1000, idealMs / 1000])).map((value) => across(y(value), label(value)))
  const counts = [...new Set(points.map(xOf))].map((value) => below(x(value), String(value)))
  return frame(title, 'seconds', [...series, { name: 'ideal', colour: IDEAL, values: [] }], [...seconds, ...counts, ...body].join(''), over)
}

function successPlot({ title, fails, points }: SuccessFigure): string {
  const [first, last] = [points[0]?.attempts ?? 0, points.at(-1)?.attempts ?? 1]
  const margin = 20
  const x = (attempts: number): number => AREA.left + margin + ((attempts - first) / Math.max(1, last - first)) * (AREA.right - AREA.left - 2 * margin)
  const y = (share: number): number => AREA.bottom - share * (AREA.bottom - AREA.top)
  const edge = (pick: (point: SuccessFigure['points'][number]) => number): string[] =>
    points.map((point) => `${place(x(point.attempts))},${place(y(pick(point) / point.tasks))}`)
  const band = [...edge(({ band: { high } }) => high), ...edge(({ band: { low } }) => low).reverse()].join(' ')
  const ideal = edge(({ expected }) => expected).join(' ')
  const dots = points.map(({ attempts, ready, tasks }) => dot(x(attempts), y(ready / tasks), 'var(--a)', `K = ${attempts}: ${ready} of ${tasks}`))
  const body = `<polygon points="${band}" fill="${IDEAL}" opacity="0.25"/><polyline points="${ideal}" fill="none" stroke="${IDEAL}" stroke-dasharray="4 3"/>${dots.join('')}`
  const shares = [0, 0.25, 0.5, 0.75, 1].map((share) => across(y(share), `${100 * share}`))
  const counts = points.map(({ attempts }) => below(x(attempts), String(attempts)))
  const series = [
    { name: 'measured', colour: 'var(--a)', values: [] },
    { name: `1 - ${fails}^K, and where 95 of 100 such experiments end`, colour: IDEAL, values: [] }
  ]
  return frame(title, '% of the tasks ready', series, [...shares, ...counts, body].join(''), 'K')
}

function logScale(values: readonly number[], from: number, to: number): (value: number) => number {
  const [low, high] = [Math.log(Math.min(...values)), Math.log(Math.max(...values))]
  const margin = Math.sign(to - from) * 14
  return (value) => from + margin + ((Math.log(value) - low) / Math.max(1e-9, high - low)) * (to - from - 2 * margin)
}

/** Powers of two between the least and the greatest. */
function ticks(values: readonly number[]): number[] {
  const [low, high] = [Math.min(...values), Math.max(...values)]
  return Array.from({ length: 20 }, (_, power) => 2 ** power).filter((value) => value >= low * 0.99 && value <= high)
}

function across(y: number, text: string): string {
  return `<line x1="${AREA.left}" x2="${AREA.right}" y1="${place(y)}" y2="${place(y)}"/><text x="${AREA.left - 6}" y="${place(y)}" text-anchor="end" dominant-baseline="middle">${text}</text>`
}

function below(x: number, text: string): string {
  return `<text x="${place(x)}" y="${AREA.bottom + 16}" text-anchor="middle">${text}</text>`
}

function dot(x: number, y: number, colour: string, title: string): string {
  return `<circle cx="${place(x)}" cy="${place(y)}" r="${POINT}" fill="${colour}"><title>${title}</title></circle>`
}

function place(value: number): string {
  return value.toFixed(1)
}
