import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_POLICY, policyFault, type TaskPolicy } from '#protocol/bundle/policy'
import { voteOf } from '#protocol/result/result'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, outputOf, PROJECT, result } from '#test/support/coordinator-parts'
import { type Agrees, isOutput, largestAgreement, uncompared } from './agreement.ts'
import type { Effect } from './events.ts'
import { PULL_RETRY_MS } from './policy.ts'
import { NO_STANDING } from './standing.ts'
import { type Ballot, judge, type Vote } from './validator.ts'

const BATCH = batchId(1)
const TASK = `${BATCH}.0`
const COMPARE = { kind: 'tolerance' as const, rules: { abs: 0, rel: 1e-6, files: [] } }
const TWO: TaskPolicy = { ...DEFAULT_POLICY, compare: COMPARE }

const vote = (node: string, what: string, ties: readonly string[] = []): Vote => ({ kind: 'vote', node, vote: what, ties, standing: NO_STANDING })
const voteFor = (output: string): string => voteOf(result('n', `${TASK}.1`, bundle('a').manifest.dependencies[0]?.root as never, { output }), false)

describe('agreement without equality', () => {
  const votes = fc
    .array(fc.record({ vote: fc.constantFrom('a', 'b', 'c', 'd', 'e'), ties: fc.subarray(['t', 'u']) }), { maxLength: 9 })
    .map((all) => all.map(({ vote: what, ties }, index) => vote(`${index}`, what, ties)))
  const relation = fc.dictionary(fc.constantFrom('ab', 'ac', 'ad', 'ae', 'bc', 'bd', 'be', 'cd', 'ce', 'de'), fc.boolean()).map(
    (known): Agrees =>
      (a, b) =>
        known[a < b ? a + b : b + a]
  )

  it('is a largest set of results of which every two agree and no two hang together, led by its earliest', () => {
    fc.assert(
      fc.property(votes, relation, (all, agrees) => {
        const fit = (a: Vote, b: Vote): boolean => (a.vote === b.vote || agrees(a.vote, b.vote) === true) && !a.ties.some((tie) => b.ties.includes(tie))
        let sets: Vote[][] = [[]]
        for (const next of all) sets = [...sets, ...sets.filter((set) => set.every((other) => fit(other, next))).map((set) => [...set, next])]
        const size = Math.max(...sets.map(({ length }) => length))
        const found = largestAgreement(all, agrees)
        assert.equal(found.count, size)
        const earliest = Math.min(...sets.filter(({ length }) => length === size).map(([first]) => (first === undefined ? -1 : all.indexOf(first))))
        assert.equal(found.vote, all[earliest]?.vote ?? '')
      })
    )
  })

  it('is that of equal votes where nothing is known to be close', () => {
    fc.assert(
      fc.property(votes, (all) => {
        const plain = all.map((one) => ({ ...one, ties: [] }))
        assert.equal(judge(plain, DEFAULT_POLICY).kind, judge(plain, DEFAULT_POLICY, () => false).kind)
      })
    )
  })

  it('never decides by what nobody compared, and asks for nothing while results are fewer than the quorum', () => {
    fc.assert(
      fc.property(votes, fc.integer({ min: 1, max: 4 }), (all, minQuorum) => {
        const policy = { ...DEFAULT_POLICY, minQuorum, targetResults: minQuorum, maxSuccessResults: 10, maxTotalResults: 12, compare: COMPARE }
        const next = judge(all, policy, () => undefined)
        if (next.kind === 'decided') assert.ok(all.filter(({ vote: what }) => what === next.vote).length >= minQuorum)
        if (next.kind === 'compare') {
          assert.ok(all.length >= minQuorum)
          assert.deepEqual(
            next.pairs,
            uncompared(all, () => undefined)
          )
        }
        if (all.length < minQuorum) assert.equal(next.kind, 'wait')
      })
    )
  })

  it('hopes for what is not compared yet: no replica more is asked for until it is known to be needed', () => {
    const policy = { ...TWO, minQuorum: 3, targetResults: 3 }
    const ballots: Ballot[] = [vote('a', 'x'), vote('b', 'y'), { kind: 'live', node: 'c', straggles: false, standing: NO_STANDING }]
    assert.deepEqual(
      judge(ballots, policy, () => undefined),
      { kind: 'wait', count: 0 }
    )
    assert.deepEqual(
      judge(ballots, policy, () => false),
      { kind: 'wait', count: 1 }
    )
  })

  it('a failed run agrees with its like alone', () => {
    assert.deepEqual(['exit:1', 'ended:time', 'bafyabc'].map(isOutput), [false, false, true])
  })

  it('all sets of results are looked at, so they are few', () => {
    assert.match(policyFault({ ...TWO, maxSuccessResults: 17 }) ?? '', /at most 16/)
    assert.equal(policyFault(TWO), undefined)
    assert.notEqual(policyFault({ ...TWO, compare: { kind: 'tolerance', rules: { abs: -1, rel: 0, files: [] } } }), undefined)
  })
})

