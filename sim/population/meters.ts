/** What is counted while a population runs: totals, one row an hour, and the distribution of turnarounds. */
import { DAY_MS } from './availability.ts'

/** What moved over the project's line, and for how long it was full; inputs that came over it. */
export interface LineTotals {
  sentBytes: number
  sendsFullMs: number
  receivedBytes: number
  receivesFullMs: number
  inputs: number
}

/** Everything since the beginning; of a line only where the project has one of its own. */
export interface Totals extends Partial<LineTotals> {
  /** Host timers, events applied to the coordinator, effects delivered to hosts. */
  events: number
  /** Of those, events applied to the coordinator. */
  applied: number
  /** Group commits, changed records and their bytes: what the store would have been given. */
  commits: number
  changes: number
  changedBytes: number
  submitted: number
  /** Tasks that the coordinator would not take, counted each time. */
  refused: number
  /** Tasks of which the second model said at every commit what became of them. */
  checked: number
  /** Tasks decided and held; those whose canonical answer is wrong; tasks that failed. */
  ready: number
  wrong: number
  failed: number
  /** Answers that were taken back: wrong ones, and right ones. */
  revoked: number
  revokedRight: number
  /** Replicas leased, granted, and how they ended. */
  leased: number
  granted: number
  reported: number
  reportedWrong: number
  errors: number
  /** Dropped by a host when it was told so: its task was decided or given to another one. */
  cancelled: number
  /** Time that hosts ran, of one slot each. */
  busyMs: number
  /** Of that, what led to right results, and what was wasted: on failures, on wrong results, on replicas that were decided or
   * killed meanwhile, that came back after they had been given up, that began anew, and on hosts that left for good. */
  rightMs: number
  failedMs: number
  wrongMs: number
  needlessMs: number
  lateMs: number
  anewMs: number
  leftMs: number
  hellos: number
  vanished: number
  arrived: number
  left: number
  movedBytes: number
}

export function noTotals(): Totals {
  return {
    events: 0,
    applied: 0,
    commits: 0,
    changes: 0,
    changedBytes: 0,
    submitted: 0,
    refused: 0,
    checked: 0,
    ready: 0,
    wrong: 0,
    failed: 0,
    leased: 0,
    granted: 0,
    revoked: 0,
    revokedRight: 0,
    reported: 0,
    reportedWrong: 0,
    errors: 0,
    cancelled: 0,
    busyMs: 0,
    rightMs: 0,
    failedMs: 0,
    wrongMs: 0,
    needlessMs: 0,
    lateMs: 0,
    anewMs: 0,
    leftMs: 0,
    hellos: 0,
    vanished: 0,
    arrived: 0,
    left: 0,
    movedBytes: 0
  }
}

export function noLineTotals(): LineTotals {
  return { sentBytes: 0, sendsFullMs: 0, receivedBytes: 0, receivesFullMs: 0, inputs: 0 }
}

/** Until a run has found its pace: at its beginning all hosts fetch at one time. */
export function warmUpMs(lengthMs: number): number {
  return Math.min(DAY_MS, lengthMs / 2)
}

/** The world at a moment, and the totals up to it. */
export interface Sample extends Readonly<Totals> {
  readonly atMs: number
  /** Hosts that are up; slots in use. */
  readonly online: number
  readonly held: number
  /** Tasks for which nothing runs yet. */
  readonly waiting: number
}

/** A distribution of times as counts in steps of 5 %: quantiles lie within their step as its share of it says, so that runs that differ a little do not seem alike. */
export class Times {
  readonly #counts: number[] = []
  #most = 0
  #count = 0
  #sumMs = 0

  get meanMs(): number {
    return this.#sumMs / this.#count
  }

  get count(): number {
    return this.#count
  }

  add(ms: number): void {
    this.#most = Math.max(this.#most, ms)
    const step = Math.max(0, Math.ceil(Math.log(Math.max(1, ms)) / STEP))
    for (let at = this.#counts.length; at <= step; at++) this.#counts.push(0)
    this.#counts[step] = (this.#counts[step] ?? 0) + 1
    this.#count++
    this.#sumMs += ms
  }

  /** A share q of the times is at most this; 0 without times, the greatest for 1. */
  quantileMs(q: number): number {
    let left = q * this.#count
    for (const [step, count] of this.#counts.entries()) {
      if (count > 0 && left <= count) return Math.min(this.#most, Math.exp((step - 1 + left / count) * STEP))
      left -= count
    }
    return this.#most
  }

  /** Upper bounds with their counts, those that occurred. */
  bars(): readonly { readonly toMs: number; readonly count: number }[] {
    return this.#counts.flatMap((count, step) => (count === 0 ? [] : [{ toMs: Math.exp(step * STEP), count }]))
  }
}

const STEP = Math.log(1.05)
