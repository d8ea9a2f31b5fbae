/**
 * The rules of a quorum once more, from the policy's description and not from the validator: what must have become of a task
 * whose replicas are as its record says. Simple before fast; it sees records only.
 */
import type { ReplicaRecord, TaskRecord } from '#project-server/coordinator/task-records'
import type { TaskPolicy } from '#protocol/bundle/policy'

export interface ReplicaSeen {
  readonly node: string
  readonly state: string
  readonly vote: string | null
  readonly fault: string | null
  /** Where those call from, as far as anybody knows. */
  readonly networks: readonly string[]
  /** On a node that was idle. */
  readonly copy: boolean
  /** Results in a row that others had confirmed when it was leased, and whether its node was believed alone. */
  readonly row: number
  readonly alone: boolean
  /** Nodes through whose hands what it says went: its own, and those whose checkpoints it goes on from. */
  readonly hands: readonly string[]
  /** Given back with a checkpoint. */
  readonly wentOn: boolean
  /** That it was leased; 0 for what its bundle says. */
  readonly memoryBytes: number
}

export type Prediction = { readonly kind: 'open' } | { readonly kind: 'decided'; readonly vote: string } | { readonly kind: 'failed'; readonly code: string }

/** What a record says and what the rules make of its replicas, where they differ; undefined where not. For policies that compare by bytes, and tasks that are not decided yet or just now. */
export function disagreement(
  { id, state, decision, failure, replicas }: TaskRecord,
  policy: TaskPolicy,
  networkOf: (node: string) => string,
  bundleBytes: number
): string | undefined {
  if (state === 'created' || state === 'killed') return undefined
  const wanted = predict(seenOf(replicas, networkOf), policy, bundleBytes)
  const is = decision !== null ? `decided ${decision.vote}` : state === 'failed' ? `failed ${failure?.code}` : 'open'
  const should = wanted.kind === 'decided' ? `decided ${wanted.vote}` : wanted.kind === 'failed' ? `failed ${wanted.code}` : 'open'
  // Before it fails for that, the project looks whether the input is there; that it ends is checked with all that must.
  if (is === 'open' && should === 'failed input') return undefined
  return is === should ? undefined : `${id} is ${is} and should be ${should}: ${replicas.map(wordsOf).join('; ') || 'it has no replica'}`
}

function wordsOf({ attempt, node, state, vote, verdict, fault, copy }: ReplicaRecord): string {
  const parts = [
    `${copy ? 'copy' : 'replica'} ${attempt} on ${node} is ${state}`,
    ...(vote === null ? [] : [`says ${vote}`]),
    ...(verdict === null ? [] : [`counts as ${verdict}`]),
    ...(fault === null ? [] : [`has a fault (${[fault.class, fault.message].filter((one) => one !== '').join(': ')})`])
  ]
  return parts.join(', ')
}

export function seenOf(replicas: readonly ReplicaRecord[], networkOf: (node: string) => string): ReplicaSeen[] {
  return replicas.map((replica) => seen(replicas, replica, networkOf))
}

/** Its own node, and those whose checkpoints it goes on from. */
export function handsIn(replicas: readonly ReplicaRecord[], { node, from }: ReplicaRecord): string[] {
  const maker = from === null ? undefined : replicas[from.attempt - 1]
  return maker === undefined ? [node] : [node, ...handsIn(replicas, maker)]
}

function seen(replicas: readonly ReplicaRecord[], replica: ReplicaRecord, networkOf: (node: string) => string): ReplicaSeen {
  const { node, state, vote, verdict, fault, copy, standing, memoryBytes, commitment, checkpoint } = replica
  const hands = handsIn(replicas, replica)
  return {
    node,
    hands,
    networks: hands.map(networkOf).filter((network) => network !== ''),
    wentOn: state === 'returned' && fault?.class === 'owner' && checkpoint !== null,
    // What is bound and not said is counted on like a run that goes on.
    state: commitment === null || verdict !== null ? state : 'running',
    vote: fault?.class === 'banned' ? null : vote,
    fault: fault?.class ?? null,
    copy,
    row: standing.row,
    alone: standing.alone,
    memoryBytes
  }
}

/** A ban took it away, or it was given back for an input that the project had lost: it is no attempt. */
export function isNoAttempt(fault: string | null | undefined): boolean {
  return fault === 'banned' || fault === 'lost_input'
}

/** Two nodes that find the input at fault are believed. */
const INPUT_FAULTS = 2

/**
 * Under a policy that compares outputs: what a task may be. Which comparisons were made by then no record says, so it may be open
 * while some may be missing; but what it is decided by must be one of a quorum of which every two agree, and it may not fail for
 * want of agreement while there is such.
 */
export function allows(replicas: readonly ReplicaSeen[], policy: TaskPolicy, near: (a: string, b: string) => boolean, is: Prediction): boolean {
  const votes = replicas.flatMap(({ vote, fault }) => (vote === null || fault !== null ? [] : [vote]))
  const agree = (a: string, b: string): boolean => a === b || near(a, b)
  let sets: string[][] = [[]]
  for (const next of votes) sets = [...sets, ...sets.filter((set) => set.every((other) => agree(other, next))).map((set) => [...set, next])]
  const quorums = sets.filter((set) => set.length >= policy.minQuorum)
  if (is.kind === 'decided') return quorums.some((set) => set.includes(is.vote))
  if (is.kind === 'open') return true
  return quorums.length === 0
}

