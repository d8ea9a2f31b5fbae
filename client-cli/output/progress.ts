/** What a transfer or a batch looks like while it goes on. Pure: time is passed in. */
import type { BatchView } from '#protocol/owner/messages'
import { formatBytes, formatDuration } from './text.ts'

/** Nothing is shown for what is over sooner. */
export const QUIET_MS = 1_000
/** Between two drawings on a terminal, and between two lines elsewhere. */
export const DRAW_MS = 100
export const LINE_MS = 5_000
const BAR_CHARS = 24
/** The rate is that of the last few seconds: what an ETA needs. */
const RATE_WINDOW_MS = 5_000
const SAMPLES_MAX = 64

export interface Sample {
  readonly atMs: number
  readonly done: number
}

export interface Meter {
  readonly what: string
  readonly startedAtMs: number
  /** 0 while unknown. */
  readonly total: number
  readonly samples: readonly Sample[]
}

export function startMeter(what: string, nowMs: number): Meter {
  return { what, startedAtMs: nowMs, total: 0, samples: [{ atMs: nowMs, done: 0 }] }
}

/** Keeps the last seconds of samples, bounded. A step back (a new step of the same name) begins anew. */
export function advance(meter: Meter, done: number, total: number, nowMs: number): Meter {
  const last = meter.samples.at(-1)
  if (last !== undefined && done < last.done) return { ...meter, total, samples: [{ atMs: nowMs, done }] }
  const recent = meter.samples.filter(({ atMs }) => nowMs - atMs <= RATE_WINDOW_MS)
  const kept = recent.length >= SAMPLES_MAX ? [...recent.slice(0, 1), ...recent.slice(2)] : recent
  const base = kept.length === 0 && last !== undefined ? [last] : kept
  return { ...meter, total, samples: [...base, { atMs: nowMs, done }] }
}

/** Per second, over the samples kept. */
export function rateOf(meter: Meter): number {
  const first = meter.samples[0]
  const last = meter.samples.at(-1)
  if (first === undefined || last === undefined || last.atMs <= first.atMs) return 0
  return ((last.done - first.done) * 1000) / (last.atMs - first.atMs)
}

/** `sending [=======>      ] 1.2 of 4.0 GiB, 120 MiB/s, 24 s left` */
export function renderTransfer(meter: Meter, columns = 80): string {
  const done = meter.samples.at(-1)?.done ?? 0
  const rate = rateOf(meter)
  const { total } = meter
  const speed = rate > 0 ? `, ${formatBytes(rate)}/s` : ''
  if (total <= 0) return fit(`${meter.what} ${formatBytes(done)}${speed}`, columns)
  const left = rate > 0 && total > done ? `, ${formatDuration(((total - done) * 1000) / rate)} left` : ''
  return fit(`${meter.what} ${bar(done / total)} ${formatBytes(done)} of ${formatBytes(total)}${speed}${left}`, columns)
}

/** `[=====>    ] 41 of 100 tasks: 39 ready, 2 failed, 5 validating, 12 running, 42 waiting, 3.1/s, 19 s left` */
export function renderBatch(view: BatchView, meter: Meter, columns = 120): string {
  const done = view.ready + view.failed + view.killed
  const states = [
    [view.ready, 'ready'],
    [view.failed, 'failed'],
    [view.killed, 'killed'],
    [view.validating, 'validating'],
    [view.running, 'running'],
    [view.created, 'waiting']
  ] as const
  const parts = states.filter(([count]) => count > 0).map(([count, state]) => `${count} ${state}`)
  const rate = rateOf(meter)
  const speed = rate > 0 && done < view.tasks ? `, ${rate.toFixed(rate < 10 ? 1 : 0)}/s, ${formatDuration(((view.tasks - done) * 1000) / rate)} left` : ''
  return fit(`${bar(view.tasks === 0 ? 1 : done / view.tasks)} ${done} of ${view.tasks} tasks: ${parts.join(', ')}${speed}`, columns)
}

export function bar(fraction: number): string {
  const part = Math.min(1, Math.max(0, fraction))
  const full = Math.floor(part * BAR_CHARS)
  return `[${'='.repeat(full)}${full < BAR_CHARS ? '>' : ''}${' '.repeat(Math.max(0, BAR_CHARS - full - 1))}]`
}

export function fit(line: string, columns: number): string {
  return line.length <= columns ? line : `${line.slice(0, Math.max(0, columns - 1))}…`
}

/** When to draw: never in the first second, then often on a terminal and seldom elsewhere. */
export function drawDue(options: {
  readonly startedAtMs: number
  readonly drawnAtMs: number | undefined
  readonly nowMs: number
  readonly terminal: boolean
}): boolean {
  const { startedAtMs, drawnAtMs, nowMs, terminal } = options
  if (nowMs - startedAtMs < QUIET_MS) return false
  return drawnAtMs === undefined || nowMs - drawnAtMs >= (terminal ? DRAW_MS : LINE_MS)
}
