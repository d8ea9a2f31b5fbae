import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import { until } from '../support/until.ts'

let network: TestNetwork
before(async () => {
  network = await testNetwork()
})
after(() => network.close())

/** The stdout of a command line of the owner. */
async function ok(...argv: string[]): Promise<string> {
  const { status, out, err } = await network.owner(...argv)
  assert.equal(status, 0, err)
  return out.trim()
}

it('S07, S08: a node of a group takes its clients’ tasks from when they belong to it; --trust says which nodes may', { timeout: 120_000 }, async () => {
  await network.nodeProcess('lab', { slots: 2, groups: ['physics'] })
  const client = await network.client()
  await until('the node', async () => (await client.nodes()).some(({ state }) => state === 'online'))
  assert.deepEqual((await client.nodes())[0]?.groups, ['physics'])
  const task = await ok('run', '--engine', 'process', '--quorum', '1', '--', 'echo', 'hello')
  assert.match(await ok('why', task), /1 node takes the tasks of its groups' clients only: lab/)
  assert.match(await ok('owner', 'set', client.peerId, '--group', 'physics', '--group', 'maths'), /maths,physics/)
  await client.wait(task.slice(0, -2))
  assert.equal((await client.task(task)).status, 'ready')
  // Known over a restart of the project; a result that nobody else has is nothing to be believed for, and the node is no one's own.
  await network.crashServer()
  assert.deepEqual((await client.clients())[0]?.settings.groups, ['maths', 'physics'])
  const file = join(network.dir, 'steps.yaml')
  await writeFile(file, 'quorum: 1\ntrust: trusted\ndefaults: { engine: process }\nsteps: { a: { command: x } }\n')
  const waiting = await ok('dag', 'submit', file)
  await until('the node is back', async () => /too few confirmed results/.test(await ok('why', `${waiting}.0`)))
  assert.match(await ok('why', `${waiting}.0`), /the nearest is lab: it has 0 confirmed results in a row, needed are 10 confirmed results in a row/)
  const own = await ok('run', '--engine', 'process', '--quorum', '1', '--trust', 'own', '--', 'true')
  assert.match(await ok('why', own), /1 node is not your own \(--trust own\): lab/)
  const { status, err } = await network.owner('run', '--trust', 'mine', '--engine', 'process', '--', 'true')
  assert.deepEqual([status, /--trust is any, trusted or own, not "mine"/.test(err)], [2, true])
})
