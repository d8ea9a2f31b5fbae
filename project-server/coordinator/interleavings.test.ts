import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import type { TaskPolicy } from '#protocol/bundle/policy'
import { type Action, Chaos } from '#test/support/coordinator-chaos'
import { plainBundle } from '#test/support/coordinator-parts'

const NODES = 6
/** Plays that are added while something never happened. */
const MORE_RUNS = 80
const node = fc.nat({ max: NODES - 1 })
const batch = fc.nat({ max: 5 })

const PROGRAM = { kind: 'program' as const, bundle: plainBundle('compares').cid }
const TOLERANT = { kind: 'tolerance' as const, rules: { abs: 0, rel: 0, files: [] } }
const policy = fc.constantFrom<Partial<TaskPolicy>[]>(
  { minQuorum: 1, targetResults: 1, copies: 'idle' as const },
  { minQuorum: 1, targetResults: 1, nodes: ['node 5'] },
  { minQuorum: 2, targetResults: 2 },
  { minQuorum: 2, targetResults: 3, copies: 'idle' as const },
  { minQuorum: 3, targetResults: 3, maxSuccessResults: 5, maxTotalResults: 5 },
  { minQuorum: 2, targetResults: 3, compare: TOLERANT },
  { minQuorum: 2, targetResults: 3, compare: PROGRAM },
  { minQuorum: 2, targetResults: 2, sameClass: 'cpu' as const },
  { minQuorum: 3, targetResults: 3, maxErrorResults: 6, compare: TOLERANT },
  { minQuorum: 2, targetResults: 2, retryMemoryBytes: 3 * 1024 ** 3 },
  { minQuorum: 1, targetResults: 1, retryMemoryBytes: 3 * 1024 ** 3, copies: 'idle' as const },
  { minQuorum: 2, targetResults: 2, guessMemory: true },
  { adaptive: true },
  { minQuorum: 1, targetResults: 1, trust: 'trusted' as const },
  { adaptive: true, minQuorum: 3, targetResults: 3 },
  { doubtPpm: 5_000, maxTotalResults: 12, maxSuccessResults: 10 },
  { minQuorum: 2, targetResults: 2, independence: 'require' as const },
  { minQuorum: 2, targetResults: 2, maxErrorResults: 1, maxTotalResults: 3, priority: 1 }
)

const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('submit' as const),
      tasks: fc.integer({ min: 1, max: 6 }),
      policy,
      more: fc.boolean(),
      takes: fc.constantFrom(0, 0, 1, 2, 3),
      allowFailed: fc.boolean(),
      repeats: fc.nat({ max: 3 }).map((draw) => draw === 0)
    })
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('repeat' as const), batch }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('kill' as const), batch, task: fc.option(fc.nat({ max: 5 })) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('hold' as const), batch, task: fc.option(fc.nat({ max: 5 })), stop: fc.boolean() })
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('release' as const), batch, task: fc.option(fc.nat({ max: 5 })) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('grant' as const),
      client: fc.nat({ max: 1 }),
      parallel: fc.constantFrom(null, 1, 3),
      share: fc.constantFrom(1, 2.5)
    })
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('ban' as const), of: fc.nat({ max: NODES }), lift: fc.boolean() }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('join' as const), node }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('cut' as const), node }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('wipe' as const, 'bye' as const), node }) },
  { weight: 14, arbitrary: fc.record({ kind: fc.constant('hear' as const), node, frames: fc.integer({ min: 1, max: 8 }) }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('ack' as const), node }) },
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('ask' as const), node }) },
  {
    weight: 16,
    arbitrary: fc.record({
      kind: fc.constant('end' as const),
      node,
      how: fc.constantFrom(
        'good' as const,
        'good' as const,
        'good' as const,
        'odd' as const,
        'fail' as const,
        'break' as const,
        'hang' as const,
        'memory' as const,
        'input' as const,
        'owner' as const
      )
    })
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('say_again' as const), node, back: fc.nat({ max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('steal' as const), node, from: node }) },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('pulled' as const), ok: fc.boolean(), fault: fc.constantFrom(null, null, 'program' as const, 'project' as const) })
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('completed' as const), ok: fc.constantFrom(true, true, true, false) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('pass' as const), ms: fc.constantFrom(300, 900, 4_000, 16_000) }) },
  { weight: 20, arbitrary: fc.constant({ kind: 'commit' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('crash' as const), when: fc.constantFrom('before' as const, 'between' as const, 'after' as const) }) }
)

