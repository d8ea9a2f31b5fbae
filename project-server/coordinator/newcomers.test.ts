import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, offer, plainBundle } from '#test/support/coordinator-parts'
import { DEFAULT_COORDINATOR_POLICY, NEWCOMER_SLOTS, RETURNING_MS } from './policy.ts'

const { newcomersMax, trustedAfter } = DEFAULT_COORDINATOR_POLICY
const PLAIN = { minQuorum: 1, targetResults: 1 }

function bundles(count: number): ReturnType<typeof plainBundle>[] {
  return Array.from({ length: count }, (_, task) => plainBundle(`${task}`))
}

function heldIn(world: CoordinatorWorld, prefix: string): number {
  return [...world.nodes.values()].filter(({ id }) => id.startsWith(prefix)).reduce((sum, { leases }) => sum + leases.size, 0)
}

function reasons(world: CoordinatorWorld, task: string): (readonly [string, number])[] | undefined {
  return world.coordinator.why(task)?.nodes?.map(({ reason, count }) => [reason, count] as const)
}

describe('newcomers', () => {
  it('run two tasks at once, and twice as many with each accepted result in a row', async () => {
    const world = await new CoordinatorWorld().start()
    const [a, b] = [world.join('a', offer(100, { network: 'n1' })), world.join('b', offer(100, { network: 'n2' }))]
    world.submit(batchId(1), bundles(200))
    assert.deepEqual([a.leases.size, b.leases.size], [NEWCOMER_SLOTS, NEWCOMER_SLOTS])
    const why = world.coordinator.why(`${batchId(1)}.199`)
    assert.deepEqual([why?.waitsFor, why?.nodes?.map(({ reason, count }) => [reason, count])], ['turn', [['newcomer', 2]]])
    world.work(a, { output: 'the truth' })
    world.work(b, { output: 'the truth' })
    assert.ok(a.leases.size > NEWCOMER_SLOTS)
  })

  it('run more with each result in a row that a quorum of one took, too', async () => {
    const world = await new CoordinatorWorld().start()
    const a = world.join('a', offer(100, { network: 'n1' }))
    world.submit(batchId(1), bundles(200), PLAIN)
    world.work(a, { output: 'the truth' })
    assert.equal(a.leases.size, 4 * NEWCOMER_SLOTS)
    await world.start()
    world.join('a', offer(100, { network: 'n1' }))
    world.pass(1_000)
    assert.equal(a.leases.size, 4 * NEWCOMER_SLOTS)
  })

  it('are no fewer where nobody knows their network', async () => {
    const world = await new CoordinatorWorld().start()
    const a = world.join('a', offer(100))
    world.submit(batchId(1), bundles(200), PLAIN)
    assert.equal(a.leases.size, 100)
  })

  it('of one network have sixteen slots together, and whoever waits for one gets it when another leaves', async () => {
    const world = await new CoordinatorWorld().start()
    for (let node = 0; node < 30; node++) world.join(`node ${node}`, offer(1, { network: 'n1' }))
    world.submit(batchId(1), bundles(200), PLAIN)
    assert.equal(heldIn(world, 'node'), newcomersMax)
    const busy = [...world.nodes.values()].filter(({ leases }) => leases.size > 0)
    for (const node of busy.slice(0, 5)) world.apply({ kind: 'bye', node: node.id, seq: ++node.sent })
    const left = new Set(busy.slice(0, 5).map(({ id }) => id))
    assert.equal([...world.nodes.values()].filter(({ id, leases }) => !left.has(id) && leases.size > 0).length, newcomersMax)
  })

  it('that are known leave room for others, and keep theirs when they come back', async () => {
    const world = await new CoordinatorWorld().start()
    const old = world.join('old', offer(40, { network: 'n1' }))
    const other = world.join('other', offer(40, { network: 'n2' }))
    for (let round = 0; round < trustedAfter; round++) {
      world.submit(batchId(round + 1), bundles(1))
      world.work(old, { output: 'the truth' })
      world.work(other, { output: 'the truth' })
    }
    world.submit(batchId(100), bundles(200), PLAIN)
    assert.equal(old.leases.size, 40)
    for (let node = 0; node < 20; node++) world.join(`new ${node}`, offer(1, { network: 'n1' }))
    assert.equal(heldIn(world, 'new'), newcomersMax)
    await world.start()
    world.join('old', offer(60, { network: 'n1' }))
    assert.equal(old.leases.size, 60)
  })

  it('of one owner share their slots, whatever networks they call from', async () => {
    const world = await new CoordinatorWorld().start()
    for (let node = 0; node < 30; node++) world.join(`node ${node}`, offer(1, { network: `n${node}`, owner: 'somebody' }))
    world.submit(batchId(1), bundles(200), PLAIN)
    assert.equal(heldIn(world, 'node'), newcomersMax)
  })

  it('are not those that the administrator vouches for', async () => {
    const world = await new CoordinatorWorld().start()
    const a = world.join('a', offer(100, { network: 'n1', owner: 'admin', vouched: true }))
    world.submit(batchId(1), bundles(200), PLAIN)
    assert.equal(a.leases.size, 100)
  })

  it('are those, too, that were away for longer than a month', async () => {
    const world = await new CoordinatorWorld().start()
    const a = world.join('a', offer(40, { network: 'n1' }))
    for (let round = 0; round < trustedAfter; round++) {
      world.submit(batchId(round + 1), bundles(1), { ...PLAIN, force: true })
      world.work(a, { output: 'the truth' })
    }
    world.apply({ kind: 'bye', node: 'a', seq: ++a.sent })
    world.nowMs += RETURNING_MS + 1
    world.join('a', offer(40, { network: 'n1' }))
    world.submit(batchId(100), bundles(200), PLAIN)
    assert.equal(a.leases.size, NEWCOMER_SLOTS)
  })

  it('do not keep slots from others of their network that they have no use for', async () => {
    const world = await new CoordinatorWorld().start()
    for (let node = 0; node < 40; node++) world.join(`small ${node}`, offer(2, { network: 'n1', memoryBytes: 1024 ** 2 }))
    const large = world.join('large', offer(2, { network: 'n1' }))
    world.submit(batchId(1), bundles(1), PLAIN)
    assert.equal(large.leases.size, 0)
    assert.deepEqual(reasons(world, `${batchId(1)}.0`), [
      ['memory', 40],
      ['newcomer', 1]
    ])
    for (let sweeps = 0; sweeps < 10 && large.leases.size === 0; sweeps++) world.pass(500)
    assert.equal(large.leases.size, 1)
  })

  it('get a task when a run ends whose memory it lacked, though they may not run more than before', async () => {
    const GIB = 1024 ** 3
    const world = await new CoordinatorWorld().start()
    const a = world.join('a', offer(3, { network: 'n1', memoryBytes: 4 * GIB }))
    world.submit(batchId(1), [plainBundle('1', { memoryBytes: 2 * GIB }), plainBundle('2', { memoryBytes: 2 * GIB })], PLAIN)
    world.submit(batchId(2), [plainBundle('3', { memoryBytes: 2 * GIB })], PLAIN)
    world.apply({ kind: 'kill', batch: batchId(1), task: `${batchId(1)}.0`, by: 'owner' })
    // It has a slot, and the killed run its memory.
    assert.deepEqual(reasons(world, `${batchId(2)}.0`), [['memory_taken', 1]])
    world.apply({ kind: 'returned', node: 'a', seq: ++a.sent, replicas: [{ replica: `${batchId(1)}.0.1`, class: 'cancelled', code: '', message: '' }] })
    assert.ok(a.leases.has(`${batchId(2)}.0.1`))
  })

  it('never have more slots of one network than are allowed, whoever comes, goes, works and errs', async () => {
    const step = fc.record({
      node: fc.nat({ max: 7 }),
      how: fc.constantFrom('join' as const, 'join' as const, 'work' as const, 'lie' as const, 'gone' as const)
    })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const world = await new CoordinatorWorld({ ...DEFAULT_COORDINATOR_POLICY, newcomersMax: 5, trustedAfter: 1_000_000 }).start()
        world.submit(batchId(1), bundles(60))
        for (const { node, how } of steps) {
          const id = `node ${node}`
          const known = world.nodes.get(id)
          if (how === 'join' || known === undefined) world.join(id, offer(3, { network: node < 5 ? 'n1' : '' }))
          else if (how === 'gone') world.apply({ kind: 'gone', node: id })
          else world.work(known, { output: how === 'lie' ? id : 'the truth' })
          const held = [0, 1, 2, 3, 4].reduce((sum, one) => sum + (world.nodes.get(`node ${one}`)?.leases.size ?? 0), 0)
          assert.ok(held <= 5, `${held} replicas at once`)
        }
      }),
      { numRuns: 60 }
    )
  })
})

