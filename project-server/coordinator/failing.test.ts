import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { Sources } from '#protocol/bundle/sources'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, offer, PROJECT, plainBundle } from '#test/support/coordinator-parts'
import { decodeBatchRecord } from './batch-records.ts'
import { batchKey } from './keys.ts'

const BATCH = batchId(1)
const ONE = { minQuorum: 1, targetResults: 1, copies: 'never' as const }

const bundles = (count: number) => Array.from({ length: count }, (_, index) => plainBundle(`${index}`))

/** The node's runs end one after the other, by their task's index, until it has none or nothing more may happen. */
function work(world: CoordinatorWorld, node: ScriptedNode, exitCode: (index: number) => number): void {
  for (let [replica] = node.leases.keys(); replica !== undefined; [replica] = node.leases.keys())
    world.report(node, replica, { exitCode: exitCode(Number(replica.split('.')[1])) })
}

function held(world: CoordinatorWorld): { readonly by: string; readonly reason: string } | null {
  return world.coordinator.batch(BATCH)?.held ?? null
}

describe('a batch that only fails (F10)', () => {
  it('is held when a tenth of it has failed and none succeeded, and says why; a release lets it go on to its end', async () => {
    const world = await new CoordinatorWorld().start()
    const node = world.join('a')
    world.submit(BATCH, bundles(200), ONE)
    work(world, node, () => 1)
    assert.equal(world.coordinator.batch(BATCH)?.failed, 20)
    assert.equal(held(world)?.by, PROJECT)
    assert.match(held(world)?.reason ?? '', /^20 of its 200 tasks failed and none succeeded/)
    assert.equal(world.coordinator.why(BATCH)?.held?.reason, held(world)?.reason)
    // It is so after a restart.
    await world.start()
    world.join('a')
    assert.match(held(world)?.reason ?? '', /^20 of its 200 tasks failed/)
    assert.equal(node.leases.size, 0)
    world.nowMs += 1
    world.apply({ kind: 'release', batch: BATCH, by: 'owner' })
    work(world, node, () => 1)
    assert.equal(world.coordinator.batch(BATCH), undefined)
    assert.equal(world.record(`${BATCH}.199`).state, 'failed')
  })

  it('is not held while what a task of it left is still being fetched: that has succeeded, over a restart too', async () => {
    for (const restarts of [false, true]) {
      const world = await new CoordinatorWorld().start()
      world.pulls = false
      const node = world.join('a', offer(2))
      world.submit(BATCH, bundles(40), ONE)
      world.report(node, `${BATCH}.0.1`, { output: 'large' })
      assert.equal(world.record(`${BATCH}.0`).state, 'validating')
      if (restarts) {
        await world.start()
        world.join('a', offer(2))
      }
      for (let [replica] = node.leases.keys(); replica !== undefined; [replica] = node.leases.keys()) {
        if (!node.granted.has(replica)) world.begin(node, replica)
        world.report(node, replica, { exitCode: 1 })
      }
      assert.deepEqual([held(world), world.coordinator.batch(BATCH)?.failed], [null, 39])
    }
  })

  it('is held exactly when it should be, whichever tasks fail', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 2, max: 140 }), fc.integer({ min: 0, max: 30 }), async (tasks, firstGood) => {
        const world = await new CoordinatorWorld().start()
        const node = world.join('a')
        world.submit(BATCH, bundles(tasks), ONE)
        work(world, node, (index) => (index === firstGood ? 0 : 1))
        const failsMax = Math.max(10, Math.ceil(tasks / 10))
        const shouldHold = failsMax < tasks && firstGood >= failsMax
        assert.equal(held(world) !== null, shouldHold, `${tasks} tasks, the first good one is ${firstGood}`)
      }),
      { numRuns: 40 }
    )
  })
})

describe('a batch with sources that only fails (F10)', () => {
  const after = (from: number): Sources => ({ allowFailed: true, list: [{ name: '', of: '', from, count: 1, part: 'after', path: '' }] })

  it('is held as others are: that a task has all it takes from others is no release', async () => {
    const world = await new CoordinatorWorld().start()
    const node = world.join('a')
    const sources = new Map(Array.from({ length: 20 }, (_, index) => [index + 20, after(index)] as const))
    world.submit(BATCH, bundles(40), ONE, { sources })
    world.nowMs += 1
    work(world, node, () => 1)
    assert.match(held(world)?.reason ?? '', /^10 of its 40 tasks failed and none succeeded/)
    world.nowMs += 1
    world.apply({ kind: 'release', batch: BATCH, by: 'owner' })
    // Nor does a restart forget that somebody released it.
    await world.start()
    world.join('a')
    work(world, node, () => 1)
    assert.equal(world.coordinator.batch(BATCH), undefined)
  })

  it('is not held for tasks that failed for another and were never run', async () => {
    const world = await new CoordinatorWorld().start()
    const node = world.join('a')
    // The first task is what twenty others take something from; those after them take nothing.
    const sources = new Map(Array.from({ length: 20 }, (_, index) => [index + 1, { ...after(0), allowFailed: false }] as const))
    world.submit(BATCH, bundles(30), ONE, { sources })
    work(world, node, (index) => (index === 0 || index === 21 ? 1 : 0))
    assert.equal(held(world), null)
    const { failed, ready } = decodeBatchRecord(world.store.peek(batchKey(BATCH)) ?? new Uint8Array())
    assert.deepEqual({ failed, ready }, { failed: 22, ready: 8 })
  })
})

describe('a task whose runs take their nodes down (F11)', () => {
  const K = { ...ONE, maxErrorResults: 8 }

  /** A node takes the task and falls silent `ms` later. */
  function die(world: CoordinatorWorld, id: string, ms: number): void {
    const node = world.join(id, offer(1))
    world.pass(ms)
    world.pass(20_000, [node])
    world.nodes.delete(id)
  }

  it('is held after three deaths, with the names of the nodes; a fleet is not taken down by it', async () => {
    const world = await new CoordinatorWorld().start()
    world.submit(BATCH, bundles(1), K)
    for (const id of ['a', 'b', 'c', 'd']) die(world, id, 1_000)
    const record = world.record(`${BATCH}.0`)
    assert.equal(record.replicas.length, 3)
    assert.match(record.held?.reason ?? '', /^3 nodes fell silent soon after they began to run it: a node, a node, a node/)
    assert.equal(world.coordinator.why(`${BATCH}.0`)?.held?.by, PROJECT)
    // Released it goes on, and those before are held against it no more.
    world.apply({ kind: 'release', batch: BATCH, task: `${BATCH}.0`, by: 'owner' })
    for (const id of ['e', 'f']) die(world, id, 1_000)
    assert.equal(world.record(`${BATCH}.0`).held, null)
    world.work(world.join('g', offer(1)), { output: 'truth' })
    assert.equal(world.record(`${BATCH}.0`).state, 'ready')
  })

  it('is not held for nodes that come and go, nor does a node get it again that died with it', async () => {
    const world = await new CoordinatorWorld().start()
    world.submit(BATCH, [plainBundle('0', { timeMs: 86_400_000 })], K)
    for (const id of ['a', 'b', 'c', 'd']) die(world, id, 700_000)
    assert.equal(world.record(`${BATCH}.0`).held, null)
    assert.equal(new Set(world.record(`${BATCH}.0`).replicas.map(({ node }) => node)).size, 4)
  })
})
