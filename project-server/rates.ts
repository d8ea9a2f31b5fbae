/**
 * How much each peer may ask in a second: a token bucket for each, made when it is first heard of and dropped when
 * it is full again. Who asks for more is read more slowly, or refused where that is cheaper. Reads no clock.
 */
import { type Rate, TokenBucket } from '#protocol/token-bucket'

/** Buckets before full ones are looked for and dropped. */
const KEPT_MIN = 1_024

export class Rates {
  readonly #rate: Rate
  readonly #buckets = new Map<string, TokenBucket>()
  #kept = KEPT_MIN

  constructor(rate: Rate) {
    this.#rate = rate
  }

  /** Takes `cost`, also more than there is; answers how long the peer has to wait, in whole milliseconds, until nothing is owed. */
  charge(peer: string, cost: number, nowMs: number): number {
    return Math.ceil(this.#bucketOf(peer, nowMs).charge(cost, nowMs))
  }

  /** Takes `cost` if there is as much; false, and nothing taken, if not. */
  take(peer: string, cost: number, nowMs: number): boolean {
    return this.#bucketOf(peer, nowMs).take(cost, nowMs)
  }

  #bucketOf(peer: string, nowMs: number): TokenBucket {
    const known = this.#buckets.get(peer)
    if (known !== undefined) return known
    if (this.#buckets.size >= this.#kept) this.#dropFull(nowMs)
    const bucket = new TokenBucket(this.#rate, nowMs)
    this.#buckets.set(peer, bucket)
    return bucket
  }

  /** Who is as if it had never been heard of is forgotten; the others are fewer than those that asked within the time a bucket takes to fill. */
  #dropFull(nowMs: number): void {
    for (const [peer, bucket] of this.#buckets) if (bucket.isFull(nowMs)) this.#buckets.delete(peer)
    this.#kept = Math.max(KEPT_MIN, 2 * this.#buckets.size)
  }
}
