/** How many of n succeed when each does with probability p. */

export interface Band {
  readonly low: number
  readonly high: number
}

/** The least range that holds the number at least so often (`share`), with no more than half of the rest on either side. */
export function binomialBand(n: number, p: number, share: number): Band {
  const rest = (1 - share) / 2
  let below = 0
  let low = 0
  let high = n
  for (let count = 0; count <= n; count++) {
    const upTo = below + chanceOf(count, n, p)
    if (below <= rest) low = count
    if (upTo >= 1 - rest) {
      high = count
      break
    }
    below = upTo
  }
  return { low, high }
}

/** By logarithms: the factors alone are far beyond what a number holds. */
function chanceOf(count: number, n: number, p: number): number {
  if (p <= 0 || p >= 1) return count === (p <= 0 ? 0 : n) ? 1 : 0
  let log = count * Math.log(p) + (n - count) * Math.log1p(-p)
  for (let i = 1; i <= count; i++) log += Math.log((n - count + i) / i)
  return Math.exp(log)
}
