/**
 * A quorum of results that need not be equal. Being close is not transitive, so results agree when every two of them do: a clique.
 * Pure. With few results (`COMPARED_RESULTS_MAX`) looking at every set is cheap, and the answer depends on nothing but the votes.
 */
import type { Vote } from './validator.ts'

/** Whether two different votes agree; undefined while nobody has compared them. */
export type Agrees = (a: string, b: string) => boolean | undefined

export interface Agreement {
  /** Of its earliest result: the canonical one. */
  readonly vote: string
  readonly count: number
}

/** The largest set of votes of which every two agree and no two have a tie, the one with the earliest of equals; what is not compared yet does not agree. */
export function largestAgreement(votes: readonly Vote[], agrees: Agrees): Agreement {
  let best: readonly Vote[] = []
  const grow = (set: readonly Vote[], from: number): void => {
    if (set.length > best.length) best = set
    for (let next = from; next < votes.length && set.length + votes.length - next > best.length; next++) {
      const vote = votes[next] as Vote
      if (set.every((other) => fit(other, vote, agrees))) grow([...set, vote], next + 1)
    }
  }
  grow([], 0)
  return { vote: best[0]?.vote ?? '', count: best.length }
}

function fit(a: Vote, b: Vote, agrees: Agrees): boolean {
  return (a.vote === b.vote || agrees(a.vote, b.vote) === true) && !a.ties.some((tie) => b.ties.includes(tie))
}

/** Pairs of different votes, each once, that nobody has compared. */
export function uncompared(votes: readonly { readonly vote: string }[], agrees: Agrees): (readonly [a: string, b: string])[] {
  const different = [...new Set(votes.map(({ vote }) => vote))]
  return different.flatMap((a, index) => different.slice(index + 1).flatMap((b) => (agrees(a, b) === undefined ? [[a, b] as const] : [])))
}

/** A run that failed leaves nothing to compare: it agrees with its like alone. */
export function isOutput(vote: string): boolean {
  return !vote.startsWith('exit:') && !vote.startsWith('ended:')
}
