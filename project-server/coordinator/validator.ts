/**
 * How a task is decided, by BOINC's five numbers: `minQuorum` equal votes from different nodes decide; while they are not
 * there replicas are issued, first up to `targetResults`, then as many as the best vote lacks; errors, totals and votes
 * without agreement have their limits. Pure: counts in, what to do next out.
 */
import type { TaskPolicy } from '#protocol/bundle/policy'
import type { PeerIdString } from '#protocol/ids'
import type { FailureCode } from '#protocol/owner/messages'
import { type Agrees, largestAgreement, uncompared } from './agreement.ts'
import { INPUT_FAULTS_MAX } from './policy.ts'
import { type Standing, weightFor, weightOf } from './standing.ts'

/** Results in a row of a node that is well known. */
const KNOWN_ROW = 10
const KNOWN_WEIGHT = weightOf(KNOWN_ROW)

const NO_PAIRS: readonly (readonly [a: string, b: string])[] = []
const NO_VOTE = { vote: '', count: 0 }
/** Evidence that is just enough: sums of logarithms differ by less than this from what they stand for, and by more from each other. */
const EVEN = 1e-9

export interface Vote {
  readonly kind: 'vote'
  readonly node: PeerIdString
  readonly vote: string
  /** What it hangs on and others may, too: an owner, a network, a checkpoint that it went on from. Of votes with a tie in common one counts (F24). */
  readonly ties: readonly string[]
  readonly standing: Standing
}

/** What the validator sees of one replica. */
export type Ballot =
  /** A straggler runs on, and is not counted on. */
  | { readonly kind: 'live'; readonly node: PeerIdString; readonly straggles: boolean; readonly standing: Standing }
  | Vote
  /** A node failed at it, or was lost with it. `hung`: or its run gave no sign of life and was ended. */
  | { readonly kind: 'error'; readonly node: PeerIdString; readonly hung: boolean }
  /** A node found the input at fault. */
  | { readonly kind: 'input'; readonly node: PeerIdString; readonly message: string }
  /** Given back unharmed: counts as issued and no more. */
  | { readonly kind: 'given_back'; readonly node: PeerIdString }

export type Next =
  | { readonly kind: 'decided'; readonly vote: string }
  /** `count` more replicas are wanted; 0 while those that run may still decide it. */
  | { readonly kind: 'wait'; readonly count: number }
  /** As `wait`, while these pairs of votes are compared. */
  | { readonly kind: 'compare'; readonly count: number; readonly pairs: readonly (readonly [a: string, b: string])[] }
  | { readonly kind: 'failed'; readonly code: FailureCode; readonly message: string }

/**
 * One vote a node, whatever it says twice. `agrees`: what is known of votes that differ, under a policy that compares them.
 * `copies`: so many of the ballots are of copies on idle nodes, which do not count as issued.
 */