type Asked = Extract<Effect, { kind: 'compare' }>

describe('a task whose outputs are compared', () => {
  async function worldOf(policy: Partial<TaskPolicy> = {}): Promise<CoordinatorWorld> {
    const world = await new CoordinatorWorld().start()
    for (const id of ['ann', 'bob', 'cid', 'dan']) world.join(id)
    world.submit(BATCH, [bundle('a')], { ...TWO, ...policy })
    return world
  }
  const work = (world: CoordinatorWorld, outputs: readonly string[]): void => {
    for (const output of outputs) {
      const node = [...world.nodes.values()].find(({ leases }) => leases.size > 0)
      assert.ok(node !== undefined, `nobody is to compute ${output}`)
      world.work(node, { output })
    }
  }
  const asked = (world: CoordinatorWorld): Asked[] => world.effects.filter((effect) => effect.kind === 'compare')
  const verdicts = (world: CoordinatorWorld): (string | null)[] => world.record(TASK).replicas.map(({ verdict }) => verdict)

  it('F17: outputs that differ and are close agree; the earliest is the canonical one, and the receipt says how', async () => {
    const world = await worldOf()
    world.close = () => true
    work(world, ['1.0', '1.0000001'])
    assert.equal(world.record(TASK).state, 'ready')
    assert.equal(world.record(TASK).decision?.vote, world.record(TASK).replicas[0]?.vote)
    assert.deepEqual(verdicts(world), ['valid', 'valid'])
    const receipt = world.receipts.get(TASK)
    assert.equal(receipt?.project, PROJECT)
    assert.deepEqual([receipt?.results.length, receipt?.compare], [2, JSON.stringify(COMPARE)])
    assert.equal(world.effects.filter(({ kind }) => kind === 'compared_enough').length, 1)
  })

  it('F23: equal outputs are never fetched to be compared, and their receipts are as ever', async () => {
    const world = await worldOf()
    work(world, ['1.0', '1.0'])
    assert.equal(world.record(TASK).state, 'ready')
    assert.deepEqual([asked(world).length, world.receipts.get(TASK)?.compare], [0, undefined])
  })

  it('closeness is not transitive: a quorum of three needs all three pairs', async () => {
    const world = await worldOf({ minQuorum: 3, targetResults: 3 })
    const one = voteFor('1')
    const far = (a: string, b: string): boolean => [a, b].every((side) => side === one || side === voteFor('3'))
    world.close = (a, b) => !far(a, b)
    work(world, ['1', '2', '3'])
    assert.equal(world.record(TASK).state, 'running')
    work(world, ['4'])
    const { state, decision, replicas } = world.record(TASK)
    assert.equal(state, 'ready')
    // Either end of the three goes with the others, whichever was issued first.
    const end =
      decision?.vote === voteFor('3') || replicas.findIndex(({ vote: what }) => what === voteFor('3')) < replicas.findIndex(({ vote: what }) => what === one)
    const wrong = replicas.filter(({ verdict }) => verdict === 'invalid').map(({ vote: what }) => what)
    assert.deepEqual(wrong, [end ? one : voteFor('3')])
    assert.equal(replicas.filter(({ verdict }) => verdict === 'valid').length, 3)
  })

  it('what differs too much is wrong, and a third decides', async () => {
    const world = await worldOf()
    const lie = voteFor('lie')
    world.close = (a, b) => a !== lie && b !== lie
    work(world, ['lie', '1.0', '1.0000001'])
    assert.deepEqual([world.record(TASK).state, ...verdicts(world)], ['ready', 'invalid', 'valid', 'valid'])
  })

  it('a comparison that a crash lost is asked again, and nothing is decided meanwhile', async () => {
    const world = await worldOf()
    world.compares = false
    work(world, ['1.0', '1.1'])
    assert.deepEqual([world.record(TASK).state, asked(world).length], ['validating', 1])
    assert.equal(world.coordinator.why(TASK)?.waitsFor, 'comparison')
    world.compares = true
    world.close = () => true
    await world.start()
    for (const id of world.nodes.keys()) world.join(id)
    assert.deepEqual([world.record(TASK).state, asked(world).length], ['ready', 2])
    assert.deepEqual(verdicts(world), ['valid', 'valid'])
  })

  it('an output that cannot be had in a few rounds is an error of its node, and others are asked', async () => {
    const world = await worldOf()
    world.compares = false
    work(world, ['1.0', '1.1'])
    for (let round = 0; round < 3; round++) {
      world.apply({ kind: 'compared', task: TASK, pairs: [], missing: [voteFor('1.1')] })
      world.pass(PULL_RETRY_MS)
    }
    const gone = world.record(TASK).replicas.find(({ vote: what }) => what === voteFor('1.1'))
    assert.deepEqual([world.record(TASK).state, world.counts(gone?.node ?? '').errors], ['running', 1])
    world.compares = true
    work(world, ['1.0'])
    assert.deepEqual(
      [world.record(TASK).state, ...verdicts(world)],
      ['ready', ...world.record(TASK).replicas.map((replica) => (replica.vote === voteFor('1.1') ? 'inconclusive' : 'valid'))]
    )
  })

  describe('whose agreed output nobody hands over', () => {
    /** Decided by 1.0 and 1.0, which are lost; a third computes it again. */
    async function lost(close: (a: string, b: string) => boolean): Promise<CoordinatorWorld> {
      const world = await worldOf()
      world.pulls = false
      world.close = close
      work(world, ['1.0', '1.0'])
      for (let round = 0; round < 4; round++) {
        world.apply({ kind: 'pulled', task: TASK, node: 'ann', ok: false, message: 'gone' })
        world.pass(PULL_RETRY_MS + 500)
      }
      assert.deepEqual([world.record(TASK).outputLosses, world.record(TASK).replicas.length], [1, 3])
      return world
    }

    it('has it again from a node whose output is close', async () => {
      const world = await lost(() => true)
      world.pulls = true
      work(world, ['1.0000001'])
      const { state, decision, replicas } = world.record(TASK)
      assert.deepEqual([state, decision?.vote, decision?.output], ['ready', voteFor('1.0'), outputOf('1.0000001').toString()])
      assert.deepEqual([asked(world).length, world.counts(replicas[2]?.node ?? '').valid], [1, 1])
      assert.deepEqual([world.receipts.get(TASK)?.results.length, world.receipts.get(TASK)?.compare], [3, JSON.stringify(COMPARE)])
    })

    it('asks another when that one is not close, which is wrong', async () => {
      const world = await lost(() => false)
      world.pulls = true
      work(world, ['2', '1.0'])
      assert.deepEqual([world.record(TASK).state, ...verdicts(world)], ['ready', 'valid', 'valid', 'invalid', 'valid'])
    })

    it('judges nobody by an output that cannot be had to be compared, and waits for an equal one', async () => {
      const world = await lost(() => true)
      world.compares = false
      work(world, ['1.0000001'])
      world.apply({ kind: 'compared', task: TASK, pairs: [], missing: [voteFor('1.0')] })
      assert.deepEqual([world.record(TASK).state, ...verdicts(world)], ['validating', 'valid', 'valid', 'inconclusive', null])
      world.pulls = true
      work(world, ['1.0'])
      assert.equal(world.record(TASK).state, 'ready')
    })
  })

  it('no agreement in as many results as may come: it fails', async () => {
    const world = await worldOf({ maxSuccessResults: 3 })
    work(world, ['1', '2', '3'])
    assert.deepEqual([world.record(TASK).state, world.record(TASK).failure?.code], ['failed', 'no_agreement'])
  })

  it('a late result that differs tells nothing of its node; one that is equal is valid', async () => {
    const world = await worldOf({ minQuorum: 1, targetResults: 2 })
    const [first, second] = [...world.nodes.values()].filter(({ leases }) => leases.size > 0)
    assert.ok(first !== undefined && second !== undefined)
    const [late] = [...second.leases.keys()]
    world.begin(second, late ?? '')
    const lease = second.leases.get(late ?? '')
    world.work(first, { output: '1.0' })
    assert.equal(world.record(TASK).state, 'ready')
    if (lease !== undefined) second.leases.set(late ?? '', lease)
    world.report(second, late ?? '', { output: '1.0000001' })
    assert.deepEqual(world.counts(second.id), { valid: 0, invalid: 0, errors: 0, lost: 0 })
  })
})

