import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_POLICY, policyFault, type TaskPolicy } from '#protocol/bundle/policy'
import { NO_STANDING } from './standing.ts'
import { type Ballot, judge } from './validator.ts'

const vote = (node: string, what: string): Ballot => ({ kind: 'vote', node, vote: what, ties: [], standing: NO_STANDING })
const live = (node: string): Ballot => ({ kind: 'live', node, straggles: false, standing: NO_STANDING })
const straggler = (node: string): Ballot => ({ kind: 'live', node, straggles: true, standing: NO_STANDING })
const error = (node: string): Ballot => ({ kind: 'error', node, hung: false })
const hang = (node: string): Ballot => ({ kind: 'error', node, hung: true })

describe('the validator', () => {
  it('asks for the first replicas at once, and for one more after a disagreement', () => {
    assert.deepEqual(judge([], DEFAULT_POLICY), { kind: 'wait', count: 2 })
    assert.deepEqual(judge([vote('a', 'x'), live('b')], DEFAULT_POLICY), { kind: 'wait', count: 0 })
    assert.deepEqual(judge([vote('a', 'x'), vote('b', 'y')], DEFAULT_POLICY), { kind: 'wait', count: 1 })
    assert.deepEqual(judge([vote('a', 'x'), vote('b', 'y'), vote('c', 'x')], DEFAULT_POLICY), { kind: 'decided', vote: 'x' })
  })

  it('asks early when those that run can no longer make a quorum', () => {
    const policy = { ...DEFAULT_POLICY, minQuorum: 3, targetResults: 3 }
    assert.deepEqual(judge([vote('a', 'x'), vote('b', 'y'), live('c')], policy), { kind: 'wait', count: 1 })
  })

  it('replaces what was lost, K times in all', () => {
    assert.deepEqual(judge([error('a'), live('b')], DEFAULT_POLICY), { kind: 'wait', count: 1 })
    assert.equal(judge([error('a'), error('b'), error('c'), live('d')], DEFAULT_POLICY).kind, 'failed')
  })

  it('F13: runs that hung are tried again out of the budget of failures, and are named as the reason when there is no other', () => {
    assert.deepEqual(judge([hang('a'), live('b')], DEFAULT_POLICY), { kind: 'wait', count: 1 })
    assert.partialDeepStrictEqual(judge([hang('a'), hang('b'), hang('c')], DEFAULT_POLICY), { kind: 'failed', code: 'hang' })
    assert.partialDeepStrictEqual(judge([hang('a'), error('b'), hang('c')], DEFAULT_POLICY), { kind: 'failed', code: 'too_many_errors' })
    assert.deepEqual(judge([hang('a'), hang('b'), vote('c', 'x'), vote('d', 'x')], DEFAULT_POLICY), { kind: 'decided', vote: 'x' })
  })

  it('F03: has a straggler copied once, out of the same budget as failures, and fails nothing for it', () => {
    const asked = (...ballots: Ballot[]): unknown => judge(ballots, { ...DEFAULT_POLICY, maxErrorResults: 3 })
    assert.deepEqual(asked(vote('a', 'x'), straggler('b')), { kind: 'wait', count: 1 })
    assert.deepEqual(asked(vote('a', 'x'), straggler('b'), live('c')), { kind: 'wait', count: 0 })
    assert.deepEqual(asked(vote('a', 'x'), straggler('b'), straggler('c')), { kind: 'wait', count: 1 })
    assert.deepEqual(asked(vote('a', 'x'), straggler('b'), straggler('c'), straggler('d')), { kind: 'wait', count: 0 })
    assert.deepEqual(asked(error('a'), error('e'), vote('b', 'x'), straggler('c')), { kind: 'wait', count: 0 })
    assert.deepEqual(asked(vote('a', 'x'), vote('c', 'x'), straggler('b')), { kind: 'decided', vote: 'x' })
  })

  it('takes evidence that is just enough for enough, however it is summed up', () => {
    // New nodes are taken for right four times as often as not, one with k confirmed results 5k + 4 times: 9 x 44 / 4 is 99.
    const known = (node: string, row: number, what: string): Ballot => ({ kind: 'vote', node, vote: what, ties: [], standing: { row, alone: false } })
    const policy = { ...DEFAULT_POLICY, doubtPpm: 10_000 }
    const even = [known('a', 1, 'x'), known('b', 8, 'x'), known('c', 0, 'y')]
    for (const ballots of [even, even.toReversed()]) assert.deepEqual(judge(ballots, policy), { kind: 'decided', vote: 'x' })
    assert.equal(judge([known('a', 1, 'x'), known('b', 7, 'x'), known('c', 0, 'y')], policy).kind, 'wait')
  })

  it('F24: counts votes that hang together once, and those that do not each', () => {
    const tied = (node: string, what: string, ...ties: string[]): Ballot => ({ kind: 'vote', node, vote: what, ties, standing: NO_STANDING })
    const said = (...ballots: Ballot[]): unknown => judge(ballots, DEFAULT_POLICY)
    assert.deepEqual(said(tied('a', 'x', 'owner o'), tied('b', 'x', 'owner o', 'network n')), { kind: 'wait', count: 1 })
    assert.deepEqual(said(tied('a', 'x', 'owner o'), tied('b', 'x', 'owner p', 'network n')), { kind: 'decided', vote: 'x' })
    assert.deepEqual(said(tied('a', 'x', 'checkpoint c'), tied('b', 'x', 'checkpoint c'), tied('c', 'x')), { kind: 'decided', vote: 'x' })
    assert.deepEqual(said(tied('a', 'x', 'owner o'), tied('b', 'y', 'owner o'), live('c')), { kind: 'wait', count: 0 })
  })

  it('a quorum of votes that hang together in any way has as many that have nothing in common', () => {
    const ballots = fc.array(
      fc.record({
        kind: fc.constant('vote' as const),
        node: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'),
        vote: fc.constantFrom('x', 'y'),
        standing: fc.constant(NO_STANDING),
        ties: fc.subarray(['owner 1', 'owner 2', 'network 1', 'network 2', 'checkpoint 1'])
      }),
      { maxLength: 8 }
    )
    fc.assert(
      fc.property(ballots, fc.integer({ min: 1, max: 3 }), (votes, minQuorum) => {
        const next = judge(votes, { ...DEFAULT_POLICY, minQuorum, targetResults: minQuorum })
        if (next.kind !== 'decided') return
        const first = votes.filter((one, at) => votes.findIndex(({ node }) => node === one.node) === at && one.vote === next.vote)
        const apart = (set: readonly (typeof votes)[number][]): boolean =>
          set.every((a, at) => set.slice(at + 1).every((b) => !a.ties.some((tie) => b.ties.includes(tie))))
        const sets: (typeof votes)[] = [[]]
        for (const one of first) sets.push(...sets.map((set) => [...set, one]))
        assert.ok(sets.some((set) => set.length >= minQuorum && apart(set)))
      })
    )
  })

  it('never counts a node twice', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('x', 'y'), { maxLength: 8 }), (said) => {
        const next = judge(
          said.map((what) => vote('mallory', what)),
          DEFAULT_POLICY
        )
        assert.notEqual(next.kind, 'decided')
      })
    )
  })

  it('decides as the rules in their plainest form do', () => {
    const small = fc.integer({ min: 1, max: 6 })
    const policies = fc
      .record({ minQuorum: small, targetResults: small, maxErrorResults: small, maxTotalResults: fc.integer({ min: 1, max: 10 }), maxSuccessResults: small })
      .map((numbers): TaskPolicy => ({ ...DEFAULT_POLICY, ...numbers }))
      .filter((policy) => policyFault(policy) === undefined)
    const endings = fc.array(fc.constantFrom('x', 'y', 'z', 'error', 'hang', 'given back'), { minLength: 12, maxLength: 12 })
    fc.assert(
      fc.property(policies, endings, fc.boolean(), (policy, list, oneByOne) => {
        assert.equal(playThrough(policy, list, oneByOne), plainRules(policy, list, oneByOne))
      }),
      { numRuns: 2_000 }
    )
  })
})

