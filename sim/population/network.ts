/** How volunteers are connected: access lines, latency, what lies before them, and who can be reached how. */
import type { Random } from '../random.ts'
import type { Region } from './availability.ts'

export interface AccessLine {
  readonly downBytesPerS: number
  readonly upBytesPerS: number
  /** Paid by volume, as over a telephone. */
  readonly metered: boolean
  readonly wireless: boolean
  /** Packets lost. */
  readonly loss: number
}

const MBIT = 125_000
/** Our choice; ComBoS takes 10 Mbit/s for all. */
const LINE = { downMbit: 80, downSigma: 1, upShare: 0.2, upSigma: 0.6, mbitMin: 1, mbitMax: 1000, metered: 0.03, meteredDown: 2, meteredUp: 0.5, wireless: 0.5 }
const LOSS = { wired: 0.001, wireless: 0.01 }

export function drawAccessLine(random: Random): AccessLine {
  const metered = random.chance(LINE.metered)
  const wireless = random.chance(LINE.wireless) || metered
  const clip = (mbit: number): number => Math.min(LINE.mbitMax, Math.max(LINE.mbitMin, mbit))
  const down = clip(random.logNormal(Math.log(LINE.downMbit), LINE.downSigma))
  const up = clip(down * random.logNormal(Math.log(LINE.upShare), LINE.upSigma))
  return {
    downBytesPerS: (metered ? LINE.meteredDown : down) * MBIT,
    upBytesPerS: (metered ? LINE.meteredUp : up) * MBIT,
    metered,
    wireless,
    loss: wireless ? LOSS.wireless : LOSS.wired
  }
}

/**
 * Between two homes: a log-normal fitted to 1,000 links of a hybrid live streaming network, Europe and North Africa, 2020.
 * The application set the pace, so it is a floor. `wobble` differs from transfer to transfer of one link, by 0.3.
 */
const HOME_TO_HOME = { mu: 5.744, sigma: 0.562, wobble: 0.3 }

/** The usual throughput of a link. */
export function drawLinkBytesPerS(random: Random): number {
  return 1024 * random.logNormal(HOME_TO_HOME.mu, HOME_TO_HOME.sigma)
}

/** One transfer over it. */
export function drawTransferBytesPerS(random: Random, linkBytesPerS: number): number {
  const sigma = Math.sqrt(Math.log(1 + HOME_TO_HOME.wobble ** 2))
  return linkBytesPerS * random.logNormal(-(sigma ** 2) / 2, sigma)
}

/** One way, milliseconds, before the access lines (our choice within 5 to 150). */
const BASE_MS: Readonly<Record<Region, Readonly<Record<Region, number>>>> = {
  europe: { europe: 12, americas: 50, asia: 85 },
  americas: { europe: 50, americas: 20, asia: 80 },
  asia: { europe: 85, americas: 80, asia: 30 }
}
const LAST_MILE = { mu: Math.log(8), sigma: 0.7 }

/** One message, one way. */
export function drawLatencyMs(random: Random, from: Region, to: Region): number {
  return BASE_MS[from][to] + random.logNormal(LAST_MILE.mu, LAST_MILE.sigma)
}

/** `nat`: reached only by punching. `mapped`: its router opens a port when asked (UPnP). */
export type Reach = 'public' | 'mapped' | 'nat'

export interface AccessNetwork {
  readonly reach: Reach
  /** Its translation depends on the destination: punching never works. */
  readonly hard: boolean
}

/** Our choice for homes; at least 52 % of IPFS' DHT peers were behind one (Henningsen 2020). */
const NAT = { public: 0.08, mapped: 0.12 }
/** Trautwein et al. 2025, 4.4 million attempts: 70 % of the pairs succeed, 97.6 % of those at once, over TCP as over QUIC. 0.837^2 = 0.7. */
const PUNCH = { hard: 0.163, atOnce: 0.976 }

/** Drawn once a network, not once an attempt: who shares the router shares its fate. */
export function drawAccessNetwork(random: Random): AccessNetwork {
  const at = random.float()
  const reach = at < NAT.public ? 'public' : at < NAT.public + NAT.mapped ? 'mapped' : 'nat'
  return { reach, hard: random.chance(PUNCH.hard) && reach === 'nat' }
}

/** Whether two networks could ever be punched through: repeating a failure never helps. */
export function canPunch(a: AccessNetwork, b: AccessNetwork): boolean {
  return !a.hard && !b.hard
}

/** One attempt between two that can: the second one succeeds. */
export function punches(random: Random, attempt: number): boolean {
  return attempt > 1 || random.chance(PUNCH.atOnce)
}

export type Path = 'direct' | 'punched' | 'relayed'

/** How a connection between two hosts ends up. */
export function pathBetween(a: AccessNetwork, b: AccessNetwork): Path {
  if (a.reach !== 'nat' || b.reach !== 'nat') return 'direct'
  return canPunch(a, b) ? 'punched' : 'relayed'
}
