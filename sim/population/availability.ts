/**
 * When a host is there. A renewal host alternates between drawn times up and down; a diurnal one is switched on and off with
 * its user's day, wherever on Earth that is. The world begins on a Monday at 00:00 UTC.
 */
import type { Random } from '../random.ts'
import { FITS, type FitName, type UpDown } from './fits.ts'
import { draw, drawResidual, meanOf } from './spread.ts'

export const HOUR_MS = 3_600_000
export const DAY_MS = 24 * HOUR_MS

export type AvailabilityClass = FitName | 'diurnal'

/** A class and its share of the hosts. */
export interface Share<T> {
  readonly of: T
  readonly share: number
}

/** 62.6 % of the hosts are online at a time, stationary (our choice, within the 0.6 to 0.7 of BOINC's on x active fraction: Anderson and Fedak 2006). */
export const VOLUNTEER_MIX: readonly Share<AvailabilityClass>[] = [
  { of: 'alwaysOn', share: 0.45 },
  { of: 'diurnal', share: 0.35 },
  { of: 'seti', share: 0.2 }
]

export type Region = 'europe' | 'americas' | 'asia'

export const REGION_MIX: readonly Share<Region>[] = [
  { of: 'europe', share: 0.45 },
  { of: 'americas', share: 0.35 },
  { of: 'asia', share: 0.2 }
]

/** Hours ahead of UTC: the zones where people live, alike often. */
const ZONES: Readonly<Record<Region, readonly number[]>> = {
  europe: [0, 1, 1, 2],
  americas: [-8, -7, -6, -5, -5, -3],
  asia: [5.5, 7, 8, 8, 9]
}

/** A diurnal user's day: when it begins, how long it is, how often there is none (our choice). */
const DAY = { startHour: 8.5, startSpread: 2, hours: 9, hoursSpread: 4, hoursMin: 1, skip: 0.15, skipWeekend: 0.3 }

export interface Clockwork {
  readonly kind: AvailabilityClass
  /** Local time less UTC. */
  readonly zoneMs: number
}

/** There or away, until then. */
export interface Span {
  readonly up: boolean
  readonly untilMs: number
}

export function drawOf<T>(random: Random, mix: readonly Share<T>[]): T {
  let at = random.float() * mix.reduce((sum, { share }) => sum + share, 0)
  for (const { of, share } of mix) {
    at -= share
    if (at < 0) return of
  }
  const last = mix.at(-1)
  if (last === undefined) throw new RangeError('a mix of nothing')
  return last.of
}

export function drawZoneMs(random: Random, region: Region): number {
  return random.pick(ZONES[region]) * HOUR_MS
}

/** Share of the time that such a host is up. */
export function availabilityOf({ up, down }: UpDown): number {
  return meanOf(up) / (meanOf(up) + meanOf(down))
}

const AVAILABILITY = Object.fromEntries(Object.entries(FITS).map(([name, fit]) => [name, availabilityOf(fit)])) as Readonly<Record<FitName, number>>

/** How the world finds a host at `nowMs`: in the middle of a span. `host` names the host's own stream. */
export function firstSpan(clockwork: Clockwork, host: Random, nowMs: number): Span {
  const { kind } = clockwork
  if (kind === 'diurnal') return diurnalSpan(clockwork, host, nowMs)
  const fit: UpDown = FITS[kind]
  const random = host.fork('first')
  const up = random.chance(AVAILABILITY[kind])
  return { up, untilMs: nowMs + drawResidual(random, up ? fit.up : fit.down) * HOUR_MS }
}

/** A host that its owner sets up now: it is there. */
export function newcomerSpan(clockwork: Clockwork, host: Random, nowMs: number): Span {
  const { kind } = clockwork
  if (kind !== 'diurnal') return { up: true, untilMs: nowMs + draw(host.fork('first'), FITS[kind].up) * HOUR_MS }
  const span = diurnalSpan(clockwork, host, nowMs)
  return span.up ? span : { up: true, untilMs: Math.min(span.untilMs, nowMs + HOUR_MS) }
}

/** What follows a span that ended at its `untilMs`. `number` counts the host's spans, so that each has its own draw; `into` is written over. */
export function nextSpan(clockwork: Clockwork, host: Random, { up, untilMs }: Span, number: number, into: Random): Span {
  const { kind } = clockwork
  if (kind === 'diurnal') return diurnalSpan(clockwork, host, untilMs, into)
  const fit: UpDown = FITS[kind]
  const hours = draw(host.forkInto(into, number), up ? fit.down : fit.up)
  return { up: !up, untilMs: untilMs + Math.max(SPAN_MS_MIN, hours * HOUR_MS) }
}

/** Shorter ones are not told from a packet that was lost; the fits have some of microseconds. */
const SPAN_MS_MIN = 1000

/** Days that can reach a moment: yesterday's may last until noon, tomorrow's may begin before midnight; longer absences are found a step at a time. */
const DAYS_BACK = 2
const DAYS_AHEAD = 60

function diurnalSpan({ zoneMs }: Clockwork, host: Random, nowMs: number, into: Random = host.fork()): Span {
  const today = Math.floor((nowMs + zoneMs) / DAY_MS)
  for (let day = today - DAYS_BACK; day <= today + DAYS_AHEAD; day++) {
    const random = host.forkInto(into, 'day', day)
    const weekend = ((day % 7) + 7) % 7 >= 5
    if (random.chance(weekend ? DAY.skipWeekend : DAY.skip)) continue
    const startMs = day * DAY_MS - zoneMs + (DAY.startHour + DAY.startSpread * random.normal()) * HOUR_MS
    const endMs = startMs + Math.max(DAY.hoursMin, DAY.hours + DAY.hoursSpread * random.normal()) * HOUR_MS
    if (startMs > nowMs) return { up: false, untilMs: startMs }
    if (endMs > nowMs) return { up: true, untilMs: endMs }
  }
  return { up: false, untilMs: nowMs + DAYS_AHEAD * DAY_MS }
}
