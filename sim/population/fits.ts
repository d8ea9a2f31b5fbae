/**
 * Published fits of how long computers are there and away, in hours. The Failure Trace Archive's tables (Kondo, Javadi, Iosup
 * 2010, 2013); SETI@home as ComBoS uses it. `up` and `down` are the best of each population's four families.
 */
import { exponential, logNormal, type Spread, weibull } from './spread.ts'

export interface UpDown {
  readonly up: Spread
  readonly down: Spread
}

/** The SETI fit's absences have no end: uncapped, a population decays. Longer absence is departure (lifetimes.ts). */
const ABSENCE_HOURS_MAX = 240

export const FITS = {
  /** All hosts of SETI@home: median 1.17 h up, 0.56 h down. */
  seti: { up: weibull(0.393, 2.964), down: logNormal(-0.586, 2.844, ABSENCE_HOURS_MAX) },
  /** Skype 2006, superpeers: laptops, day use. */
  skype: { up: weibull(0.64, 10.86), down: weibull(0.63, 9.48) },
  /** Overnet 2003: a file sharing network, sessions of an hour. */
  overnet: { up: logNormal(0.19, 0.98), down: logNormal(0.08, 1.8, ABSENCE_HOURS_MAX) },
  /** Microsoft 1999: office desktops. */
  office: { up: weibull(0.55, 35.3), down: weibull(0.6, 9.34) },
  /** Notre Dame 2007: a processor that its user leaves alone, on top of power. */
  idle: { up: logNormal(0.3, 2.2, ABSENCE_HOURS_MAX), down: logNormal(-1.02, 1.27) },
  /** PlanetLab 2005: research servers. */
  planetlab: { up: weibull(0.33, 19.35), down: weibull(0.36, 5.59) },
  /** Grid'5000 2006. */
  grid5000: { up: weibull(0.48, 14.37), down: weibull(0.35, 0.47) },
  /** Los Alamos 2005: clusters. */
  lanl: { up: weibull(0.48, 816.6), down: weibull(0.58, 2.18) },
  /** Local name servers 2004: machines that are always on but for trouble, 94 % of the time. */
  alwaysOn: { up: weibull(0.51, 79.3), down: weibull(0.63, 5.62) },
  /** Web sites 2002: for coordinators and relays. */
  websites: { up: weibull(0.46, 3.68), down: weibull(0.65, 0.61) },
  /** What BOINC's client emulator assumes: 80 % up, 1000 s at a time. Real hosts have no such regular spans: only to compare with. */
  emulator: { up: exponential(1000 / 3600), down: exponential(250 / 3600) }
} as const satisfies Readonly<Record<string, UpDown>>

export type FitName = keyof typeof FITS
