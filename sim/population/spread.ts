/** How lengths of time are spread: the families that published fits use, their means, draws, and draws as a passer-by sees them. */
import type { Random } from '../random.ts'

/** Arguments in the fit's own unit. `cap`: longer ones are cut to this. */
export type Spread =
  | { readonly family: 'weibull'; readonly shape: number; readonly scale: number; readonly cap?: number }
  | { readonly family: 'logNormal'; readonly mu: number; readonly sigma: number; readonly cap?: number }
  | { readonly family: 'exponential'; readonly mean: number; readonly cap?: number }

export function weibull(shape: number, scale: number, cap?: number): Spread {
  return { family: 'weibull', shape, scale, ...(cap === undefined ? {} : { cap }) }
}

/** `mu` and `sigma` of the logarithm. */
export function logNormal(mu: number, sigma: number, cap?: number): Spread {
  return { family: 'logNormal', mu, sigma, ...(cap === undefined ? {} : { cap }) }
}

export function exponential(mean: number, cap?: number): Spread {
  return { family: 'exponential', mean, ...(cap === undefined ? {} : { cap }) }
}

export function draw(random: Random, spread: Spread): number {
  switch (spread.family) {
    case 'weibull':
      return Math.min(random.weibull(spread.shape, spread.scale), spread.cap ?? Number.POSITIVE_INFINITY)
    case 'logNormal':
      return Math.min(random.logNormal(spread.mu, spread.sigma), spread.cap ?? Number.POSITIVE_INFINITY)
    case 'exponential':
      return Math.min(random.exponential(spread.mean), spread.cap ?? Number.POSITIVE_INFINITY)
  }
}

/**
 * What is left of the interval that a passer-by meets: he meets long ones more often, and in their middle. Starting every
 * host with a fresh interval instead would make all of them new at once.
 */
export function drawResidual(random: Random, spread: Spread): number {
  return random.float() * lengthBiased(random, spread)
}

function lengthBiased(random: Random, spread: Spread): number {
  if (spread.cap !== undefined) {
    // Accepted in proportion to their length, which the cap bounds.
    for (;;) {
      const length = draw(random, spread)
      if (random.chance(length / spread.cap)) return length
    }
  }
  switch (spread.family) {
    case 'weibull':
      return spread.scale * random.gamma(1 + 1 / spread.shape, 1) ** (1 / spread.shape)
    case 'logNormal':
      return random.logNormal(spread.mu + spread.sigma ** 2, spread.sigma)
    case 'exponential':
      return random.gamma(2, spread.mean)
  }
}

export function meanOf(spread: Spread): number {
  if (spread.cap !== undefined) return cappedMean(spread, spread.cap)
  switch (spread.family) {
    case 'weibull':
      return spread.scale * gammaOf(1 + 1 / spread.shape)
    case 'logNormal':
      return Math.exp(spread.mu + spread.sigma ** 2 / 2)
    case 'exponential':
      return spread.mean
  }
}

const STEPS = 4096

/** The area under the survival curve up to the cap, in steps that are small where the curve falls fast. */
function cappedMean(spread: Spread, cap: number): number {
  let area = 0
  let from = 0
  for (let step = 1; step <= STEPS; step++) {
    const to = cap * (step / STEPS) ** 4
    area += (to - from) * survival(spread, (from + to) / 2)
    from = to
  }
  return area
}

function survival(spread: Spread, x: number): number {
  switch (spread.family) {
    case 'weibull':
      return Math.exp(-((x / spread.scale) ** spread.shape))
    case 'logNormal':
      return normalTail((Math.log(x) - spread.mu) / spread.sigma)
    case 'exponential':
      return Math.exp(-x / spread.mean)
  }
}

/** P(Z > z), to 1e-7: Abramowitz and Stegun 7.1.26. */
function normalTail(z: number): number {
  const x = Math.abs(z) / Math.SQRT2
  const t = 1 / (1 + 0.3275911 * x)
  const tail = 0.5 * t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))) * Math.exp(-x * x)
  return z < 0 ? 1 - tail : tail
}

const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905, -0.13857109526572012,
  9.9843695780195716e-6, 1.5056327351493116e-7
]

/** The gamma function for arguments of at least 1 (Lanczos). */
function gammaOf(x: number): number {
  const at = x - 1
  const t = at + 7.5
  const series = LANCZOS.reduce((sum, weight, index) => (index === 0 ? weight : sum + weight / (at + index)), 0)
  return Math.sqrt(2 * Math.PI) * t ** (at + 0.5) * Math.exp(-t) * series
}
