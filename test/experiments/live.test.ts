import assert from 'node:assert/strict'
import { it } from 'node:test'
import { measuresOf, simulate } from '../../sim/experiments/agreement.ts'
import { liveNetwork, withCosts } from './live.ts'

it('a load runs on real nodes, and is simulated with what the machine cost meanwhile', async () => {
  const load = {
    name: 'a few',
    seed: 1,
    nodes: 2,
    quorum: 2,
    submissions: [
      { atMs: 0, runMs: [20, 30] },
      { atMs: 40, runMs: [10] }
    ]
  }
  const network = await liveNetwork(load.nodes, 1)
  try {
    const { value, costs } = await withCosts(network, () => network.run(load))
    assert.equal(value.length, 3)
    assert.ok(value.every(({ submittedMs, endedMs, ready }) => ready && endedMs >= submittedMs))
    for (const measured of Object.values(costs)) assert.ok(measured.length > 0 && measured.every((ms: number) => ms > 0))
    assert.ok(measuresOf(await simulate(load, costs)).throughput > 0)
  } finally {
    await network.close()
  }
})
