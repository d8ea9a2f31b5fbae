import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import { checkReceipt } from '#protocol/result/receipt'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import { scriptedExecutor } from '../support/scripted-executor.ts'

const TASKS = 1000

let network: TestNetwork
before(async () => {
  network = await testNetwork()
})
after(() => network.close())

it('never takes the word of a node that lies on every task, and counts its lies', async (test) => {
  const answer = (seed: string): string => `the answer to ${seed}`
  for (const name of ['ann', 'bob', 'cid', 'dee', 'liar']) {
    const executor = scriptedExecutor({
      script: ({ manifest }) => ({ answer: name === 'liar' ? `a lie about ${manifest.environment.SEED}` : answer(manifest.environment.SEED ?? '') })
    })
    await network.node(name, [executor], { slots: 8 })
  }
  const client = await network.client()
  const specs = Array.from({ length: TASKS }, (_, index) => ({ command: ['answer'], engine: 'process' as const, environment: { SEED: String(index) } }))
  const batch = await client.submit(await client.prepare(specs))
  const begun = performance.now()
  const state = await client.wait(batch.id)
  test.diagnostic(`decided in ${Math.round(performance.now() - begun)} ms`)
  assert.equal(state.ready, TASKS)

  const liar = (await client.nodes()).find(({ name }) => name === 'liar')
  assert.ok(liar)
  let lies = 0
  for await (const view of client.tasks(batch.id)) {
    const check = checkReceipt(await client.receipt(view.id), { project: network.project })
    assert.ok(check.ok, check.lines.at(-1))
    for (const result of check.results ?? []) assert.notEqual(result.node, liar.id, `the liar decided ${view.id}`)
    lies += check.receipt?.dissent.filter(({ node }) => node === liar.id).length ?? 0
  }
  for (const node of await client.nodes()) assert.equal(node.invalid > 0, node.id === liar.id, `${node.name} has ${node.invalid} invalid results`)
  assert.ok(lies > 0, 'the liar was never asked')
  test.diagnostic(`${liar.invalid} lies in ${TASKS} tasks, ${lies} of them named in receipts`)
  assert.ok(liar.invalid >= lies)
})