/** Issues what the validator asks for, until it decides; replicas end as listed, in the order of their issue. */
function playThrough(policy: TaskPolicy, endings: readonly string[], oneByOne: boolean): string {
  const ballots: Ballot[] = []
  for (let turn = 0; turn < 100; turn++) {
    const next = judge(ballots, policy)
    if (next.kind === 'decided') return `decided ${next.vote}`
    if (next.kind === 'failed') return `failed ${next.code}`
    for (let more = next.count; more > 0; more--) ballots.push(live(`node ${ballots.length}`))
    const open = ballots.flatMap((ballot, index) => (ballot.kind === 'live' ? [index] : []))
    assert.ok(open.length > 0, 'it waits for nothing')
    for (const index of oneByOne ? open.slice(0, 1) : open) ballots[index] = ended(`node ${index}`, endings[index % endings.length] ?? 'x')
  }
  return 'never'
}

function ended(node: string, ending: string): Ballot {
  if (ending === 'error' || ending === 'hang') return ending === 'hang' ? hang(node) : error(node)
  return ending === 'given back' ? { kind: 'given_back', node } : vote(node, ending)
}

/** The second model: counters of one task, as BOINC's documentation words them. */
function plainRules(policy: TaskPolicy, endings: readonly string[], oneByOne: boolean): string {
  const votes = new Map<string, number>()
  let [issued, finished, successes, errors, hung, running] = [0, 0, 0, 0, 0, 0]
  for (;;) {
    const best = Math.max(0, ...votes.values())
    if (best >= policy.minQuorum) return `decided ${[...votes].find(([, count]) => count === best)?.[0]}`
    if (successes >= policy.maxSuccessResults) return 'failed no_agreement'
    if (errors + hung >= policy.maxErrorResults) return errors === 0 ? 'failed hang' : 'failed too_many_errors'
    while (issued < policy.maxTotalResults && (successes + running < policy.targetResults || best + running < policy.minQuorum)) {
      issued++
      running++
    }
    if (running === 0) return successes > 1 ? 'failed no_agreement' : 'failed too_many_errors'
    for (let step = oneByOne ? 1 : running; step > 0; step--) {
      const ending = endings[finished++ % endings.length] ?? 'x'
      running--
      if (ending === 'error') errors++
      else if (ending === 'hang') hung++
      else if (ending !== 'given back') {
        successes++
        votes.set(ending, (votes.get(ending) ?? 0) + 1)
      }
    }
  }
}
