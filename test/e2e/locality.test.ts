import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { localityFigures } from '../support/locality.ts'
import { type TestNetwork, testNetwork } from '../support/network.ts'

let network: TestNetwork
before(async () => {
  network = await testNetwork()
})
after(() => network.close())

it('D09: 4 nodes, 4 data sets, 40 runs in random order: at most 8 copies move, 80 % of the runs find their data', { timeout: 180_000 }, async (test) => {
  const { copies, localShare, wallSeconds } = await localityFigures(network, { nodes: 4, sets: 4, setBytes: 8 * 1024 ** 2, runs: 40, seed: 7, runSeconds: 0.2 })
  test.diagnostic(`${copies} copies moved, ${(100 * localShare).toFixed(0)} % of the runs found their data, ${wallSeconds.toFixed(1)} s`)
  assert.ok(copies >= 4, 'each set is needed somewhere')
  assert.ok(copies <= 8, `${copies} copies`)
  assert.ok(localShare >= 0.8)
})