/** Must show 5: they take what they are given and lie, all alike, or sit on it. */
it('a thousand identities from one network: honest nodes decide at least 95 % of what they did without them, and no lie is accepted', async () => {
  const rounds = 40
  const decided: number[] = []
  for (const strangers of [0, 1_000]) {
    const world = await new CoordinatorWorld().start()
    const honest = Array.from({ length: 50 }, (_, node) => world.join(`honest ${node}`, offer(1, { network: `home ${node}` })))
    const sybils = Array.from({ length: strangers }, (_, node) => world.join(`sybil ${node}`, offer(1, { network: 'one place' })))
    world.submit(batchId(1), bundles(5_000))
    for (let round = 0; round < rounds; round++) {
      for (const node of honest) world.work(node, { output: 'the truth' })
      for (const [index, node] of sybils.entries()) if (node.leases.size > 0 && index % 2 === 0) world.work(node, { output: 'the lie' })
      assert.ok(heldIn(world, 'sybil') <= newcomersMax)
    }
    const truth = [...world.receipts.values()].map(({ vote }) => vote)
    assert.equal(new Set(truth).size, 1, 'a lie was accepted')
    decided.push(truth.length)
  }
  const [without = 0, among = 0] = decided
  assert.ok(without > 900, `${without} tasks`)
  assert.ok(among >= 0.95 * without, `${among} tasks among a thousand strangers, ${without} without them`)
})

