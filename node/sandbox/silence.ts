/**
 * Whether a run has hung (F13): for so long it printed nothing, changed no file at the top of its output and used hardly any
 * processor. Only time during which it was looked at counts: a machine that slept is no program that hangs.
 */
import { LOOK_GAP_MS_MAX, SIGN_CPU_MS_MIN, SIGN_CPU_SHARE } from './policy.ts'

/** What a look at a run shows. */
export interface Signs {
  readonly nowMs: number
  /** Processor time so far; undefined when nobody can tell, which is never held against a run. */
  readonly cpuMs: number | undefined
  /** Bytes of stdout and stderr. */
  readonly logBytes: number
  /** When something at the top of its output changed last. */
  readonly changedMs: number
}

export class Silence {
  readonly #limitMs: number
  /** The last that was a sign of life. */
  #sign: Signs | undefined
  #lookedMs = 0
  #silentMs = 0

  constructor(limitMs: number) {
    this.#limitMs = limitMs
  }

  /** True once it has been silent for too long. */
  look(signs: Signs): boolean {
    const sinceMs = Math.min(LOOK_GAP_MS_MAX, Math.max(0, signs.nowMs - this.#lookedMs))
    this.#lookedMs = signs.nowMs
    if (this.#sign !== undefined) this.#silentMs += sinceMs
    if (this.#sign === undefined || this.#lives(this.#sign, signs)) {
      this.#sign = signs
      this.#silentMs = 0
    }
    return this.#silentMs >= this.#limitMs
  }

  /** A process that ended takes its time with it, so what is counted may get less, too. */
  #lives(was: Signs, now: Signs): boolean {
    if (now.logBytes !== was.logBytes || now.changedMs !== was.changedMs || now.cpuMs === undefined || was.cpuMs === undefined) return true
    return Math.abs(now.cpuMs - was.cpuMs) > Math.max(SIGN_CPU_MS_MIN, this.#silentMs * SIGN_CPU_SHARE)
  }
}

/** For its owner. */
export function silenceText(limitMs: number): string {
  return `nothing printed, nothing changed at the top of its output and hardly any processor used for ${limitMs / 1000} s`
}
