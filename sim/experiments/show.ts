/** Experiments as lines of text: a table, and beside each row its place on a scale. */
import { type Figure, isInside, type SuccessFigure, type TimeFigure } from './figures.ts'

const SCALE = 50

export function linesOf(figure: Figure): string[] {
  const rows = figure.kind === 'time' ? timeRows(figure) : successRows(figure)
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  const last = widths.length - 1
  return [figure.title, ...rows.map((row) => row.map((cell, at) => (at === last ? cell : cell.padStart(widths[at] ?? 0))).join('  '))]
}

function timeRows({ points }: TimeFigure): string[][] {
  const rows = points.map(({ clients, tasks, ms, idealMs }) => {
    const share = idealMs / ms
    return [String(tasks), String(clients), seconds(ms), seconds(idealMs), percent(share), `${'█'.repeat(Math.round(share * SCALE)).padEnd(SCALE, '·')}│`]
  })
  return [['tasks', 'clients', 'seconds', 'ideal', 'of ideal', ''], ...rows]
}

function successRows({ points }: SuccessFigure): string[][] {
  const rows = points.map((point) => {
    const { attempts, tasks, ready, expected, band, ms, idealMsMax } = point
    const at = (count: number): number => Math.round((count / tasks) * SCALE)
    const scale = Array.from({ length: SCALE + 1 }, (_, cell) => (cell === at(ready) ? '●' : cell >= at(band.low) && cell <= at(band.high) ? '─' : ' ')).join(
      ''
    )
    const bounds = `${band.low} to ${band.high}`
    return [
      String(attempts),
      String(ready),
      expected.toFixed(1),
      bounds,
      isInside(point) ? 'inside' : 'OUTSIDE',
      seconds(ms),
      seconds(idealMsMax),
      `│${scale}│`
    ]
  })
  return [['K', 'ready', 'expected', '95 % band', '', 'seconds', 'at most', ''], ...rows]
}

function seconds(ms: number): string {
  return (ms / 1000).toFixed(1)
}

function percent(share: number): string {
  return `${(100 * share).toFixed(1)} %`
}