/** What a bundle says of its memory counts only where a run had more or less. */
function withoutTooLittle(all: readonly ReplicaSeen[], { retryMemoryBytes, guessMemory }: TaskPolicy, bundleBytes: number): readonly ReplicaSeen[] {
  const most = Math.max(bundleBytes, retryMemoryBytes)
  const saysNothing = ({ vote, memoryBytes }: ReplicaSeen): boolean => {
    const had = memoryBytes === 0 ? bundleBytes : memoryBytes
    // Who was ended for its memory may have had more; and who failed in a guess may have failed for it.
    if (vote === 'ended:memory') return had < (guessMemory || retryMemoryBytes > 0 ? most : 0)
    return guessMemory && vote?.startsWith('exit:') === true && had < bundleBytes
  }
  return all.map((one) => (saysNothing(one) ? { ...one, vote: null, fault: 'memory' } : one))
}

export function predict(seen: readonly ReplicaSeen[], policy: TaskPolicy, bundleBytes: number): Prediction {
  const all = withoutTooLittle(seen, policy, bundleBytes)
  // What a ban took away counts for nothing, nor does what was given back for an input that the project had lost. A copy counts for what it says, and while it runs in the place of another; never as an attempt.
  const replicas = all.filter(({ copy, fault, wentOn }) => !copy && !isNoAttempt(fault) && !wentOn)
  const said = new Map<string, string>()
  for (const { node, vote } of all) if (vote !== null && !said.has(node)) said.set(node, vote)
  const voices = new Map<string, ReplicaSeen[]>()
  for (const one of all) if (one.vote !== null) voices.set(one.vote, [...(voices.get(one.vote) ?? []), one])
  const sizes = new Map([...voices].map(([vote, of]) => [vote, apart(of, policy).length]))
  const best = Math.max(0, ...sizes.values())
  for (const [vote, size] of sizes) if (size >= policy.minQuorum && isLikely(all, vote, policy)) return { kind: 'decided', vote }
  // One that was believed decides, unless another says otherwise.
  const [only] = said.values()
  if (only !== undefined && sizes.size === 1 && all.some(({ vote, alone }) => vote !== null && alone)) return { kind: 'decided', vote: only }

  const hung = replicas.filter(({ vote, fault }) => vote === null && fault === 'task').length
  const broken = hung + replicas.filter(({ state, vote, fault }) => vote === null && (state === 'lost' || fault === 'node')).length
  const inputs = replicas.filter(({ vote, fault }) => vote === null && fault === 'input').length
  const live = all.filter(({ state }) => ['leased', 'preparing', 'running', 'uploading'].includes(state)).length
  if (inputs >= (policy.nodes.length === 1 ? 1 : INPUT_FAULTS)) return { kind: 'failed', code: 'input' }
  if (said.size >= policy.maxSuccessResults) return { kind: 'failed', code: 'no_agreement' }
  // A run that was ended for giving no sign of life is tried again like any other that came to nothing; if there is nothing else, that is why.
  if (broken >= policy.maxErrorResults) return { kind: 'failed', code: hung === broken ? 'hang' : 'too_many_errors' }
  const lacking = Math.max(policy.targetResults - said.size, policy.minQuorum - best, policy.doubtPpm > 0 ? 1 : 0)
  if (live === 0 && lacking > 0 && replicas.length >= policy.maxTotalResults)
    return { kind: 'failed', code: said.size > 1 ? 'no_agreement' : 'too_many_errors' }
  return { kind: 'open' }
}

/** Of these, one after the other, those that share neither hands nor, where that is asked for, a network with one before: one voice each (F24). */
export function apart(votes: readonly ReplicaSeen[], { independence }: TaskPolicy): readonly ReplicaSeen[] {
  const taken = new Set<string>()
  return votes.filter(({ hands, networks }) => {
    const marks = [...hands.map((hand) => `node ${hand}`), ...(independence === 'require' ? networks.map((network) => `network ${network}`) : [])]
    if (marks.some((mark) => taken.has(mark))) return false
    for (const mark of marks) taken.add(mark)
    return true
  })
}

/** One new node in five lies, and all liars say the same. */
const LIARS = 0.2

/** Bayes: either those who say so are right and all others lie, or those lie and the others are right. A node with k confirmed results lies with a chance of a fifth over k + 1. */
function isLikely(replicas: readonly ReplicaSeen[], agreed: string, policy: TaskPolicy): boolean {
  const { doubtPpm } = policy
  if (doubtPpm === 0) return true
  let right = 1
  let wrong = 1
  const voices = apart(
    replicas.filter(({ vote }) => vote === agreed),
    policy
  )
  for (const one of replicas) {
    const { vote, row } = one
    if (vote === null || (vote === agreed && !voices.includes(one))) continue
    const lies = LIARS / (row + 1)
    right *= vote === agreed ? 1 - lies : lies
    wrong *= vote === agreed ? lies : 1 - lies
  }
  // What is just enough is enough, however it was rounded.
  return right / (right + wrong) >= 1 - doubtPpm / 1_000_000 - 1e-12
}
