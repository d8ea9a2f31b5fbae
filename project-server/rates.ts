/**
 * How much each peer may ask in a second: a token bucket for each (Turner, 1986), made when it is first heard of and dropped
 * when it is full again. Who asks for more is read more slowly, or refused where that is cheaper. Reads no clock.
 */

/** Buckets before full ones are looked for and dropped. */
const KEPT_MIN = 1_024

export interface Rate {
  readonly perSecond: number
  /** What may come at once after a pause. */
  readonly burst: number
}

export class Rates {
  readonly #rate: Rate
  readonly #buckets = new Map<string, { tokens: number; atMs: number }>()
  #kept = KEPT_MIN

  constructor(rate: Rate) {
    this.#rate = rate
  }

  /** Takes `cost`, also more than there is; answers how long the peer has to wait, in milliseconds, until nothing is owed. */
  charge(peer: string, cost: number, nowMs: number): number {
    const bucket = this.#bucketOf(peer, nowMs)
    bucket.tokens -= cost
    return bucket.tokens >= 0 ? 0 : Math.ceil((-bucket.tokens / this.#rate.perSecond) * 1000)
  }

  /** Takes `cost` if there is as much; false, and nothing taken, if not. */
  take(peer: string, cost: number, nowMs: number): boolean {
    const bucket = this.#bucketOf(peer, nowMs)
    if (bucket.tokens < cost) return false
    bucket.tokens -= cost
    return true
  }

  #bucketOf(peer: string, nowMs: number): { tokens: number; atMs: number } {
    const known = this.#buckets.get(peer)
    if (known !== undefined) {
      known.tokens = this.#filled(known, nowMs)
      known.atMs = Math.max(known.atMs, nowMs)
      return known
    }
    if (this.#buckets.size >= this.#kept) this.#dropFull(nowMs)
    const bucket = { tokens: this.#rate.burst, atMs: nowMs }
    this.#buckets.set(peer, bucket)
    return bucket
  }

  #filled({ tokens, atMs }: { readonly tokens: number; readonly atMs: number }, nowMs: number): number {
    return Math.min(this.#rate.burst, tokens + (Math.max(0, nowMs - atMs) * this.#rate.perSecond) / 1000)
  }

  /** Who is as if it had never been heard of is forgotten; the others are fewer than those that asked within the time a bucket takes to fill. */
  #dropFull(nowMs: number): void {
    for (const [peer, bucket] of this.#buckets) if (this.#filled(bucket, nowMs) >= this.#rate.burst) this.#buckets.delete(peer)
    this.#kept = Math.max(KEPT_MIN, 2 * this.#buckets.size)
  }
}
