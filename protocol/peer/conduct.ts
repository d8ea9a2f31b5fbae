/**
 * How long a host puts up with a peer. Each connection has an allowance of streams, which fills again: opening one takes a
 * little of it and breaking a protocol takes much. Who has used it up is hung up on, and the place it called from is refused
 * before a handshake is spent on it, for longer each time. Calls have an allowance, too. Whoever means well keeps below it by
 * himself. Pure: time comes with the calls.
 */
import { OldestFirst } from '#protocol/oldest-first'
import { type Rate, TokenBucket } from '../token-bucket.ts'
import { isRelayed, networkOf, peerIn } from './addresses.ts'

/** Streams of who calls: some streams for what it is at, and as many again where it comes back after a break. */
export const CALLER: Rate = { burst: 256, perSecond: 20 }
/** Streams of who was called: a relay opens a stream for each of a thousand nodes that call through it. */
export const CALLED: Rate = { burst: 4_096, perSecond: 512 }
/** What a stream costs that is one too many of its protocol, in streams. An end that comes late makes an honest peer open one now and then. */
export const EXCESS_COST = 32
/** What a breach of a protocol costs, in streams: a peer whose link fails at a bad moment may seem to have done it, but hardly twice. */
export const BREACH_COST = 160
/** How long a place is refused at first, and at most: others may call from behind the same router. */
export const REFUSED_MS = 5_000
export const REFUSED_MS_MAX = 60_000
/** Who was not refused for so long begins anew. */
export const FORGOTTEN_MS = 3_600_000
/** Of one place. Two thousand nodes may be at one university, come back all at once, and call several times each until all are in. */
export const CALLS: Rate = { burst: 12_000, perSecond: 10 }
/** Places remembered; the one that was heard of longest ago is forgotten first. */
export const PLACES_MAX = 10_000

/** Of a peer on one connection. */
export class Conduct {
  readonly #left: TokenBucket

  constructor(streams: Rate, nowMs: number) {
    this.#left = new TokenBucket(streams, nowMs)
  }

  /** It opened a stream; false when that was one too many. */
  opens(nowMs: number): boolean {
    return this.#left.take(1, nowMs)
  }

  /** It opened one more of a protocol than it may hold at once; false when it did so too often. */
  exceeds(nowMs: number): boolean {
    return this.#left.take(EXCESS_COST, nowMs)
  }

  /** It broke a protocol; false when it did so too often. */
  breaks(nowMs: number): boolean {
    return this.#left.take(BREACH_COST, nowMs)
  }
}

/** Of what the other side puts up with, as its clock and its count run otherwise than ours. */
export const OWN_SHARE = 0.75

/** Keeps what this side opens below what the other side puts up with. */
export class Restraint {
  readonly #left: TokenBucket

  constructor({ burst, perSecond }: Rate, nowMs: number) {
    this.#left = new TokenBucket({ burst: burst * OWN_SHARE, perSecond: perSecond * OWN_SHARE }, nowMs)
  }

  /** Milliseconds until one more stream may be opened, which counts as opened then. */
  waitMs(nowMs: number): number {
    return this.#left.charge(1, nowMs)
  }
}

interface Place {
  readonly calls: TokenBucket
  refusedUntilMs: number
  /** How often it was refused, a while after another. */
  times: number
}

/** Where calls come from. */
export class Places {
  readonly #places = new OldestFirst<string, Place>()

  /** Whether a call from there is taken. */
  admits(address: string, nowMs: number): boolean {
    const place = this.#placeOf(address, nowMs)
    return nowMs >= place.refusedUntilMs && place.calls.take(1, nowMs)
  }

  isRefused(address: string, nowMs: number): boolean {
    const place = this.#places.get(nameOf(address))
    return place !== undefined && nowMs < place.refusedUntilMs
  }

  /** Nobody there may call for a while: answers for how long, in milliseconds. */
  refuse(address: string, nowMs: number): number {
    const place = this.#placeOf(address, nowMs)
    if (nowMs - place.refusedUntilMs >= FORGOTTEN_MS) place.times = 0
    const ms = Math.min(REFUSED_MS_MAX, REFUSED_MS * 2 ** place.times)
    place.refusedUntilMs = nowMs + ms
    place.times++
    return ms
  }

  #placeOf(address: string, nowMs: number): Place {
    const name = nameOf(address)
    const place = this.#places.get(name) ?? { calls: new TokenBucket(CALLS, nowMs), refusedUntilMs: 0, times: 0 }
    this.#places.renew(name, place)
    this.#places.keep(PLACES_MAX)
    return place
  }
}

/** Who calls through a relay stands for itself: the relay is not to blame. */
function nameOf(address: string): string {
  return isRelayed(address) ? (peerIn(address) ?? address) : networkOf(address)
}
