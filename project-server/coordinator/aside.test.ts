import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { DEFAULT_POLICY, type TaskPolicy } from '#protocol/bundle/policy'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, bundle, offer } from '#test/support/coordinator-parts'
import { DEFAULT_COORDINATOR_POLICY } from './policy.ts'

const DAY_MS = 86_400_000
const FAILURES_MAX = DEFAULT_COORDINATOR_POLICY.failuresMax
const ONE: TaskPolicy = { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1, maxErrorResults: 3, maxTotalResults: 8 }

/** Gives back all that the node has, and what it gets then, as long as it gets any; answers how many that were. */
function failAtAll(world: CoordinatorWorld, node: ScriptedNode): number {
  let count = 0
  for (let [replica] = node.leases.keys(); replica !== undefined; [replica] = node.leases.keys()) {
    world.giveBack(node, replica, 'node', 'the disk is broken')
    count++
  }
  return count
}

function stateOf(world: CoordinatorWorld, id: string): string | undefined {
  return world.coordinator.nodes().find((node) => node.id === id)?.state
}

describe('F11: a node that fails at everything', () => {
  it('is set aside, longer each time, while others do the work; one good run takes it back', async () => {
    const world = await new CoordinatorWorld().start()
    const bad = world.join('bad')
    world.submit(
      batchId(1),
      Array.from({ length: 40 }, (_, index) => bundle(`${index}`)),
      ONE
    )
    assert.equal(failAtAll(world, bad), FAILURES_MAX)
    assert.equal(stateOf(world, 'bad'), 'set aside')
    const waits = world.coordinator.why(batchId(1))
    assert.deepEqual([waits?.waitsFor, waits?.nodes?.map(({ reason }) => reason)], ['node', ['had_it']])
    assert.deepEqual(
      world.coordinator.why(`${batchId(1)}.9`)?.nodes?.map(({ reason }) => reason),
      ['set_aside']
    )
    for (const minutes of [1, 2, 4]) {
      world.pass(minutes * 60_000 - 1_000)
      assert.equal(bad.leases.size, 0, `set aside for ${minutes} min`)
      world.pass(1_000)
      assert.equal(bad.leases.size, 1)
      assert.equal(failAtAll(world, bad), 1)
    }
    world.pass(8 * 60_000)
    world.work(bad, { output: 'the truth' })
    assert.equal(stateOf(world, 'bad'), 'online')
    // From here on it takes five again.
    assert.equal(failAtAll(world, bad), FAILURES_MAX)
  })

  it('is set aside for a day after a wrong result when most of its results are wrong, twice as long after each further one up to 16 days, and comes back for good when it is right', async () => {
    const world = await new CoordinatorWorld().start()
    for (const id of ['a', 'b', 'c', 'liar']) world.join(id)
    const liar = world.nodes.get('liar')
    assert.ok(liar !== undefined)
    /** So many lies of a batch that the others finish. */
    const liesIn = (batch: number): number => {
      world.submit(
        batchId(batch),
        Array.from({ length: 40 }, (_, index) => bundle(`${batch} ${index}`)),
        { minQuorum: 2, targetResults: 2 }
      )
      let lies = 0
      while (world.coordinator.batch(batchId(batch)) !== undefined) {
        lies += liar.leases.size
        for (const node of world.nodes.values()) world.work(node, { output: node === liar ? 'a lie' : 'the truth' })
      }
      return lies
    }
    const lies = liesIn(1)
    // It may have some more before others have looked at what it said.
    assert.ok(lies >= 4 && lies <= 8, `${lies} lies`)
    const daysAside = (): number => {
      let days = 0
      for (; stateOf(world, 'liar') === 'set aside'; days++) world.pass(DAY_MS, [], DAY_MS / 24)
      return days
    }
    for (let turn = 1; turn <= 5; turn++) {
      assert.equal(stateOf(world, 'liar'), 'set aside')
      const surely = Math.round(10 * (world.coordinator.nodes().find(({ id }) => id === 'liar')?.errorRate ?? 0))
      assert.equal(liesIn(2 * turn), 0)
      assert.equal(daysAside(), 2 ** Math.min(4, surely - 5))
      const more = liesIn(2 * turn + 1)
      assert.ok(more > 0 && more <= 4, `${more} lies in turn ${turn}`)
    }
    assert.equal(daysAside(), 16)
    // Somebody mended it.
    world.submit(batchId(100), [bundle('at last')], { minQuorum: 4, targetResults: 4 })
    for (const node of world.nodes.values()) world.work(node, { output: 'the truth' })
    assert.equal(world.record(`${batchId(100)}.0`).state, 'ready')
    assert.equal(stateOf(world, 'liar'), 'online')
  })

  it('is not set aside for wrong results where more than a third of all would be', async () => {
    const world = await new CoordinatorWorld().start()
    for (const id of ['a', 'b', 'c', 'one', 'another']) world.join(id)
    world.submit(
      batchId(1),
      Array.from({ length: 60 }, (_, index) => bundle(`${index}`)),
      { minQuorum: 2, targetResults: 2, maxErrorResults: 20, maxTotalResults: 20, maxSuccessResults: 20 }
    )
    while (world.coordinator.batch(batchId(1)) !== undefined)
      for (const node of world.nodes.values()) world.work(node, { output: node.id.length === 1 ? 'the truth' : `a lie of ${node.id}` })
    assert.deepEqual(['one', 'another'].map((id) => stateOf(world, id)).sort(), ['online', 'set aside'])
  })

  it('costs no task its attempts: a batch among good nodes ends well', async () => {
    const world = await new CoordinatorWorld().start()
    const bad = world.join('bad', offer(2))
    const good = world.join('good', offer(2))
    world.submit(
      batchId(1),
      Array.from({ length: 60 }, (_, index) => bundle(`${index}`)),
      ONE
    )
    for (let turn = 0; turn < 100; turn++) {
      failAtAll(world, bad)
      world.work(good, { output: 'the truth' })
      world.pass(500)
    }
    for (let index = 0; index < 60; index++) assert.equal(world.record(`${batchId(1)}.${index}`).state, 'ready')
    assert.ok(world.counts('bad').errors <= FAILURES_MAX + 1)
  })

  it('is not one that was lost once with many tasks, nor one whose owner takes them back', async () => {
    const world = await new CoordinatorWorld().start()
    const large = world.join('large', offer(8))
    world.submit(
      batchId(1),
      Array.from({ length: 30 }, (_, index) => bundle(`${index}`)),
      ONE
    )
    for (const replica of [...large.leases.keys()]) world.giveBack(large, replica, 'owner', 'the machine is needed')
    assert.equal(stateOf(world, 'large'), 'online')
    world.pass(30_000, [large])
    assert.equal(stateOf(world, 'large'), 'lost')
    world.join('large', offer(8))
    assert.equal(stateOf(world, 'large'), 'online')
    assert.equal(large.leases.size, 8)
  })
})
