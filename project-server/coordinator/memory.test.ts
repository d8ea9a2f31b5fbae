import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_POLICY, policyFault, type TaskPolicy } from '#protocol/bundle/policy'
import { decodeResult } from '#protocol/result/result'
import { CoordinatorWorld, type ScriptedNode } from '#test/support/coordinator'
import { batchId, bundle, offer } from '#test/support/coordinator-parts'

const GIB = 1024 ** 3
const TASK = `${batchId(1)}.0`
const TWO: TaskPolicy = { ...DEFAULT_POLICY, retryMemoryBytes: 8 * GIB }
const ONE: TaskPolicy = { ...TWO, minQuorum: 1, targetResults: 1 }

/** Starts all that the node has, and is ended for its memory. */
function starve(world: CoordinatorWorld, node: ScriptedNode): void {
  world.work(node, { reason: 'memory', exitCode: 137 })
}

describe('F09: a task of which a run was ended for its memory', () => {
  it('is tried once more with what its owner said, by the same node if need be, and its receipt is like any other', async () => {
    const world = await new CoordinatorWorld().start()
    const ann = world.join('ann', offer(1, { memoryBytes: 16 * GIB }))
    world.submit(batchId(1), [bundle('a')], ONE)
    starve(world, ann)
    const [replica = ''] = ann.leases.keys()
    assert.equal(replica, `${TASK}.2`)
    assert.deepEqual(
      world.record(TASK).replicas.map(({ memoryBytes }) => memoryBytes),
      [0, 8 * GIB]
    )
    world.work(ann, { output: 'the truth' })
    const { state, decision } = world.record(TASK)
    const receipt = world.receipts.get(TASK)
    assert.deepEqual([state, receipt?.vote, receipt?.dissent], ['ready', decision?.vote, []])
    const [result] = receipt?.results ?? []
    assert.equal(decodeResult(result ?? new Uint8Array())?.bundle.toString(), bundle('a').cid)
    assert.deepEqual(world.counts('ann'), { valid: 1, invalid: 0, errors: 0, lost: 0 })
  })

  it('fails for its memory when that was not enough either', async () => {
    const world = await new CoordinatorWorld().start()
    const ann = world.join('ann')
    const bob = world.join('bob')
    world.submit(batchId(1), [bundle('a')], TWO)
    for (let round = 0; round < 2; round++) for (const node of [ann, bob]) starve(world, node)
    const { state, failure, replicas } = world.record(TASK)
    assert.deepEqual([state, failure?.code, replicas.length], ['failed', 'memory', 4])
  })

  it('waits for a node that has so much free, is leased nowhere else, and says so', async () => {
    const world = await new CoordinatorWorld().start()
    const small = world.join('small', offer(2, { memoryBytes: 6 * GIB }))
    world.submit(batchId(1), [bundle('a')], ONE)
    starve(world, small)
    assert.equal(small.leases.size, 0)
    const view = world.coordinator.why(TASK)
    assert.deepEqual([view?.waitsFor, view?.nearest?.requirement, view?.nearest?.needs], ['node', 'memory', 8 * GIB])
    assert.match(view?.faults?.[0]?.message ?? '', /ended for its memory of 1073741824 bytes; the next try has 8589934592/)
    const large = world.join('large', offer(2, { memoryBytes: 9 * GIB }))
    assert.equal(large.leases.size, 1)
    // Beside it there is room for one more gibibyte, not for two.
    world.submit(batchId(2), [bundle('b', { resources: { memoryBytes: 2 * GIB } })], { ...ONE, nodes: ['large'] })
    assert.equal(large.leases.size, 1)
    world.submit(batchId(3), [bundle('c')], { ...ONE, nodes: ['large'] })
    assert.equal(large.leases.size, 2)
  })

  it('tells its node how much it has, and has that over a restart of the coordinator', async () => {
    const world = await new CoordinatorWorld().start()
    const ann = world.join('ann', offer(1, { memoryBytes: 10 * GIB }))
    world.submit(batchId(1), [bundle('a')], ONE)
    starve(world, ann)
    await world.start()
    world.join('ann', offer(2, { memoryBytes: 10 * GIB }))
    assert.deepEqual(world.record(TASK).replicas[1]?.memoryBytes, 8 * GIB)
    // What it has is taken.
    world.submit(batchId(2), [bundle('b', { resources: { memoryBytes: 3 * GIB } })], ONE)
    assert.equal(ann.leases.size, 1)
    world.work(ann, { output: 'the truth' })
    assert.equal(world.record(TASK).state, 'ready')
  })

  it('is nothing of the kind where nobody asked for it: then nodes agree that it needs too much', async () => {
    const world = await new CoordinatorWorld().start()
    const ann = world.join('ann')
    world.submit(batchId(1), [bundle('a')], { ...ONE, retryMemoryBytes: 0 })
    starve(world, ann)
    assert.deepEqual([world.record(TASK).state, world.record(TASK).failure?.code], ['failed', 'memory'])
  })

  it('which others ran to its end in as much was ended by the fault of its node', async () => {
    const world = await new CoordinatorWorld().start()
    const ann = world.join('ann')
    const bob = world.join('bob')
    world.submit(batchId(1), [bundle('a')], TWO)
    starve(world, ann)
    world.work(bob, { output: 'the truth' })
    world.work(ann, { output: 'the truth' })
    assert.equal(world.record(TASK).state, 'ready')
    assert.deepEqual(world.counts('ann'), { valid: 1, invalid: 0, errors: 1, lost: 0 })
  })

  it('cannot be asked for with less than the first try, nor with too few replicas', async () => {
    const world = await new CoordinatorWorld().start()
    const submit = { kind: 'submit', batch: batchId(1), name: '', by: 'owner', bundles: [bundle('a')], more: false, seed: 1 } as const
    assert.match(world.coordinator.refusal({ ...submit, policy: { ...ONE, retryMemoryBytes: GIB } })?.message ?? '', /no more than the 1073741824/)
    assert.match(policyFault({ ...TWO, maxTotalResults: 3 }) ?? '', /may take 2 times the 2 replicas/)
    assert.equal(policyFault({ ...TWO, maxTotalResults: 4 }), undefined)
  })

  it('is decided as if the first tries had never been, whoever reports in whatever order', async () => {
    const ends = fc.array(fc.constantFrom('truth', 'memory', 'break'), { minLength: 12, maxLength: 12 })
    await fc.assert(
      fc.asyncProperty(ends, fc.integer({ min: 1, max: 3 }), fc.boolean(), async (list, quorum, crash) => {
        const policy: TaskPolicy = { ...TWO, minQuorum: quorum, targetResults: quorum }
        const world = await new CoordinatorWorld().start()
        const nodes = Array.from({ length: 8 }, (_, index) => world.join(`node ${index}`))
        world.submit(batchId(1), [bundle('a')], policy)
        let [truths, starved, broken, wasRaised] = [0, 0, 0, false]
        for (const end of list) {
          const node = nodes.find(({ leases }) => leases.size > 0)
          if (node === undefined) break
          const [replica = ''] = node.leases.keys()
          const leased = world.record(TASK).replicas.find(({ attempt }) => replica === `${TASK}.${attempt}`)?.memoryBytes
          world.begin(node, replica)
          if (end === 'break') world.giveBack(node, replica, 'node')
          else world.report(node, replica, end === 'truth' ? { output: 'the truth' } : { reason: 'memory' })
          if (end === 'truth') truths++
          else if (end === 'break') broken++
          else if (leased === policy.retryMemoryBytes) starved++
          else wasRaised = true
          const { state, failure, replicas } = world.record(TASK)
          assert.equal(state === 'ready', truths >= quorum)
          assert.equal(failure?.code === 'memory', starved >= quorum && truths < quorum)
          assert.equal(
            replicas.some(({ memoryBytes }) => memoryBytes > 0),
            wasRaised && replicas.length > quorum
          )
          assert.ok(replicas.length <= policy.maxTotalResults && broken <= policy.maxErrorResults)
          if (crash && state === 'running') {
            await world.start()
            for (const one of nodes) world.join(one.id)
          }
        }
      }),
      { numRuns: 100 }
    )
  })
})
