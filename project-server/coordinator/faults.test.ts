import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle } from '#test/support/coordinator-parts'

const A = batchId(1)
const T = `${A}.0`
/** DCS's K, and BOINC's bounds wide enough that they never decide. */
const K = 3
const nodes = fc.integer({ min: 4, max: 10 })
const quorum = fc.integer({ min: 1, max: 3 })

async function play(count: number, minQuorum: number, end: (world: CoordinatorWorld, replica: string, node: string) => void): Promise<CoordinatorWorld> {
  const world = await new CoordinatorWorld().start()
  for (let index = 0; index < count; index++) world.join(`node ${index}`)
  world.submit(A, [bundle('x')], { minQuorum, targetResults: minQuorum, maxErrorResults: K, maxTotalResults: 10, copies: 'never' })
  for (let holder = holderIn(world); holder !== undefined; holder = holderIn(world)) {
    const [replica = ''] = holder.leases.keys()
    world.begin(holder, replica)
    end(world, replica, holder.id)
  }
  return world
}

function holderIn(world: CoordinatorWorld) {
  return [...world.nodes.values()].find(({ leases }) => leases.size > 0)
}

describe('F08: whose fault it was says who tries again', () => {
  it("the job's own end, or a limit of it, is an answer: as many look as must agree, however many nodes there are, and nobody is blamed", async () => {
    const ends = fc.oneof(
      fc.integer({ min: 1, max: 255 }).map((exitCode) => ({ reason: 'exit' as const, exitCode })),
      fc.constantFrom('time' as const, 'memory' as const, 'disk' as const, 'pids' as const).map((reason) => ({ reason, exitCode: 137 }))
    )
    await fc.assert(
      fc.asyncProperty(nodes, quorum, ends, async (count, minQuorum, outcome) => {
        const world = await play(count, minQuorum, (at, replica, node) => at.report(at.nodes.get(node) as never, replica, outcome))
        const { state, failure, replicas } = world.record(T)
        assert.deepEqual([state, failure?.code, replicas.length], ['failed', outcome.reason, minQuorum])
        for (const { id, state } of world.coordinator.nodes()) assert.deepEqual([world.counts(id).errors, world.counts(id).invalid, state], [0, 0, 'online'])
        // It is signed: the owner can show that its job failed, and how.
        assert.equal(world.receipts.get(T)?.results.length, minQuorum)
      }),
      { numRuns: 100 }
    )
  })

  it('an input that two find at fault is not fetched by a third', async () => {
    await fc.assert(
      fc.asyncProperty(nodes, quorum, async (count, minQuorum) => {
        const world = await play(count, minQuorum, (at, replica, node) => at.giveBack(at.nodes.get(node) as never, replica, 'input', 'no such image'))
        const { state, failure, replicas } = world.record(T)
        assert.deepEqual([state, failure], ['failed', { code: 'input', message: 'no such image' }])
        assert.equal(replicas.filter(({ state }) => state === 'returned').length, 2)
        // The first who found it so was replaced; whoever else had it is told to stop.
        assert.equal(replicas.length, minQuorum + 1)
      }),
      { numRuns: 50 }
    )
  })

  it("a node's fault is tried elsewhere, each time on another, K times, and counted against the nodes alone", async () => {
    await fc.assert(
      fc.asyncProperty(nodes, fc.integer({ min: 0, max: K }), async (count, faults) => {
        const failed: string[] = []
        const world = await play(count, 1, (at, replica, node) => {
          if (failed.length === faults) {
            at.report(at.nodes.get(node) as never, replica, { output: 'the truth' })
            return
          }
          failed.push(node)
          at.giveBack(at.nodes.get(node) as never, replica, 'node', 'no room')
        })
        const { state, failure } = world.record(T)
        assert.deepEqual([state, failure?.code], faults === K ? ['failed', 'too_many_errors'] : ['ready', undefined])
        assert.equal(new Set(failed).size, faults)
        for (const { id } of world.coordinator.nodes()) assert.equal(world.counts(id).errors, failed.includes(id) ? 1 : 0)
      }),
      { numRuns: 50 }
    )
  })
})
