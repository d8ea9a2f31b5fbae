import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import { assertDone, assertRefused } from '../support/talko.ts'
import { until } from '../support/until.ts'

let network: TestNetwork
before(async () => {
  network = await testNetwork()
})
after(() => network.close())

it('a banned node loses what it runs to another, stays out over a restart of the server, and comes back when it is let in again', async () => {
  const client = await network.client()
  await network.nodeProcess('ann')
  const gate = join(network.dir, 'gate')
  const task = await client.submitTask({
    engine: 'process',
    command: ['sh', '-c', `while [ ! -e ${gate} ]; do sleep 0.05; done; echo done`],
    policy: { minQuorum: 1, targetResults: 1 }
  })
  const ann = await until('ann to run it', async () => (await client.task(task.id)).replicas?.find(({ state }) => state === 'running')?.node)
  const stateOf = async (): Promise<string | undefined> => (await client.nodes()).find(({ id }) => id === ann)?.state

  const dry = await network.owner('ban', 'add', ann, '--dry-run')
  assertDone(dry)
  assert.match(dry.out, /ann: 1 run, 0 results/)
  assert.equal(await stateOf(), 'online')
  assertDone(await network.owner('ban', 'add', ann, '--reason', 'it lies'))
  assert.equal(await stateOf(), 'banned')
  const why = await network.owner('why', task.id)
  assert.match(why.out, /1 node is banned from the project/)
  const events = await network.owner('events', '--node', ann)
  assert.match(events.out, /banned.*it lies/)

  await network.crashServer()
  await network.nodeProcess('bob')
  writeFileSync(gate, '')
  await client.wait(task.id)
  const { status, replicas = [] } = await client.task(task.id)
  assert.equal(status, 'ready')
  assert.deepEqual([replicas[0]?.node, replicas[0]?.state, replicas[0]?.message], [ann, 'returned', 'its node was banned'])
  assert.notEqual(replicas.at(-1)?.node, ann)
  assert.equal(await stateOf(), 'banned')
  assert.match((await network.owner('ban', 'list')).out, new RegExp(`node +${ann} .*it lies`))

  assertDone(await network.owner('ban', 'remove', ann))
  await until('ann to be back', async () => (await stateOf()) === 'online')
  assertRefused(await network.owner('ban', 'remove', ann), 3, /is not banned/)
})
