import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { runApart } from './apart.ts'
import { BOOTSTRAPS, drawStackCase, type StackCase } from './case.ts'
import { shrinkStackCase } from './shrink.ts'

const ONE = drawStackCase(1, 50)
const OPTIONS = { runsMax: 1_000, stopped: () => false }

function there(hosts: StackCase['nodes']): readonly string[] {
  return hosts.filter(({ joinsMs }) => joinsMs >= 0).map(({ name }) => name)
}

describe('a failing case of the stack level', () => {
  it('is made as small as the same complaint allows; who others need to find anybody stays', async () => {
    const last = ONE.faults.at(-1)
    const run = async (smaller: StackCase, untilMs: number) => {
      assert.ok(untilMs > 300_000 && untilMs < 1_000_000)
      const fails = there(smaller.nodes).includes('node 5') && there(smaller.keepers).includes('keeper 4') && smaller.faults.some((fault) => fault === last)
      return { complaint: fails ? `node 5 is not connected ${smaller.faults.length} s after the last fault: no answer` : null, ms: 300_000, events: 1 }
    }
    const first = { complaint: 'node 7 is not connected 180 s after the last fault: nothing listens there', ms: 300_000, events: 1 }
    const { world } = await shrinkStackCase({ world: ONE, ran: first }, { ...OPTIONS, run })
    assert.deepEqual(there(world.nodes), ['node 5'])
    assert.deepEqual(there(world.keepers), [...ONE.keepers.slice(0, BOOTSTRAPS).map(({ name }) => name), 'keeper 4'])
    assert.deepEqual([world.faults, world.batches.flatMap(({ tasks }) => tasks), world.faultsMs], [[last], [], 0])
    assert.deepEqual([world.keepers.length, world.nodes.length], [ONE.keepers.length, ONE.nodes.length])
  })

  it('is not what is left of a healthy one: with hardly anybody there, everything ends all the same', { timeout: 120_000 }, async () => {
    const never = ({ ...node }: StackCase['server']): StackCase['server'] => ({ ...node, joinsMs: -1 })
    const one = drawStackCase(3, 10)
    const { complaint, sometimes } = await runApart({
      ...one,
      nodes: one.nodes.map(never),
      keepers: one.keepers.map((keeper, index) => (index < BOOTSTRAPS ? keeper : never(keeper))),
      faults: []
    })
    assert.equal(complaint, null)
    assert.ok((sometimes['task ready'] ?? 0) > 0)
  })

  it('is looked at no longer than asked, and says nothing then', { timeout: 60_000 }, async () => {
    const { complaint, ms } = await runApart(drawStackCase(3, 10), 20_000)
    assert.deepEqual([complaint, ms], [null, 20_000])
  })
})