/** Safety at every commit; then faults stop, and every task ends. What happened, how often. */
async function play(actions: fc.Arbitrary<Action>, numRuns: number): Promise<Record<string, number>> {
  const sometimes: Record<string, number> = {}
  await fc.assert(
    fc.asyncProperty(fc.array(actions, { minLength: 100, maxLength: 700, size: 'max' }), fc.nat({ max: 1 }), async (run, liars) => {
      const chaos = await new Chaos(NODES, liars).start()
      for (const one of run) await chaos.act(one)
      chaos.calm(1_200_000)
      assert.deepEqual([...chaos.safety.open], [], 'tasks that never end')
      assert.deepEqual(chaos.store.keys('owed/'), [], 'killed tasks whose runs are waited for for ever')
      assert.deepEqual(chaos.store.keys('recheck/'), [], 'decisions that are looked at for ever')
      assert.deepEqual(
        chaos.nodes.filter(({ kept }) => kept.size > 0).map(({ id, kept }) => [id, ...kept]),
        [],
        'content that no node may ever drop'
      )
      for (const kind of ['left', 'revised']) sometimes[kind] = (sometimes[kind] ?? 0) + chaos.store.keys(`${kind}/`).length
      for (const [what, count] of Object.entries(chaos.sometimes)) sometimes[what] = (sometimes[what] ?? 0) + count
    }),
    // What fails is made small only for so long: a run in CI ends.
    { numRuns, interruptAfterTimeLimit: 200_000 }
  )
  return sometimes
}

/** Plays, at least so many, in which all of these happened: few lead as far as some of them, and more are played until one did. */
async function playUntil(actions: fc.Arbitrary<Action>, numRuns: number, rare: readonly string[]): Promise<void> {
  let never: readonly string[] = rare
  for (let round = 0; round < 10 && never.length > 0; round++) {
    const sometimes = await play(actions, round === 0 ? numRuns : MORE_RUNS)
    never = never.filter((what) => !((sometimes[what] ?? 0) > 0))
  }
  assert.deepEqual(never, [], 'what never happened')
}

it('nodes that are believed alone, err, and have what they decided looked at again: nothing is forgotten of it', async () => {
  const believing = action.map((one) => {
    if (one.kind === 'submit') return { ...one, policy: { adaptive: true } }
    // Who errs now and then is believed, and then not any more.
    return one.kind === 'end' && one.how === 'fail' ? { ...one, how: 'odd' as const } : one
  })
  await playUntil(believing, 80, ['trusted', 'recheck', 'revised'])
})

/** 10^5 actions of coordinator and nodes, crashes between any two of them. */
it('S01, X08: whatever happens in whatever order, nothing is lost, doubled or decided wrongly, and in calm everything ends', async () => {
  await playUntil(action, 250, [
    'crash before',
    'crash between',
    'crash after',
    'resumed',
    'wiped',
    'good',
    'odd',
    'fail',
    'break',
    'hang',
    'a run hung',
    'more memory',
    'a guess',
    'input',
    'an input was lost',
    'kill',
    'bye',
    'disconnect silent',
    'disconnect banned',
    'a vote was dropped',
    'left by a killed run',
    'waits for submission',
    'waits for sources',
    'completed',
    'waits for node',
    'waits for quota',
    'waits for turn',
    'waits for runs',
    'waits for output',
    'waits for comparison',
    'compared',
    'a comparator was at fault',
    'no comparator could be run',
    'waits for release',
    'answered at once',
    'hold',
    'release',
    'left',
    'left',
    'copied',
    'brought ahead'
  ])
})

it('a replica that its node is already told to drop is not found again with it', async () => {
  const actions: Action[] = [
    { kind: 'submit', tasks: 1, policy: { minQuorum: 2, targetResults: 3 }, more: false },
    { kind: 'join', node: 5 },
    { kind: 'commit' },
    { kind: 'hear', node: 5, frames: 2 },
    { kind: 'ask', node: 5 },
    // The grant waits for the commit; a new stream that falls silent loses the replica, and the grant becomes a refusal.
    { kind: 'join', node: 5 },
    { kind: 'pass', ms: 16_000 },
    { kind: 'commit' },
    { kind: 'join', node: 5 }
  ]
  const chaos = await new Chaos(NODES, 1).start()
  for (const one of actions) await chaos.act(one)
  chaos.calm(60_000)
  assert.deepEqual([...chaos.safety.open], [])
})
