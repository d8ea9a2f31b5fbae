/** Figures of a run by name: what answers are made of, and what runs are compared by. Pure. */
import { DAY_MS, HOUR_MS } from './availability.ts'
import { label } from './chart.ts'
import { type Sample, warmUpMs } from './meters.ts'
import type { Mark, Report } from './report.ts'

type Kind = 'count' | 'share' | 'time' | 'bytes'

interface Figure {
  readonly kind: Kind
  readonly of: (report: Report) => number
}

/** Until a run has found its pace. */
const WARM_UP_MS = DAY_MS
/** Throughput is looked at over so long, and is back when it is so near to what it was. */
const PACE_MS = 6 * HOUR_MS
/** In which what was done during an outage is handed in: that is not its pace. */
const HAND_IN_MS = 2 * HOUR_MS
const BACK = 0.9

const FIGURES = {
  days: { kind: 'count', of: ({ reachedMs }) => reachedMs / DAY_MS },
  hosts: { kind: 'count', of: ({ hosts }) => hosts },
  ready: { kind: 'count', of: ({ totals }) => totals.ready },
  readyPerDay: { kind: 'count', of: ({ totals, reachedMs }) => totals.ready / (reachedMs / DAY_MS) },
  bestDay: { kind: 'count', of: (report) => Math.max(...readyByDay(report)) },
  worstDay: { kind: 'count', of: (report) => Math.min(...readyByDay(report)) },
  failed: { kind: 'count', of: ({ totals }) => totals.failed },
  failedShare: { kind: 'share', of: ({ totals }) => part(totals.failed, totals.ready + totals.failed) },
  half: { kind: 'time', of: ({ totals, turnaroundMs }) => ifAny(totals.ready, turnaroundMs.p50) },
  most: { kind: 'time', of: ({ totals, turnaroundMs }) => ifAny(totals.ready, turnaroundMs.p95) },
  nearlyAll: { kind: 'time', of: ({ totals, turnaroundMs }) => ifAny(totals.ready, turnaroundMs.p99) },
  last: { kind: 'time', of: ({ totals, turnaroundMs }) => ifAny(totals.ready, turnaroundMs.last) },
  replicas: { kind: 'count', of: ({ totals }) => ifAny(totals.ready + totals.failed, totals.leased / (totals.ready + totals.failed)) },
  wrong: { kind: 'count', of: ({ totals }) => totals.wrong },
  wrongShare: { kind: 'share', of: ({ totals }) => part(totals.wrong, totals.ready) },
  standingShare: { kind: 'share', of: ({ totals }) => part(totals.wrong - totals.revoked + totals.revokedRight, totals.ready) },
  revoked: { kind: 'count', of: ({ totals }) => totals.revoked },
  warmWrongShare: {
    kind: 'share',
    of: (report) =>
      part(
        sinceHalf(report, ({ wrong }) => wrong),
        sinceHalf(report, ({ ready }) => ready)
      )
  },
  warmStandingShare: {
    kind: 'share',
    of: (report) =>
      Math.max(
        0,
        part(
          sinceHalf(report, ({ wrong, revoked, revokedRight }) => wrong - revoked + revokedRight),
          sinceHalf(report, ({ ready }) => ready)
        )
      )
  },
  warmReplicas: {
    kind: 'count',
    of: (report) =>
      sinceHalf(report, ({ leased }) => leased) /
      Math.max(
        1,
        sinceHalf(report, ({ ready, failed }) => ready + failed)
      )
  },
  reportedWrongShare: { kind: 'share', of: ({ totals }) => part(totals.reportedWrong, totals.reported) },
  wastedShare: { kind: 'share', of: (report) => workOf(report).reduce((sum, { wasted, share }) => sum + (wasted ? share : 0), 0) },
  online: { kind: 'count', of: ({ samples }) => mean(samples.map(({ online }) => online)) },
  onlineMost: { kind: 'count', of: ({ samples }) => Math.max(0, ...samples.map(({ online }) => online)) },
  newcomers: { kind: 'count', of: (report) => during(report, 'crowd', ({ arrived }) => arrived) },
  stayed: { kind: 'share', of: stayed },
  events: { kind: 'count', of: ({ samples }) => mean(rates(samples, ({ applied }) => applied, 1000)) },
  eventsMost: { kind: 'count', of: ({ samples }) => Math.max(0, ...rates(samples, ({ applied }) => applied, 1000)) },
  eventsBefore: { kind: 'count', of: (report) => paceBefore(report, report.marks[0], ({ applied }) => applied) / 3600 },
  capacity: { kind: 'count', of: ({ totals, took }) => totals.applied / Math.max(took.seconds, 1e-3) },
  speedUp: { kind: 'count', of: ({ took, reachedMs }) => reachedMs / 1000 / Math.max(took.seconds, 1e-3) },
  took: { kind: 'time', of: ({ took }) => took.seconds * 1000 },
  memory: { kind: 'bytes', of: ({ took }) => took.memoryBytes },
  moved: { kind: 'bytes', of: ({ totals }) => totals.movedBytes },
  sendsUse: { kind: 'share', of: (report) => shareOf(report, report.line?.sendsBytesPerS, ({ sentBytes = 0 }, bytesPerMs) => sentBytes / bytesPerMs) },
  sendsFull: { kind: 'share', of: (report) => shareOf(report, report.line?.sendsBytesPerS, ({ sendsFullMs = 0 }) => sendsFullMs) },
  receivesUse: {
    kind: 'share',
    of: (report) => shareOf(report, report.line?.receivesBytesPerS, ({ receivedBytes = 0 }, bytesPerMs) => receivedBytes / bytesPerMs)
  },
  receivesFull: { kind: 'share', of: (report) => shareOf(report, report.line?.receivesBytesPerS, ({ receivesFullMs = 0 }) => receivesFullMs) },
  input: { kind: 'time', of: ({ line }) => line?.inputMs?.mean ?? Number.NaN },
  inputMost: { kind: 'time', of: ({ line }) => line?.inputMs?.p95 ?? Number.NaN },
  recovery: { kind: 'time', of: recovery },
  handedIn: { kind: 'count', of: handedIn }
} as const satisfies Readonly<Record<string, Figure>>

