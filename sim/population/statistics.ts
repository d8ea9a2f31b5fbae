/** What a handful of seeds tell: means with the interval in which the true one lies 95 times in 100 (Student's t). Pure. */

export interface Estimate {
  readonly mean: number
  /** The interval is the mean plus and minus this; Infinity from a single value. */
  readonly within: number
}

/** 97.5 % quantiles of Student's t for 1, 2, 3... degrees of freedom; the normal's beyond. */
const T = [12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093, 2.086]
const T_MANY = 1.96

export function estimate(values: readonly number[]): Estimate {
  const count = values.length
  const mean = values.reduce((sum, value) => sum + value, 0) / count
  if (count < 2) return { mean, within: Number.POSITIVE_INFINITY }
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1)
  return { mean, within: (T[count - 2] ?? T_MANY) * Math.sqrt(variance / count) }
}

/** Of b less a, pair by pair: the same seed has the same hosts in both, which takes most of the chance out. */
export function difference(a: readonly number[], b: readonly number[]): Estimate {
  return estimate(b.map((value, at) => value - (a[at] ?? Number.NaN)))
}

/** Whether 0 lies outside the interval. */
export function isClear({ mean, within }: Estimate): boolean {
  return Math.abs(mean) > within
}
