/**
 * What computers people own, by year: the laws of Heien, Kondo and Anderson (ICDCS 2011; 2.7 million hosts of SETI@home,
 * 2006 to 2010), continued. Cores follow ratios of neighbouring sizes; speeds and memory are correlated normals.
 */
import type { Random } from '../random.ts'
import { drawOf, type Share } from './availability.ts'

export interface Hardware {
  readonly cores: number
  /** One core. 10^6 operations/s, floating point (Whetstone) and whole numbers (Dhrystone). */
  readonly whetstoneMips: number
  readonly dhrystoneMips: number
  readonly memoryBytes: number
  readonly diskFreeBytes: number
}

interface Law {
  readonly at2006: number
  readonly perYear: number
}

function at({ at2006, perYear }: Law, year: number): number {
  return at2006 * Math.exp(perYear * (year - 2006))
}

/** How many hosts have this many cores for one with twice as many. */
const RATIOS: readonly (Law & { readonly cores: number })[] = [
  { cores: 1, at2006: 3.369, perYear: -0.5004 },
  { cores: 2, at2006: 17.49, perYear: -0.3217 },
  { cores: 4, at2006: 12.8, perYear: -0.2377 }
]

/** From this year on the ratios, fitted when 16 cores were not sold, say too little (our choice). */
const TABLE_YEAR = 2024
const TABLE: readonly Share<number>[] = [
  { of: 2, share: 0.04 },
  { of: 4, share: 0.22 },
  { of: 6, share: 0.14 },
  { of: 8, share: 0.3 },
  { of: 12, share: 0.12 },
  { of: 16, share: 0.13 },
  { of: 24, share: 0.03 },
  { of: 32, share: 0.02 }
]

const WHETSTONE = { mean: { at2006: 1179, perYear: 0.1157 }, variance: { at2006: 323_700, perYear: 0.1057 } }
const DHRYSTONE = { mean: { at2006: 2064, perYear: 0.1709 }, variance: { at2006: 1_379_000, perYear: 0.3313 } }
const DISK_GB = { mean: { at2006: 31.59, perYear: 0.2691 }, variance: { at2006: 2890, perYear: 0.5224 } }
/** Our choice, so that a host of 2020 has BOINC's mean of 11.4 GB. */
const MEMORY_GB_PER_CORE = { mean: { at2006: 0.66, perYear: 0.065 }, sigma: 0.45 }

/** Nobody's core is slower than this share of the mean: a normal has a tail below nothing. */
const SLOWEST = 0.1

/** Correlations memory per core, Whetstone, Dhrystone, as the lower triangle of their matrix's root (Cholesky). */
const ROOT = cholesky(0.25, 0.31, 0.64)

export function coresMix(year: number): readonly Share<number>[] {
  if (year >= TABLE_YEAR) return TABLE
  const mix: { of: number; share: number }[] = [{ of: 1, share: 1 }]
  for (const ratio of RATIOS) mix.push({ of: ratio.cores * 2, share: (mix.at(-1)?.share ?? 1) / at(ratio, year) })
  return mix
}

export function coresMean(year: number): number {
  const cores = coresMix(year)
  return cores.reduce((sum, { of, share: part }) => sum + of * part, 0) / cores.reduce((sum, { share: part }) => sum + part, 0)
}

/** Of one core. */
export function meanWhetstoneMips(year: number): number {
  return at(WHETSTONE.mean, year)
}

export function drawHardware(random: Random, year: number): Hardware {
  const cores = drawOf(random, coresMix(year))
  const [x, y, z] = [random.normal(), random.normal(), random.normal()]
  const memory = x
  const whetstone = ROOT.b * x + ROOT.c * y
  const dhrystone = ROOT.d * x + ROOT.e * y + ROOT.f * z
  const { mean: perCore, sigma } = MEMORY_GB_PER_CORE
  const memoryGb = cores * at(perCore, year) * Math.exp(sigma * memory - sigma ** 2 / 2)
  return {
    cores,
    whetstoneMips: normalOf(WHETSTONE, year, whetstone),
    dhrystoneMips: normalOf(DHRYSTONE, year, dhrystone),
    // Sold in halves of a gigabyte.
    memoryBytes: Math.max(1, Math.round(memoryGb * 2)) * 2 ** 29,
    diskFreeBytes: Math.round(logNormalOf(DISK_GB, year, random.normal()) * 1e9)
  }
}

function normalOf({ mean, variance }: { readonly mean: Law; readonly variance: Law }, year: number, z: number): number {
  const middle = at(mean, year)
  return Math.max(SLOWEST * middle, middle + Math.sqrt(at(variance, year)) * z)
}

/** A log-normal by its own mean and variance. */
function logNormalOf({ mean, variance }: { readonly mean: Law; readonly variance: Law }, year: number, z: number): number {
  const middle = at(mean, year)
  const sigma2 = Math.log(1 + at(variance, year) / middle ** 2)
  return middle * Math.exp(Math.sqrt(sigma2) * z - sigma2 / 2)
}

function cholesky(xy: number, xz: number, yz: number): { readonly b: number; readonly c: number; readonly d: number; readonly e: number; readonly f: number } {
  const c = Math.sqrt(1 - xy * xy)
  const e = (yz - xy * xz) / c
  return { b: xy, c, d: xz, e, f: Math.sqrt(1 - xz * xz - e * e) }
}
