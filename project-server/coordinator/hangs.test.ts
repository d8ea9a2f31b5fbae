import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_POLICY, type TaskPolicy } from '#protocol/bundle/policy'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, bundle, offer } from '#test/support/coordinator-parts'
import { DEFAULT_COORDINATOR_POLICY } from './policy.ts'

const SILENCE_MS = 10_000
const ONE: TaskPolicy = { ...DEFAULT_POLICY, minQuorum: 1, targetResults: 1 }
const TASK = `${batchId(1)}.0`

const watched = (name: string) => bundle(name, { resources: { silenceMs: SILENCE_MS } })

/** The node starts what it has, and its runs give no sign of life. */
function hang(world: CoordinatorWorld, node: ScriptedNode): void {
  for (const replica of [...node.leases.keys()]) world.begin(node, replica)
  world.pass(SILENCE_MS)
  for (const replica of [...node.leases.keys()]) world.giveBack(node, replica, 'task', 'nothing printed')
}

function holderOf(world: CoordinatorWorld): ScriptedNode {
  const found = [...world.nodes.values()].find(({ leases }) => leases.size > 0)
  assert.ok(found, 'nobody has it')
  return found
}

describe('F13: runs that hang', () => {
  it('go to other nodes, as many times as attempts may fail, and then the task fails as one that hangs', async () => {
    const world = await new CoordinatorWorld().start()
    for (const id of ['ann', 'bob', 'cid', 'dan']) world.join(id)
    world.submit(batchId(1), [watched('a')], ONE)
    for (let attempt = 1; attempt <= ONE.maxErrorResults; attempt++) {
      assert.equal(world.record(TASK).replicas.length, attempt)
      hang(world, holderOf(world))
    }
    const { state, failure, replicas } = world.record(TASK)
    assert.deepEqual([state, failure?.code, new Set(replicas.map(({ node }) => node)).size], ['failed', 'hang', ONE.maxErrorResults])
  })

  it('are told to whoever asks why', async () => {
    const world = await new CoordinatorWorld().start()
    world.join('ann')
    world.submit(batchId(1), [watched('a')], ONE)
    hang(world, holderOf(world))
    const view = world.coordinator.why(TASK)
    assert.deepEqual([view?.waitsFor, view?.faults], ['node', [{ attempt: 1, node: 'ann', nodeName: 'a node', state: 'returned', message: 'nothing printed' }]])
  })

  it('are the fault of the task as long as nobody else runs it to its end, and of the node from then on', async () => {
    const world = await new CoordinatorWorld().start()
    const ann = world.join('ann')
    world.submit(batchId(1), [watched('a')], ONE)
    hang(world, ann)
    assert.equal(world.counts('ann').errors, 0)
    const bob = world.join('bob')
    world.work(bob, { output: 'the truth' })
    assert.equal(world.record(TASK).state, 'ready')
    assert.equal(world.counts('ann').errors, 1)
  })

  it('of one node alone set it aside: it cannot hide behind the tasks', async () => {
    const world = await new CoordinatorWorld().start()
    const { failuresMax } = DEFAULT_COORDINATOR_POLICY
    for (let number = 1; number <= failuresMax; number++) {
      const ann = world.join('ann')
      world.submit(batchId(number), [watched(`${number}`)], ONE)
      hang(world, ann)
      const bob = world.join('bob')
      world.work(bob, { output: 'the truth' })
      world.apply({ kind: 'gone', node: 'bob' })
    }
    assert.equal(world.coordinator.nodes().find(({ id }) => id === 'ann')?.state, 'set aside')
  })

  it('are no hangs where nobody asked for it, or too soon: then the node is at fault', async () => {
    for (const [asked, afterMs] of [
      [bundle('a'), SILENCE_MS],
      [watched('a'), 1_000]
    ] as const) {
      const world = await new CoordinatorWorld().start()
      const ann = world.join('ann')
      world.submit(batchId(1), [asked], ONE)
      const [replica = ''] = ann.leases.keys()
      world.begin(ann, replica)
      world.pass(afterMs)
      world.giveBack(ann, replica, 'task')
      assert.deepEqual([world.record(TASK).replicas[0]?.fault?.class, world.counts('ann').errors], ['node', 1])
    }
  })

  it('never decide a task, and never cost more than the budget of failures', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.constantFrom('hang', 'break', 'truth'), { minLength: 8, maxLength: 8 }),
        fc.integer({ min: 1, max: 3 }),
        async (ends, quorum) => {
          const policy: TaskPolicy = { ...DEFAULT_POLICY, minQuorum: quorum, targetResults: quorum }
          const world = await new CoordinatorWorld().start()
          const nodes = Array.from({ length: 8 }, (_, index) => world.join(`node ${index}`, offer(1)))
          world.submit(batchId(1), [watched('a')], policy)
          let [hung, broken, truths] = [0, 0, 0]
          for (const [index, end] of ends.entries()) {
            const node = nodes.find(({ leases }) => leases.size > 0)
            if (node === undefined) break
            const [replica = ''] = node.leases.keys()
            world.begin(node, replica)
            if (end === 'truth') world.report(node, replica, { output: 'the truth' })
            else if (end === 'break') world.giveBack(node, replica, 'node')
            else {
              world.pass(SILENCE_MS)
              world.giveBack(node, replica, 'task')
            }
            if (end === 'truth') truths++
            else if (end === 'hang') hung++
            else broken++
            const { state, failure } = world.record(TASK)
            const failed = hung + broken >= policy.maxErrorResults && truths < quorum
            assert.equal(state === 'ready', truths >= quorum, `${index}`)
            assert.equal(failure?.code, failed ? (broken === 0 ? 'hang' : 'too_many_errors') : undefined)
          }
        }
      ),
      { numRuns: 60 }
    )
  })
})
