/** When two numbers count as equal. */

export interface Tolerance {
  /** Largest absolute difference, 0 or more. */
  readonly abs: number
  /** Largest difference as a share of the larger of the two, from 0 to below 1. */
  readonly rel: number
}

/**
 * |a - b| <= max(abs, rel x max(|a|, |b|)), which is reflexive, symmetric and grows with the tolerance; it is not transitive. Any
 * two NaN are equal, an infinity only equals itself, and the two zeros are equal.
 */
export function isClose(a: number, b: number, { abs, rel }: Tolerance): boolean {
  if (a === b) return true
  if (Number.isNaN(a)) return Number.isNaN(b)
  if (!Number.isFinite(a) || !Number.isFinite(b)) return false
  return Math.abs(a - b) <= Math.max(abs, rel * Math.max(Math.abs(a), Math.abs(b)))
}

/** Decimal as C, Fortran (an exponent `d`), Python and R print it. */
const DECIMAL = /^[ \t]*[+-]?(?:\d+\.?\d*|\.\d+)(?:[eEdD][+-]?\d+)?[ \t]*$/
const NOT_A_NUMBER = /^[ \t]*[+-]?nan[ \t]*$/i
const INFINITE = /^[ \t]*([+-]?)inf(?:inity)?[ \t]*$/i
/** More digits than any number is printed with. */
const NUMBER_CHARS_MAX = 400

/** The number that a word spells, as a double; undefined when it is none, or one that no double holds. */
export function numberOf(text: string): number | undefined {
  if (text.length > NUMBER_CHARS_MAX) return undefined
  if (DECIMAL.test(text)) {
    const value = Number(text.replace(/[dD]/, 'e'))
    return Number.isFinite(value) ? value : undefined
  }
  if (NOT_A_NUMBER.test(text)) return Number.NaN
  const infinite = INFINITE.exec(text)
  if (infinite === null) return undefined
  return infinite[1] === '-' ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY
}
