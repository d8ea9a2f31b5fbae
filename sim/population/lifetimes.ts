/** How hosts join and leave for good: lifetimes, steady arrivals, a media day, a mass exit. */
import type { Random } from '../random.ts'
import { DAY_MS, HOUR_MS } from './availability.ts'
import { draw, drawResidual, meanOf, weibull } from './spread.ts'

/** In days: Heien, Kondo and Anderson, ICDCS 2011, of SETI@home; median 71.8, mean 213. */
export const LIFETIME_DAYS = weibull(0.58, 135)

/** A newcomer's. */
export function drawLifetimeMs(random: Random): number {
  return draw(random, LIFETIME_DAYS) * DAY_MS
}

/** What is left to a host that is there already. */
export function drawRestOfLifeMs(random: Random): number {
  return drawResidual(random, LIFETIME_DAYS) * DAY_MS
}

/** Newcomers a day that keep `hosts` as many as they are. */
export function steadyArrivalsPerDay(hosts: number): number {
  return hosts / meanOf(LIFETIME_DAYS)
}

/** For a while, many times as many arrive: a media day is 20 times for six hours. */
export interface FlashCrowd {
  readonly fromMs: number
  readonly forMs: number
  readonly times: number
}

export const MEDIA_DAY: Omit<FlashCrowd, 'fromMs'> = { forMs: 6 * HOUR_MS, times: 20 }

/** A share of the hosts leaves for good: 30 % within an hour. */
export interface MassExit {
  readonly fromMs: number
  readonly forMs: number
  readonly share: number
}

export const MASS_EXIT: Omit<MassExit, 'fromMs'> = { forMs: HOUR_MS, share: 0.3 }

export interface Arrivals {
  readonly perDay: number
  readonly crowds: readonly FlashCrowd[]
}

/** Newcomers per millisecond at a moment. */
export function arrivalRate({ perDay, crowds }: Arrivals, nowMs: number): number {
  const times = crowds.reduce((most, { fromMs, forMs, times }) => (nowMs >= fromMs && nowMs < fromMs + forMs ? Math.max(most, times) : most), 1)
  return (perDay / DAY_MS) * times
}

/** How many come within that time, about. */
export function expectedArrivals({ perDay, crowds }: Arrivals, lengthMs: number): number {
  const more = crowds.reduce((sum, { fromMs, forMs, times }) => sum + (times - 1) * Math.max(0, Math.min(forMs, lengthMs - fromMs)), 0)
  return (perDay / DAY_MS) * (lengthMs + more)
}

/** Poisson arrivals from one moment to another, in order. */
export function* arrivals(random: Random, plan: Arrivals, fromMs: number, toMs: number): Generator<number, void, undefined> {
  const fastest = (plan.perDay / DAY_MS) * plan.crowds.reduce((most, { times }) => Math.max(most, times), 1)
  if (fastest <= 0) return
  // Drawn at the fastest rate and thinned to what holds at the time.
  for (let atMs = fromMs + random.exponential(1 / fastest); atMs < toMs; atMs += random.exponential(1 / fastest))
    if (random.chance(arrivalRate(plan, atMs) / fastest)) yield atMs
}

/** When the exit takes a host that is there, if it does. */
export function exitAtMs(random: Random, { fromMs, forMs, share }: MassExit): number | undefined {
  return random.chance(share) ? fromMs + random.float() * forMs : undefined
}