export function judge(ballots: readonly Ballot[], policy: TaskPolicy, agrees?: Agrees, copies = 0): Next {
  let live = 0
  let alone = 0
  let coming = 0
  let slow = 0
  let errors = 0
  let hung = 0
  let inputs = 0
  let inputMessage = ''
  const votes: Vote[] = []
  for (const ballot of ballots) {
    if (ballot.kind === 'live') {
      live++
      if (ballot.standing.alone) alone++
      if (ballot.straggles) slow++
      else if (policy.doubtPpm > 0) coming += weightOf(ballot.standing.row)
    } else if (ballot.kind === 'error') {
      errors++
      if (ballot.hung) hung++
    } else if (ballot.kind === 'input') {
      inputs++
      inputMessage = ballot.message
    } else if (ballot.kind === 'vote' && !saidIn(votes, ballot)) votes.push(ballot)
  }
  const { vote, count: best } = agrees === undefined ? strongest(votes, policy.doubtPpm > 0) : largestAgreement(votes, agrees)
  const lacks = policy.doubtPpm === 0 ? 0 : unlessEven(weightFor(policy.doubtPpm) - marginOf(votes, vote))
  if (best >= policy.minQuorum && lacks <= 0) return { kind: 'decided', vote }
  // Believed when it was given the task, and nobody says otherwise.
  if (votes.some(({ standing }) => standing.alone) && votes.every((other) => other.vote === vote)) return { kind: 'decided', vote }
  // One that is alone named is believed: there is nobody to ask.
  if (inputs >= (policy.nodes.length === 1 ? 1 : INPUT_FAULTS_MAX)) return { kind: 'failed', code: 'input', message: inputMessage }
  const waiting = agrees === undefined ? NO_PAIRS : uncompared(votes, agrees)
  // Fewer than a quorum decide nothing, so that nothing is fetched for them.
  const pairs = votes.length < policy.minQuorum ? NO_PAIRS : waiting
  const hoped = waiting.length === 0 || agrees === undefined ? best : largestAgreement(votes, (a, b) => agrees(a, b) ?? true).count
  if (votes.length >= policy.maxSuccessResults && pairs.length === 0) return noAgreement(votes.length, best, policy)
  if (errors >= policy.maxErrorResults && pairs.length === 0)
    return hung === errors
      ? { kind: 'failed', code: 'hang', message: `${errors} runs gave no sign of life and were ended; see its replicas` }
      : {
          kind: 'failed',
          code: 'too_many_errors',
          message: `${errors} attempts failed or were lost, ${policy.maxErrorResults} are allowed; see its replicas`
        }
  // Failures and straggles share one budget: of K attempts that may fail, the last is not made for a straggler.
  const copied = Math.min(slow, Math.max(0, policy.maxErrorResults - 1 - errors))
  const counted = Math.max(policy.targetResults - votes.length, policy.minQuorum - hoped) - (live - copied)
  // As if whoever is asked next were well known: one too few is asked for later, one too many is wasted.
  const weighed = Math.ceil((lacks - coming) / KNOWN_WEIGHT)
  const lacking = votes.length === 0 && alone > copied ? 0 : Math.max(counted, weighed)
  const room = policy.maxTotalResults - (ballots.length - copies)
  if (live === 0 && lacking > 0 && room <= 0 && pairs.length === 0) {
    if (votes.length > 1) return noAgreement(votes.length, best, policy)
    return {
      kind: 'failed',
      code: 'too_many_errors',
      message: `all ${policy.maxTotalResults} replicas that may be issued ended without a decision; see its replicas`
    }
  }
  const count = Math.max(0, Math.min(lacking, room))
  return pairs.length === 0 ? { kind: 'wait', count } : { kind: 'compare', count, pairs }
}

function saidIn(votes: readonly Vote[], { node }: Vote): boolean {
  for (const vote of votes) if (vote.node === node) return true
  return false
}

/** How many agree with the most frequent vote; the earliest such vote wins a tie. */
export function mostFrequent(votes: readonly string[]): { readonly vote: string; readonly count: number } {
  let found = { vote: '', count: 0 }
  for (const vote of votes) {
    let count = 0
    for (const other of votes) if (other === vote) count++
    if (count > found.count) found = { vote, count }
  }
  return found
}

/** The vote that most voices agree on, or the one that most evidence speaks for; the earliest of equals. A vote counts unless it has a tie with one that counts already: too few at worst, never too many. */
function strongest(votes: readonly Vote[], weighs: boolean): { readonly vote: string; readonly count: number } {
  const [only] = votes
  if (only === undefined) return NO_VOTE
  if (votes.length === 1) return { vote: only.vote, count: 1 }
  if (!weighs && votes.every(({ ties }) => ties.length === 0)) return mostFrequent(votes.map(({ vote }) => vote))
  let found = { vote: '', count: 0 }
  let most = Number.NEGATIVE_INFINITY
  for (const vote of new Set(votes.map((one) => one.vote))) {
    const count = voicesFor(votes, vote).length
    const strength = weighs ? marginOf(votes, vote) : count
    if (strength <= most) continue
    found = { vote, count }
    most = strength
  }
  return found
}

function voicesFor(votes: readonly Vote[], vote: string): Vote[] {
  return untied(votes.filter((one) => one.vote === vote))
}

/** Those that have no tie with one before them that counts. */
export function untied<One extends Pick<Vote, 'ties'>>(votes: readonly One[]): One[] {
  const tied = new Set<string>()
  return votes.filter(({ ties }) => {
    if (ties.some((tie) => tied.has(tie))) return false
    for (const tie of ties) tied.add(tie)
    return true
  })
}

/** What speaks for a vote, less what speaks against it: all who say otherwise count as one liar. */
function marginOf(votes: readonly Vote[], vote: string): number {
  let margin = 0
  for (const { standing } of voicesFor(votes, vote)) margin += weightOf(standing.row)
  for (const other of votes) if (other.vote !== vote) margin -= weightOf(other.standing.row)
  return margin
}

function unlessEven(evidence: number): number {
  return Math.abs(evidence) < EVEN ? 0 : evidence
}

function noAgreement(results: number, best: number, { minQuorum }: TaskPolicy): Next {
  return { kind: 'failed', code: 'no_agreement', message: `${results} results came, at most ${best} of them agree, the quorum is ${minQuorum}` }
}
