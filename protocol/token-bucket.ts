/**
 * A token bucket (Turner, 1986): how much may be used at once after a pause, and how much comes back in a second. A clock that
 * is set back gives nothing. Pure: time comes with the calls.
 */

export interface Rate {
  /** What may be used at once after a pause. */
  readonly burst: number
  readonly perSecond: number
}

export class TokenBucket {
  readonly #rate: Rate
  #tokens: number
  #atMs: number

  /** A full one. */
  constructor(rate: Rate, nowMs: number) {
    this.#rate = rate
    this.#tokens = rate.burst
    this.#atMs = nowMs
  }

  /** Takes `cost` if there is as much; false, and nothing taken, if not. */
  take(cost: number, nowMs: number): boolean {
    this.#fill(nowMs)
    if (this.#tokens < cost) return false
    this.#tokens -= cost
    return true
  }

  /** Takes `cost`, also more than there is; answers in how many milliseconds nothing is owed. */
  charge(cost: number, nowMs: number): number {
    this.#fill(nowMs)
    this.#tokens -= cost
    return this.#tokens >= 0 ? 0 : (-this.#tokens / this.#rate.perSecond) * 1000
  }

  /** As if nothing had ever been taken. */
  isFull(nowMs: number): boolean {
    return this.#filled(nowMs) >= this.#rate.burst
  }

  #fill(nowMs: number): void {
    this.#tokens = this.#filled(nowMs)
    this.#atMs = Math.max(this.#atMs, nowMs)
  }

  #filled(nowMs: number): number {
    const { burst, perSecond } = this.#rate
    return Math.min(burst, this.#tokens + (Math.max(0, nowMs - this.#atMs) * perSecond) / 1000)
  }
}
