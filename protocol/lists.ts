/** Lists of which most stay empty or never get a second item. */

/** Shared by all that have nothing: never pushed to, see `withOne`. */
export const NONE: readonly never[] = []

/** The list with one more at its end: the same list, but for an empty one, which may be shared. An empty array of its own would make room for 17 with the first that is pushed. */
export function withOne<T>(list: readonly T[], item: T): T[] {
  if (list.length === 0) return [item]
  const grown = list as T[]
  grown.push(item)
  return grown
}
