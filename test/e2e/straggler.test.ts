import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import { until } from '../support/until.ts'

const TASKS = 9
const SLOW_S = 60

let network: TestNetwork
before(async () => {
  network = await testNetwork()
})
after(() => network.close())

it('F05, F06: runs what a slow node was given on another one too, takes the first result, and ends the slow run', { timeout: 120_000 }, async (test) => {
  await network.nodeProcess('ann', { slots: 2 })
  await network.nodeProcess('bob', { slots: 2 })
  await network.nodeProcess('slow')
  const client = await network.client()
  await until('the nodes', async () => (await client.nodes()).length === 3)
  const command = ['sh', '-c', `case $HOME in */slow/*) sleep ${SLOW_S};; *) sleep 2.5;; esac; echo done`]
  const specs = Array.from({ length: TASKS }, (_, index) => ({ command, engine: 'process' as const, environment: { SEED: String(index) } }))
  const begun = performance.now()
  const batch = await client.submit(await client.prepare(specs), { policy: { minQuorum: 1, targetResults: 1 } })
  const why = await until('the straggler to be found out', async () => {
    const views = await Promise.all(Array.from({ length: TASKS }, (_, index) => client.why(`${batch.id}.${index}`)))
    return views.find(({ runs }) => runs.some(({ straggles }) => straggles))
  })
  assert.equal(why.runs.find(({ straggles }) => straggles)?.nodeName, 'slow')
  assert.equal((await client.wait(batch.id)).ready, TASKS)
  const ms = performance.now() - begun
  test.diagnostic(`all done after ${Math.round(ms)} ms, where the slow node takes ${SLOW_S} s for one`)
  assert.ok(ms < SLOW_S * 1000, 'nobody waited for the slow run')
  const { replicas = [] } = await client.task(why.task)
  assert.deepEqual(
    replicas.map(({ state, verdict }) => [state, verdict]),
    [
      ['cancelled', undefined],
      ['reported', 'valid']
    ]
  )
  await until('the slow run to end', async () => (await client.nodes()).every(({ busy }) => busy === 0))
})
