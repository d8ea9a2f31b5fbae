/** F22: a result that its volunteer could not deliver comes to the project through others, with its output, although the volunteer never comes back. */
import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import type { Client } from '#client-cli/index'
import { askNode } from '#client-cli/live/node-control'
import { checkReceipt } from '#protocol/result/receipt'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import type { TestProcess } from '../support/process.ts'
import { until } from '../support/until.ts'

interface Status {
  readonly parked: number
  readonly connected: boolean
  readonly hints: { readonly neighbours: number }
  readonly keeping: { readonly results: number; readonly bytes: number }
  readonly replicas: readonly object[]
}

const REACHABLE = { listen: ['/ip4/127.0.0.1/tcp/0'], parkAfterMs: 1_000 }

let network: TestNetwork
let witness: string
let gate: string
const nodes = new Map<string, TestProcess>()

before(async () => {
  network = await testNetwork()
  witness = join(network.dir, 'witness')
  gate = join(network.dir, 'gate')
})
after(() => network.close())

async function status(name: string): Promise<Status> {
  return JSON.parse(JSON.stringify(await askNode(join(network.dir, name), 'GET', '/status')))
}

async function start(name: string): Promise<string> {
  const started = await network.nodeProcess(name, REACHABLE)
  nodes.set(name, started)
  await until(`${name} to be connected`, async () => (await status(name)).connected)
  return started.lines[0] ?? ''
}

/** Runs one task on this node and nowhere else, and comes back when it runs. */
async function begin(client: Client, node: string, name: string): Promise<string> {
  const script = `echo ${name} >> ${witness}; while [ ! -e ${gate}-${name} ]; do sleep 0.05; done; seq 300000 > numbers; echo ${name}`
  const task = await client.submitTask({ engine: 'process', command: ['sh', '-c', script], policy: { minQuorum: 1, targetResults: 1, nodes: [node] } })
  await until('the run to begin', () => starts().includes(name))
  return task.id
}

function starts(): string[] {
  try {
    return readFileSync(witness, 'utf8').trim().split('\n')
  } catch {
    return []
  }
}

async function assertReady(client: Client, task: string, node: string, name: string): Promise<void> {
  await until('the task to be decided', async () => (await client.task(task)).status === 'ready', 60_000)
  const checked = checkReceipt(await client.receipt(task), { project: network.project })
  assert.ok(checked.ok, checked.lines.at(-1))
  assert.deepEqual(
    checked.results?.map((result) => result.node),
    [node]
  )
  assert.equal(starts().filter((started) => started === name).length, 1, 'it was run again')
  await client.get(task, join(network.dir, `got-${name}`))
  assert.equal((await readFile(join(network.dir, `got-${name}`, 'numbers'), 'utf8')).length, 1_988_895)
}

it('project, volunteer and one of the two that kept its result are killed: the other hands it over', { timeout: 180_000 }, async () => {
  for (const name of ['bob', 'cid']) await start(name)
  const ann = await start('ann')
  await until('ann to know the others', async () => (await status('ann')).hints.neighbours === 2)
  const client = await network.client()
  const task = await begin(client, ann, 'first')

  await network.server().kill('SIGKILL')
  writeFileSync(`${gate}-first`, '')
  await until('ann to leave her result with two', async () => (await status('ann')).parked === 2, 60_000)
  for (const name of ['bob', 'cid']) {
    const { keeping } = await status(name)
    assert.equal(keeping.results, 1)
    assert.ok(keeping.bytes > 1_988_895, JSON.stringify(keeping))
  }
  await nodes.get('ann')?.kill('SIGKILL')
  await nodes.get('bob')?.kill('SIGKILL')
  // What it said that it has is on its disk.
  await nodes.get('cid')?.kill('SIGKILL')
  await network.startServer()
  await start('cid')

  await assertReady(client, task, ann, 'first')
  await until('cid to drop it', async () => (await status('cid')).keeping.results === 0)
})

it('a volunteer whose owner wants it to leave leaves its result at once, and is released like the others when it is back', { timeout: 180_000 }, async () => {
  await start('bob')
  const ann = await start('ann')
  await until('ann to know the others', async () => (await status('ann')).hints.neighbours === 2)
  const client = await network.client()
  const task = await begin(client, ann, 'second')

  await network.server().kill('SIGKILL')
  await until('ann to miss the project', async () => !(await status('ann')).connected)
  await askNode(join(network.dir, 'ann'), 'POST', '/stop?mode=finish')
  writeFileSync(`${gate}-second`, '')
  await until('ann to leave', async () => (await status('ann').catch(() => undefined)) === undefined, 20_000)
  await nodes.get('ann')?.kill('SIGKILL')
  for (const name of ['bob', 'cid']) assert.equal((await status(name)).keeping.results, 1)
  await network.startServer()

  await assertReady(client, task, ann, 'second')
  await start('ann')
  await until('all to drop it', async () => {
    const all = await Promise.all(['ann', 'bob', 'cid'].map(status))
    return all.every(({ keeping, replicas }) => keeping.results === 0 && replicas.length === 0)
  })
  const view = (await client.nodes()).find(({ id }) => id === ann)
  assert.equal(view?.valid, 2, 'one for each task')
})
