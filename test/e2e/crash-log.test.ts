/** O10: a node that was killed with a task in hand tells the task's owner, and nobody else, the end of its own log. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { Home } from '#client-cli/live/home'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import type { TestProcess } from '../support/process.ts'
import { assertDone, assertRefused, talko } from '../support/talko.ts'
import { until } from '../support/until.ts'

const LAST = 'the last that the node of attempt 1 logged before it went down:'

let network: TestNetwork
let invite = ''
before(async () => {
  network = await testNetwork()
  invite = `talko://${network.project}?a=${network.address.replace(/\/p2p\/.*/, '')}`
})
after(() => network.close())

/** As when the machine loses its power: the node, and what it runs. */
async function crash(name: string, running: TestProcess, task: string): Promise<void> {
  await running.kill('SIGKILL')
  const { pid } = JSON.parse(await readFile(join(network.dir, name, 'run', `${task}.1`, 'pid'), 'utf8'))
  process.kill(-pid, 'SIGKILL')
}

/** Its task, once it runs there. */
async function runOn(node: string): Promise<string> {
  await until('it to be known', async () => (await network.owner('nodes')).out.includes(node))
  const said = await network.owner('run', '--engine', 'process', '--quorum', '1', '--node', node, '--force', '--', 'sleep', '120')
  assertDone(said)
  const task = said.out.trim()
  await until('it to run', async () => JSON.parse((await network.owner('info', task, '-o', 'json')).out).status === 'running')
  return task
}

it('is shown with the attempt that it lost, names nothing of the machine, and is for the owner alone', async () => {
  const ann = await network.nodeProcess('ann')
  const task = await runOn('ann')
  await crash('ann', ann, task)
  await network.nodeProcess('ann')
  let shown = ''
  await until('its last words', async () => {
    shown = (await network.owner('info', task)).out
    return shown.includes(LAST)
  })
  const words = shown.slice(shown.indexOf(LAST) + LAST.length)
  assert.match(words, /\n {2}\d{4}-\d\d-\d\dT\S+ info: the node has started/)
  assert.match(words, /connected to the project/)
  for (const private_ of [network.dir, '127.0.0.1', network.project]) assert.ok(!words.includes(private_), words)

  const { peerId } = await Home.at(join(network.dir, 'another')).signer()
  assertDone(await network.owner('owner', 'add', peerId))
  assertRefused(await talko(['info', task], { env: { TALKO_HOME: join(network.dir, 'another'), TALKO_PROJECT: invite } }), 3, /nothing here is called/)
})

it('is not told, nor kept, when the owner of the node does not want it', async () => {
  const bob = await network.nodeProcess('bob', { tellCrashes: false })
  const task = await runOn('bob')
  await crash('bob', bob, task)
  await network.nodeProcess('bob', { tellCrashes: false })
  await until('the run to be given back', async () => {
    const { replicas } = JSON.parse((await network.owner('info', task, '-o', 'json')).out)
    return ['returned', 'lost'].includes(replicas[0].state)
  })
  const shown = (await network.owner('info', task)).out
  assert.match(shown, /returned|lost/)
  assert.ok(!shown.includes('logged before'), shown)
  assert.ok(!existsSync(join(network.dir, 'bob', 'recent.log')))
})
