/** How long runs take lately: what an estimate of a wait stands on. */

/** Runs whose mean counts; older ones fade. */
const RUNS_COUNTED = 64

export class Pace {
  #runs = 0
  #meanMs = 0

  /** A run has ended by itself after so long. */
  ran(ms: number): void {
    this.#runs = Math.min(this.#runs + 1, RUNS_COUNTED)
    this.#meanMs += (ms - this.#meanMs) / this.#runs
  }

  /** Of a run, while so many are being run. Undefined until half as many have ended: the first to end are the short ones. */
  meanMs(running: number): number | undefined {
    return this.#runs === 0 || this.#runs < Math.min(RUNS_COUNTED, running / 2) ? undefined : this.#meanMs
  }
}
