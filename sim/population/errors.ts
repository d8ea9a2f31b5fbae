/**
 * How runs go wrong on volunteers' hosts: failures that show, wrong outputs that do not (most hosts never, few often, worse
 * on bad days), and hosts that lie on purpose, alone or together.
 */
import type { Random } from '../random.ts'
import { DAY_MS, HOUR_MS } from './availability.ts'

export interface ErrorModel {
  /** Share of the hosts that are ever wrong (Kondo et al., Euro-Par 2007). */
  readonly everWrong: number
  /** The rate of those: Gamma(shape, scale), at most `rateMax`. The shape is where the worst tenth of the hosts make 70 % of the errors; the mean of all is 2.2e-3 (both Kondo et al.). */
  readonly shape: number
  readonly scale: number
  readonly rateMax: number
  /** A bad day makes errors so many times as likely (not stationary: Kondo et al. 2007; the numbers are our choice). */
  readonly badTimes: number
  readonly badMeanMs: number
  readonly calmMeanMs: number
  /** Runs that fail and say so. */
  readonly clientError: number
  /** Inputs or outputs that cannot be moved. */
  readonly transferFailure: number
}

export const VOLUNTEER_ERRORS: ErrorModel = {
  everWrong: 0.35,
  shape: 0.7,
  scale: 0.009,
  rateMax: 0.5,
  badTimes: 50,
  badMeanMs: 6 * HOUR_MS,
  calmMeanMs: 30 * DAY_MS,
  clientError: 0.03,
  transferFailure: 0.01
}

export const NO_ERRORS: ErrorModel = { ...VOLUNTEER_ERRORS, everWrong: 0, clientError: 0, transferFailure: 0 }

/** Wrong outputs per run of a host, on its calm days. */
export function drawErrorRate(random: Random, { everWrong, shape, scale, rateMax }: ErrorModel): number {
  return random.chance(everWrong) ? Math.min(rateMax, random.gamma(shape, scale)) : 0
}

/** Calm or bad, until then. */
export interface Mood {
  readonly bad: boolean
  readonly untilMs: number
}

export const CALM: Mood = { bad: false, untilMs: 0 }

/** The host's mood now, from what it was when it was last looked at. Without memory, so nothing between has to be drawn but the changes. */
export function moodAt(random: Random, model: ErrorModel, mood: Mood, nowMs: number): Mood {
  let { bad, untilMs } = mood
  if (untilMs === 0) untilMs = random.exponential(model.calmMeanMs)
  while (untilMs <= nowMs) {
    bad = !bad
    untilMs += random.exponential(bad ? model.badMeanMs : model.calmMeanMs)
  }
  return { bad, untilMs }
}

export function errorRate(model: ErrorModel, calmRate: number, mood: Mood): number {
  return mood.bad ? Math.min(model.rateMax, calmRate * model.badTimes) : calmRate
}

/** Saboteurs (Sarmenta 2001). */
export interface Malice {
  /** f: share of the hosts. */
  readonly share: number
  /** s: share of its runs that a saboteur spoils. */
  readonly spoils: number
  /** c: chance that two saboteurs of one task give the same wrong answer. */
  readonly colludes: number
  /** A sleeper is honest in so many runs first. */
  readonly honestFirst: number
}

export const NO_MALICE: Malice = { share: 0, spoils: 0, colludes: 0, honestFirst: 0 }

/** How a finished run comes out. `which` names the wrong answer: equal names agree. */
export type Outcome =
  | { readonly kind: 'right' }
  | { readonly kind: 'failed'; readonly code: 'client' | 'transfer' }
  | { readonly kind: 'wrong'; readonly which: 'own' | 'shared' }

export interface Runner {
  readonly saboteur: boolean
  /** Runs that it has reported. */
  readonly runs: number
  /** Now. */
  readonly errorRate: number
}

/** Always the same number of draws, whatever comes out. */
export function drawOutcome(random: Random, model: ErrorModel, malice: Malice, { saboteur, runs, errorRate }: Runner): Outcome {
  const [fails, spoils, colludes, errs] = [random.float(), random.float(), random.float(), random.float()]
  if (fails < model.clientError) return { kind: 'failed', code: 'client' }
  if (fails < model.clientError + model.transferFailure) return { kind: 'failed', code: 'transfer' }
  if (saboteur && runs >= malice.honestFirst && spoils < malice.spoils) return { kind: 'wrong', which: colludes < malice.colludes ? 'shared' : 'own' }
  return errs < errorRate ? { kind: 'wrong', which: 'own' } : { kind: 'right' }
}

/** Sarmenta's: how often m equal votes first agree on a lie, when a share `spoiled` of all results are the same lie. */
export function acceptError(quorum: number, spoiled: number): number {
  const most = 2 * quorum - 1
  let error = 0
  let choose = 1
  for (let j = 0; j <= most; j++) {
    if (j >= quorum) error += choose * spoiled ** j * (1 - spoiled) ** (most - j)
    choose = (choose * (most - j)) / (j + 1)
  }
  return error
}
