import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type CreditEntry, decodePage } from '#protocol/credit/ledger'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, offer, plainBundle } from '#test/support/coordinator-parts'
import { nodeKey } from './keys.ts'
import { CREDIT_PREFIX, decodeEarned, decodeSignedPage, EARNED_PREFIX } from './ledger.ts'
import { decodeNodeRecord } from './node-records.ts'
import { DEFAULT_COORDINATOR_POLICY } from './policy.ts'

const TASK = `${batchId(1)}.0`
const RUN_MS = 8_000

function entriesOf(world: CoordinatorWorld): CreditEntry[] {
  return world.store.keys(CREDIT_PREFIX).flatMap((key) => decodePage(decodeSignedPage(world.store.peek(key) ?? new Uint8Array(0)).body)?.entries ?? [])
}

function creditOf(world: CoordinatorWorld, id: string): number {
  return decodeNodeRecord(world.store.peek(nodeKey(id)) ?? new Uint8Array(0)).credit
}

/** One task on as many nodes as claims, each of which says that it took so much processor time; the outputs say who agrees. */
async function decided(
  runs: readonly { readonly cpuMs: number; readonly output?: string }[],
  { deadlineMs = 0, minQuorum = runs.length, tookMs = RUN_MS }: { deadlineMs?: number; minQuorum?: number; tookMs?: number } = {}
): Promise<CoordinatorWorld> {
  const world = await new CoordinatorWorld().start()
  const nodes = runs.map((_, index) => world.join(`node ${index}`, offer(1, { owner: index % 2 === 0 ? 'ann' : 'bob' })))
  world.submit(batchId(1), [plainBundle('x', { timeMs: 2 * RUN_MS })], {
    minQuorum,
    targetResults: runs.length,
    maxTotalResults: 16,
    maxSuccessResults: 16,
    deadlineMs,
    independence: 'prefer'
  })
  for (let waited = 0; nodes.some(({ leases }) => leases.size === 0) && waited < 40_000; waited += 500) world.pass(500)
  const begun = world.nowMs
  world.pass(tookMs)
  for (const [index, { cpuMs, output = 'the truth' }] of runs.entries()) {
    const node = nodes[index] as ScriptedNode
    for (const replica of [...node.leases.keys()]) world.report(node, replica, { output, cpuMs, ranMs: world.nowMs - begun })
  }
  return world
}