export type FigureName = keyof typeof FIGURES

export const FIGURE_NAMES = Object.keys(FIGURES) as readonly FigureName[]

export function figureOf(name: FigureName, report: Report): number {
  return FIGURES[name].of(report)
}

/** As people read it; `-` for what there is none of. */
export function showFigure(name: FigureName, value: number): string {
  if (Number.isNaN(value)) return '-'
  if (!Number.isFinite(value)) return 'never'
  const kind: Kind = FIGURES[name].kind
  if (kind === 'share') return `${short(100 * value)} %`
  if (kind === 'time') return showTime(value)
  if (kind === 'bytes') return `${label(value)}B`
  return value >= 1000 ? Math.round(value).toLocaleString('en') : short(value)
}

export function showTime(ms: number): string {
  if (ms < 60_000) return `${short(ms / 1000)} s`
  if (ms < HOUR_MS) return `${short(ms / 60_000)} min`
  return ms < 3 * DAY_MS ? `${short(ms / HOUR_MS)} h` : `${short(ms / DAY_MS)} days`
}

/** What came of the time that hosts ran, as shares; what still runs left out. */
export function workOf({ totals, quorum }: Report): readonly { readonly name: string; readonly wasted: boolean; readonly share: number }[] {
  const { rightMs, failedMs, wrongMs, needlessMs, lateMs, anewMs, leftMs, ready, wrong, reported, reportedWrong } = totals
  const right = reported - reportedWrong
  const needed = right === 0 ? 0 : Math.min(1, (quorum * (ready - wrong)) / right)
  const parts = [
    ['needed for a quorum', false, rightMs * needed],
    ['right, but not needed (or not yet)', true, rightMs * (1 - needed)],
    ['came back when given up', true, lateMs],
    ['failed and said so', true, failedMs],
    ['wrong', true, wrongMs],
    ['no longer needed', true, needlessMs],
    ['began anew', true, anewMs],
    ['left for good', true, leftMs]
  ] as const
  const all = parts.reduce((sum, [, , ms]) => sum + ms, 0)
  return parts.map(([name, wasted, ms]) => ({ name, wasted, share: part(ms, all) }))
}

/** How fast a count grew from sample to sample, in so many milliseconds. */
export function rates(samples: readonly Sample[], pick: (sample: Sample) => number, perMs: number): number[] {
  return samples.map((sample, index) => {
    const before = samples[index - 1]
    return before === undefined ? 0 : ((pick(sample) - pick(before)) / (sample.atMs - before.atMs)) * perMs
  })
}

