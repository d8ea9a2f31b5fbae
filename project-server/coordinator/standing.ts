/** What is known of a node beforehand, and what its vote weighs as evidence. Pure. */
import { NEW_NODE_DOUBT_PPM } from './policy.ts'

const MILLION = 1_000_000
/** Of a node that nothing is known of yet (BOINC's). */
export const ERROR_RATE_AT_FIRST_PPM = 100_000
/** By so much a wrong result raises the estimate (BOINC's). */
export const ERROR_RATE_STEP_PPM = 100_000

/** What is known of a node when it is given a replica. */
export interface Standing {
  /** Results in a row that others confirmed; 0 where the policy does not ask. */
  readonly row: number
  /** Believed without others, unless somebody says otherwise. */
  readonly alone: boolean
}

export const NO_STANDING: Standing = { row: 0, alone: false }

/** As evidence: the logarithm of how much likelier a vote is right than wrong. New nodes are taken for liars, and all liars for one, as often as `NEW_NODE_DOUBT_PPM` says, and less with each result that was confirmed (Sarmenta's credibility). */
export function weightOf(row: number): number {
  const doubt = NEW_NODE_DOUBT_PPM / MILLION / (row + 1)
  return Math.log((1 - doubt) / doubt)
}

/** The evidence that is asked for when so many decisions in a million may be wrong. */
export function weightFor(doubtPpm: number): number {
  return Math.log((MILLION - doubtPpm) / doubtPpm)
}
