/** The list with one more at its end. Most lists here never get a second: an empty array would make room for 17 with the first that is pushed. */
export function withOne<T>(list: readonly T[], item: T): T[] {
  if (list.length === 0) return [item]
  const grown = list as T[]
  grown.push(item)
  return grown
}