/** Whole days; of less than one its pace. */
function readyByDay({ samples, totals, reachedMs }: Report): number[] {
  const byDay: number[] = []
  let before = 0
  for (const { atMs, ready } of [...samples, { atMs: reachedMs, ready: totals.ready }]) {
    if (atMs < (byDay.length + 1) * DAY_MS) continue
    byDay.push(ready - before)
    before = ready
  }
  return byDay.length > 0 ? byDay : [totals.ready / (reachedMs / DAY_MS)]
}

/** An hour's growth of a count in the days before something befell the world. */
function paceBefore({ samples }: Report, mark: Mark | undefined, pick: (sample: Sample) => number): number {
  if (mark === undefined) return 0
  const before = samples.filter(({ atMs }) => atMs >= Math.min(WARM_UP_MS, mark.fromMs / 2) && atMs <= mark.fromMs)
  const [first, last] = [before[0], before.at(-1)]
  return first === undefined || last === undefined || first === last ? 0 : ((pick(last) - pick(first)) / (last.atMs - first.atMs)) * HOUR_MS
}

/** From the end of the first outage until as much is done as before. Infinity when that does not come. */
function recovery(report: Report): number {
  const outage = report.marks.find(({ kind }) => kind === 'outage')
  if (outage === undefined) return 0
  const usual = paceBefore(report, outage, ({ ready }) => ready)
  const after = report.samples.filter(({ atMs }) => atMs >= outage.toMs + HAND_IN_MS)
  const back = after.find((sample, index) => {
    const later = after.slice(index).find(({ atMs }) => atMs >= sample.atMs + PACE_MS)
    return later !== undefined && ((later.ready - sample.ready) / (later.atMs - sample.atMs)) * HOUR_MS >= BACK * usual
  })
  return back === undefined ? Number.POSITIVE_INFINITY : back.atMs - outage.toMs
}

/** Results that were reported in the first hours after the first outage. */
function handedIn(report: Report): number {
  const outage = report.marks.find(({ kind }) => kind === 'outage')
  if (outage === undefined) return 0
  const [from, to] = [at(report, outage.fromMs), at(report, outage.toMs + HAND_IN_MS)]
  return (to?.reported ?? 0) - (from?.reported ?? 0)
}

/** By how much a count grew during the first of a kind. */
function during(report: Report, kind: Mark['kind'], pick: (sample: Sample) => number): number {
  const mark = report.marks.find((one) => one.kind === kind)
  if (mark === undefined) return 0
  const [from, to] = [at(report, mark.fromMs), at(report, mark.toMs)]
  return (to === undefined ? 0 : pick(to)) - (from === undefined ? 0 : pick(from))
}

/** Of those who came with the first crowd, about how many are there in the end: what is more than before it. */
function stayed(report: Report): number {
  const crowd = report.marks.find(({ kind }) => kind === 'crowd')
  const [before, last] = [crowd === undefined ? undefined : at(report, crowd.fromMs), report.samples.at(-1)]
  if (before === undefined || last === undefined) return 0
  return part(
    last.arrived - last.left - (before.arrived - before.left),
    during(report, 'crowd', ({ arrived }) => arrived)
  )
}

/** By how much a count grew in the second half of the time: whoever came at first has shown what it is. */
function sinceHalf(report: Report, pick: (sample: Sample) => number): number {
  const [half, last] = [at(report, report.reachedMs / 2), report.samples.at(-1)]
  return half === undefined || last === undefined ? 0 : pick(last) - pick(half)
}

/** The last sample up to then. */
function at({ samples }: Report, ms: number): Sample | undefined {
  return samples.findLast(({ atMs }) => atMs <= ms)
}

/** Of the time after the warm-up, what a way of the project's line was busy; not a number where it is never full. */
function shareOf(report: Report, bytesPerS: number | null | undefined, busyMs: (sample: Sample, bytesPerMs: number) => number): number {
  const [from, last] = [at(report, warmUpMs(report.lengthMs)), report.samples.at(-1)]
  if (bytesPerS === undefined || bytesPerS === null || from === undefined || last === undefined || from === last) return Number.NaN
  return (busyMs(last, bytesPerS / 1000) - busyMs(from, bytesPerS / 1000)) / (last.atMs - from.atMs)
}

function part(some: number, all: number): number {
  return all === 0 ? 0 : some / all
}

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length)
}

function short(value: number): string {
  return String(Number(value.toPrecision(value >= 100 ? 3 : 2)))
}

/** Not a number where there is none. */
function ifAny(count: number, value: number): number {
  return count === 0 ? Number.NaN : value
}