describe('a task whose outputs a program compares', () => {
  const PROGRAM = { kind: 'program' as const, bundle: bundle('compares').cid }

  async function worldOf(policy: Partial<TaskPolicy> = {}): Promise<CoordinatorWorld> {
    const world = await new CoordinatorWorld().start()
    for (const id of ['ann', 'bob', 'cid', 'dan']) world.join(id)
    world.compares = false
    world.submit(BATCH, [bundle('a'), bundle('b')], { ...TWO, compare: PROGRAM, ...policy })
    return world
  }
  /** Two results that differ, of one task. */
  const differ = (world: CoordinatorWorld, task = TASK): void => {
    for (const output of ['1.0', '1.1']) {
      const [node, replica] =
        [...world.nodes.values()].flatMap((node) => [...node.leases.keys()].filter((id) => id.startsWith(`${task}.`)).map((id) => [node, id] as const))[0] ?? []
      assert.ok(node !== undefined && replica !== undefined, `nobody is to compute ${output}`)
      world.begin(node, replica)
      world.report(node, replica, { output })
    }
  }
  const asked = (world: CoordinatorWorld): string[] => world.effects.flatMap((effect) => (effect.kind === 'compare' ? [effect.task] : []))
  const fault = (of: 'program' | 'project'): { readonly of: 'program' | 'project'; readonly message: string } => ({ of, message: 'exit status 3' })
  const verdicts = (world: CoordinatorWorld): (string | null)[] => world.record(TASK).replicas.map(({ verdict }) => verdict)
  const held = (world: CoordinatorWorld): string | undefined => world.coordinator.batch(BATCH)?.held?.reason

  it('is decided by what it says; the receipt, the events and why name it', async () => {
    const world = await worldOf()
    differ(world)
    assert.deepEqual(world.coordinator.why(TASK)?.comparing, { kind: 'program', bundle: PROGRAM.bundle })
    world.apply({ kind: 'compared', task: TASK, pairs: [{ a: voteFor('1.0'), b: voteFor('1.1'), agree: true }], missing: [] })
    assert.deepEqual([world.record(TASK).state, ...verdicts(world)], ['ready', 'valid', 'valid'])
    assert.equal(world.receipts.get(TASK)?.compare, JSON.stringify(PROGRAM))
  })

  it('of a program at fault its batch is held: nobody is judged, and nothing is asked again before a release, whatever happens', async () => {
    const world = await worldOf()
    differ(world)
    world.apply({ kind: 'compared', task: TASK, pairs: [], missing: [], fault: fault('program') })
    assert.match(held(world) ?? '', /program that compares its results is at fault, asked about task 0: exit status 3/)
    assert.equal(world.coordinator.why(TASK)?.waitsFor, 'release')
    const before = asked(world).length
    world.pass(60_000)
    await world.start()
    for (const id of world.nodes.keys()) world.join(id)
    world.pass(60_000)
    assert.deepEqual([asked(world).length, ...verdicts(world)], [before, null, null])
    for (const { node } of world.record(TASK).replicas) assert.deepEqual(world.counts(node), { valid: 0, invalid: 0, errors: 0, lost: 0 })

    world.apply({ kind: 'release', by: 'owner', batch: BATCH })
    world.pass(1_000)
    assert.equal(asked(world).length, before + 1)
    world.apply({ kind: 'compared', task: TASK, pairs: [], missing: [], fault: fault('program') })
    assert.notEqual(held(world), undefined)
    world.apply({ kind: 'release', by: 'owner', batch: BATCH })
    world.pass(1_000)
    world.apply({ kind: 'compared', task: TASK, pairs: [{ a: voteFor('1.0'), b: voteFor('1.1'), agree: true }], missing: [] })
    assert.deepEqual([world.record(TASK).state, ...verdicts(world)], ['ready', 'valid', 'valid'])
  })

  it('a project that cannot run it now tries again, says so, and blames nobody, however long it takes', async () => {
    const world = await worldOf()
    differ(world)
    for (let round = 1; round <= 10; round++) {
      assert.equal(asked(world).length, round)
      world.apply({ kind: 'compared', task: TASK, pairs: [], missing: [], fault: fault('project') })
      assert.equal(world.coordinator.why(TASK)?.comparing?.trouble, 'exit status 3')
      assert.equal(asked(world).length, round)
      world.pass(PULL_RETRY_MS)
    }
    assert.deepEqual([held(world), ...verdicts(world)], [undefined, null, null])
    world.apply({ kind: 'compared', task: TASK, pairs: [{ a: voteFor('1.0'), b: voteFor('1.1'), agree: true }], missing: [] })
    assert.equal(world.record(TASK).state, 'ready')
  })

  it('equal outputs never ask it, though its batch is held', async () => {
    const world = await worldOf()
    differ(world)
    world.apply({ kind: 'compared', task: TASK, pairs: [], missing: [], fault: fault('program') })
    const before = asked(world).length
    for (let left = 2; left > 0; left--) {
      const node = [...world.nodes.values()].find(({ leases }) => leases.size > 0)
      if (node !== undefined) world.work(node, { output: 'same' })
    }
    assert.deepEqual([world.record(`${BATCH}.1`).state, asked(world).length], ['ready', before])
  })
})
