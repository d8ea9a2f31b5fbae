import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, bundle, plainBundle } from '#test/support/coordinator-parts'

import { CLOCKS_DIFFER_SHARE, RUN_SLACK_MS } from './policy.ts'

const BATCH = batchId(1)
const TASK = `${BATCH}.0`
const NAMED = { minQuorum: 1, targetResults: 1, nodes: ['a'], copies: 'never' as const }

async function town(): Promise<{ world: CoordinatorWorld; node: ScriptedNode }> {
  const world = await new CoordinatorWorld().start()
  const node = world.join('a')
  world.join('b')
  world.submit(BATCH, [bundle('x')], NAMED)
  return { world, node }
}

/** What the node holds of the task now. */
function leaseOf(node: ScriptedNode): string {
  const [lease = ''] = node.leases.keys()
  return lease
}

describe('a task for named nodes', () => {
  it('is tried again on its only node after a fault of that, and fails when its budget is used up', async () => {
    const { world, node } = await town()
    for (let attempt = 1; attempt <= 3; attempt++) {
      assert.equal(leaseOf(node), `${TASK}.${attempt}`)
      world.giveBack(node, leaseOf(node), 'node')
    }
    assert.deepEqual([world.record(TASK).state, world.record(TASK).failure?.code], ['failed', 'too_many_errors'])
  })

  it('is tried again on its only node after that was lost and began anew', async () => {
    const { world, node } = await town()
    world.begin(node, leaseOf(node))
    world.pass(20_000, [node])
    assert.equal(world.states(TASK), 'a lost')
    node.leases.clear()
    node.link = 'another'
    node.sent = 0
    node.received = 0
    world.join('a')
    assert.equal(world.states(TASK), 'a lost, a leased')
    world.work(node, { output: 'made' })
    assert.equal(world.record(TASK).state, 'ready')
  })

  it('takes no second vote of a node whose lost run reports after the next one began', async () => {
    const { world, node } = await town()
    const first = leaseOf(node)
    world.begin(node, first)
    const lease = node.leases.get(first)
    world.pass(60_000 * (1 + CLOCKS_DIFFER_SHARE) + RUN_SLACK_MS + 16_000)
    assert.equal(world.states(TASK), 'a lost, a leased')
    if (lease !== undefined) node.leases.set(first, lease)
    world.report(node, first, { output: 'late' })
    assert.equal(world.states(TASK), 'a lost, a leased')
    // Nor does it take it up again when it lists both.
    if (lease !== undefined) node.leases.set(first, lease)
    world.join('a')
    assert.equal(world.states(TASK), 'a lost, a leased')
    node.leases.delete(first)
    world.work(node, { output: 'made' })
    assert.equal(world.record(TASK).state, 'ready')
    assert.deepEqual(
      world.record(TASK).replicas.map(({ vote }) => vote !== null),
      [false, true]
    )
  })

  it('believes its only node that finds the input at fault', async () => {
    const { world, node } = await town()
    world.giveBack(node, leaseOf(node), 'input', 'no such input')
    assert.deepEqual([world.record(TASK).state, world.record(TASK).failure], ['failed', { code: 'input', message: 'no such input' }])
  })

  /** Nobody hands over what was agreed, three times; then its nodes are asked no more. */
  function lose(world: CoordinatorWorld): void {
    for (let round = 0; round < 4; round++) {
      world.apply({ kind: 'pulled', task: TASK, node: 'a', ok: false, message: 'gone' })
      world.pass(5_500)
    }
    world.pulls = true
  }

  it('is computed again on its only node when nobody has the agreed output, which is one voice still', async () => {
    const { world, node } = await town()
    world.pulls = false
    world.work(node, { output: 'made' })
    lose(world)
    assert.equal(world.states(TASK), 'a reported, a leased')
    // After a restart nobody is asked again for what was lost.
    await world.start()
    world.join('a')
    assert.equal(world.states(TASK), 'a reported, a leased')
    world.work(node, { output: 'made' })
    assert.equal(world.record(TASK).state, 'ready')
    assert.equal(world.receipts.get(TASK)?.results.length, 1)
    assert.deepEqual(world.counts('a'), { valid: 2, invalid: 0, errors: 0, lost: 0 })
  })

  it('is computed again on those of its nodes that were cancelled when it was decided, too', async () => {
    const world = await new CoordinatorWorld().start()
    const [a, b] = [world.join('a'), world.join('b')]
    world.pulls = false
    world.submit(BATCH, [plainBundle('x')], { ...NAMED, targetResults: 2, nodes: ['a', 'b'] })
    world.work(a, { output: 'made' })
    world.apply({ kind: 'gone', node: 'a' })
    world.nodes.delete('a')
    world.apply({ kind: 'pulled', task: TASK, node: 'a', ok: false, message: 'gone' })
    world.pass(700_000)
    world.pulls = true
    assert.equal(world.states(TASK), 'a reported, b cancelled, b running')
    world.work(b, { output: 'made' })
    assert.equal(world.record(TASK).state, 'ready')
    assert.equal(world.receipts.get(TASK)?.results.length, 2)
  })

  it('of a quorum goes to no node that has voted', async () => {
    const world = await new CoordinatorWorld().start()
    const [a, b] = [world.join('a'), world.join('b')]
    world.submit(BATCH, [plainBundle('x')], { ...NAMED, minQuorum: 2, targetResults: 2, nodes: ['a', 'b'] })
    world.work(a, { output: 'made' })
    world.giveBack(b, leaseOf(b), 'node')
    assert.equal(world.states(TASK), 'a reported, b returned, b running')
    world.work(b, { output: 'made' })
    assert.equal(world.record(TASK).state, 'ready')
  })
})