describe('F20: credit', () => {
  it('is earned by those who agreed and by nobody else, alike, and who claims more gains nothing', async () => {
    const claim = fc.nat({ max: 3 * RUN_MS })
    await fc.assert(
      fc.asyncProperty(fc.array(claim, { minLength: 2, maxLength: 5 }), fc.nat(), async (claims, more) => {
        const honest = await decided(claims.map((cpuMs) => ({ cpuMs })))
        const greedy = await decided(claims.map((cpuMs, index) => ({ cpuMs: index === 0 ? cpuMs + more : cpuMs })))
        const [before, after] = [entriesOf(honest), entriesOf(greedy)]
        assert.equal(before.length, claims.length)
        assert.equal(new Set(before.map(({ base }) => base)).size, 1)
        // As much as the middle one of the others' claims at the most, however much is claimed.
        const others = claims.slice(1).sort((a, b) => a - b)
        const most = Math.max(1, others[(claims.length - 1) >> 1] ?? others.at(-1) ?? 0)
        for (const { base } of after) assert.ok(base <= Math.max(most, before[0]?.base ?? 0), `${base} for ${claims.join(', ')} and ${more} more`)
      }),
      { numRuns: 25 }
    )
  })

  it('is nothing for a lie, for a failure and for what never came', async () => {
    const world = await decided([{ cpuMs: 500 }, { cpuMs: 500, output: 'a lie' }, { cpuMs: 700 }], { minQuorum: 2 })
    assert.deepEqual(
      entriesOf(world).map(({ node, base, bonus }) => [node, base, bonus]),
      [
        ['node 0', 500, 0],
        ['node 2', 500, 0]
      ]
    )
    assert.deepEqual([creditOf(world, 'node 0'), creditOf(world, 'node 1'), creditOf(world, 'node 2')], [500, 0, 500])
    assert.equal(decodeEarned(world.store.peek(`${EARNED_PREFIX}ann`) ?? new Uint8Array(0)), 1000)
    assert.equal(world.store.peek(`${EARNED_PREFIX}bob`), undefined)
  })

  it('is no more than the processors that the task may use have in the time that the coordinator saw', async () => {
    const world = await decided([{ cpuMs: 10 ** 12 }, { cpuMs: 10 ** 12 }])
    for (const { base } of entriesOf(world)) assert.ok(base >= RUN_MS && base <= RUN_MS + 1000, `${base}`)
  })

  it('is more for an early return, the square root of deadline over time, twice as much at the most', async () => {
    for (const [deadlineMs, factor] of [
      [0, 1],
      [RUN_MS * 2.25, 1.5],
      [RUN_MS * 100, 2]
    ] as const) {
      const world = await decided([{ cpuMs: 1000 }, { cpuMs: 1000 }], { deadlineMs })
      assert.equal(entriesOf(world).length, 2)
      for (const { base, bonus } of entriesOf(world)) assert.deepEqual([base, Math.round(bonus / 100)], [1000, Math.round((factor - 1) * 10)])
    }
  })

  it('is earned by what comes late and agrees, without a bonus and no more than the others got', async () => {
    const world = await new CoordinatorWorld().start()
    const [a, b, c] = ['a', 'b', 'c'].map((id) => world.join(id)) as [ScriptedNode, ScriptedNode, ScriptedNode]
    world.submit(batchId(1), [plainBundle('x')], { minQuorum: 2, targetResults: 3 })
    world.pass(1000)
    for (const [node, cpuMs] of [
      [a, 300],
      [b, 400]
    ] as const)
      world.report(node, [...node.leases.keys()][0] ?? '', { output: 'the truth', cpuMs, ranMs: 1000 })
    c.leases.set(`${TASK}.3`, { epoch: 1, bundle: (world.receipts.get(TASK) ?? assert.fail()).bundle })
    world.report(c, `${TASK}.3`, { output: 'the truth', cpuMs: 900, ranMs: 1000 })
    assert.deepEqual(
      entriesOf(world)
        .map(({ kind, node, base }) => [kind, node, base])
        .sort(([, x = ''], [, y = '']) => (x < y ? -1 : 1)),
      [
        ['earned', 'a', 300],
        ['earned', 'b', 300],
        ['late', 'c', 300]
      ]
    )
  })

  it('of one who decided alone is scaled by what it was given where others claimed, too, and is taken back by an entry when it erred', async () => {
    const world = await new CoordinatorWorld().start()
    const [a] = ['a', 'b', 'c'].map((id) => world.join(id)) as [ScriptedNode]
    const { trustedAfter } = DEFAULT_COORDINATOR_POLICY
    const bundles = Array.from({ length: trustedAfter }, (_, task) => plainBundle(`${task}`))
    world.submit(batchId(1), bundles, { minQuorum: 3, targetResults: 3 })
    for (let round = 0; round < trustedAfter; round++) {
      world.pass(1000)
      // It claims twice what the others do.
      for (const node of world.nodes.values()) world.reportAll(node, { output: 'the truth', cpuMs: node === a ? 800 : 400, ranMs: 1000 })
    }
    const { claimsPpm } = decodeNodeRecord(world.store.peek(nodeKey('a')) ?? new Uint8Array(0))
    assert.ok(claimsPpm < 700_000 && claimsPpm > 500_000, `${claimsPpm}`)
    const before = creditOf(world, 'a')
    for (const other of ['b', 'c']) world.apply({ kind: 'demand', node: other, slots: 0 })
    let alone = ''
    for (let number = 100; alone === ''; number++) {
      world.submit(batchId(number), [plainBundle('y')], { adaptive: true })
      world.pass(1000)
      if (world.record(`${batchId(number)}.0`).replicas[0]?.standing.alone === true) alone = `${batchId(number)}.0`
      else world.apply({ kind: 'kill', batch: batchId(number), by: 'owner' })
      if (alone === '') world.pass(12_500)
    }
    world.reportAll(a, { output: 'a lie', cpuMs: 800, ranMs: 1000 })
    const last = entriesOf(world).at(-1)
    assert.deepEqual([last?.kind, last?.task, last?.base], ['earned', alone, Math.floor(800 * (claimsPpm / 1_000_000))])
    await world.start()
    for (const { id } of world.nodes.values()) {
      world.join(id)
      world.apply({ kind: 'demand', node: id, slots: 1 })
    }
    // Others find it wrong somewhere else, and what it decided alone is run again.
    world.submit(batchId(2), [plainBundle('z')], { minQuorum: 2, targetResults: 3 })
    world.pass(1000)
    for (let round = 0; round < 20; round++) {
      for (const node of world.nodes.values()) world.work(node, { output: node === a ? 'a lie' : 'the truth', cpuMs: 10, ranMs: 20 })
      world.pass(500)
    }
    const back = entriesOf(world).filter(({ kind }) => kind === 'taken_back')
    assert.deepEqual(
      back.map(({ task, node, base, bonus, attempt }) => [task, node, base, bonus, attempt]),
      [[alone, 'a', last?.base, last?.bonus, last?.attempt]]
    )
    assert.equal(creditOf(world, 'a'), before)
  })
})
