/** Lists of which most stay empty or never get a second item. */

/** Shared by all that have nothing: never pushed to, see `withOne`. */
export const NONE: readonly never[] = []

const SHORT = 16

/**
 * The list with one more at its end, which takes its place. A new one while it is short: just as large as it must be, where one
 * that is pushed to makes room for 17 at once; and young, where the old one may be old to the collector, which takes a note of
 * what new it is given. The same one when it is long.
 */
export function withOne<T>(list: readonly T[], item: T): T[] {
  if (list.length === 0) return [item]
  if (list.length === 1) return [list[0] as T, item]
  if (list.length < SHORT) return list.concat([item])
  const grown = list as T[]
  grown.push(item)
  return grown
}

/** The list without the one at this place, where the last of it is now; the empty one that all share when it was the only one. */
export function withoutAt<T>(list: readonly T[], place: number): readonly T[] {
  if (list.length <= 1) return NONE
  const left = list as T[]
  const last = left.pop() as T
  if (place < left.length) left[place] = last
  return left
}