/** F18, F24: whoever is busy is no reason to believe two of one place. They answer at once, honest nodes after ten minutes, or a minute. */
describe('identities of one network that answer faster than all others', () => {
  const STEP_MS = 5_000
  /** As many of an honest node, one after the other. */
  const RUNS = 12

  /** The votes that were agreed on in the time of so many runs. */
  async function decidedAmong(strangers: number, runMs: number): Promise<readonly string[]> {
    const world = await new CoordinatorWorld().start()
    const honest = Array.from({ length: 20 }, (_, node) => world.join(`honest ${node}`, offer(1, { network: `home ${node}` })))
    const sybils = Array.from({ length: strangers }, (_, node) => world.join(`sybil ${node}`, offer(1, { network: 'one place' })))
    world.submit(batchId(1), bundles(1_000))
    const endMs = world.nowMs + RUNS * runMs
    const heldSinceMs = new Map<string, number>()
    while (world.nowMs < endMs) {
      world.nowMs += STEP_MS
      for (const { id } of world.nodes.values()) world.coordinator.apply({ kind: 'heartbeat', node: id }, world.nowMs)
      world.apply({ kind: 'tick' })
      for (const node of honest)
        for (const replica of [...node.leases.keys()]) {
          const sinceMs = heldSinceMs.get(replica) ?? world.nowMs
          heldSinceMs.set(replica, sinceMs)
          if (world.nowMs - sinceMs >= runMs) world.report(node, replica, { output: 'the truth' })
        }
      for (const node of sybils) if (node.leases.size > 0) world.work(node, { output: 'the lie' })
    }
    return [...world.receipts.values()].map(({ vote }) => vote)
  }

  for (const [strangers, minutes] of [
    [2, 10],
    [100, 1],
    [100, 10]
  ] as const)
    it(`${strangers} beside 20 nodes whose runs take ${minutes} min: no lie is accepted, and no less gets done`, async () => {
      const without = await decidedAmong(0, minutes * 60_000)
      const decided = await decidedAmong(strangers, minutes * 60_000)
      assert.deepEqual(new Set(decided), new Set(without), 'a lie was accepted')
      assert.ok(without.length >= 80 && decided.length >= 0.9 * without.length, `${decided.length} tasks among strangers, ${without.length} without them`)
    })
})
