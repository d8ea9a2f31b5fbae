import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { initNode } from '#node/main'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import { startProgram, type TestProcess } from '../support/process.ts'
import { until } from '../support/until.ts'

const TALKO = fileURLToPath(new URL('../../client-cli/bin/talko.js', import.meta.url))

let network: TestNetwork

before(async () => {
  network = await testNetwork()
})
after(() => network.close())

/** `talko node start`, with two slots. */
async function startNode(...options: readonly string[]): Promise<TestProcess> {
  const dir = join(network.dir, 'ann')
  const settings = { project: network.project, addresses: [network.address], name: 'ann', slots: 2, engines: ['process' as const] }
  if (!existsSync(dir)) await initNode(dir, settings)
  const started = startProgram(TALKO, ['node', 'start', dir, ...options])
  await until('the node to start', () => started.lines.length > 0)
  return started
}

/** N04 */
it('a signalled node takes nothing new and finishes what runs; a second signal gives it back', async (test) => {
  const client = await network.client()
  const gate = join(network.dir, 'gate')
  const submit = (script: string) => client.submitTask({ engine: 'process', command: ['sh', '-c', script], policy: { minQuorum: 1 } })
  const untilStarted = (task: string, name: string): Promise<true> =>
    until(`${task} to run`, () => (existsSync(join(network.dir, name)) ? true : undefined)) as Promise<true>

  await test.test('once', async () => {
    const node = await startNode()
    const first = await submit(`touch ${join(network.dir, 'first')}; while [ ! -e ${gate} ]; do sleep 0.05; done; echo done > file`)
    await untilStarted(first.id, 'first')
    node.child.kill('SIGTERM')
    await until('its word', () => (/finishing 1 running task first/.test(node.errors()) ? true : undefined))
    const second = await submit('true')
    writeFileSync(gate, '')
    await client.wait(first.id)
    assert.equal((await client.task(first.id)).status, 'ready')
    await until('the node to end', () => node.child.exitCode !== null)
    assert.equal(node.child.exitCode, 0)
    const view = await client.task(second.id)
    assert.ok(
      (view.replicas ?? []).every(({ state }) => state === 'returned'),
      'nothing began after the signal'
    )
    await client.kill(second.id)
  })

  await test.test('twice', async () => {
    const node = await startNode('--grace', '1h')
    const task = await submit(`touch ${join(network.dir, 'third')}; sleep 100`)
    await untilStarted(task.id, 'third')
    node.child.kill('SIGINT')
    await until('its word', () => (/1h at most/.test(node.errors()) ? true : undefined))
    assert.equal(node.child.exitCode, null)
    node.child.kill('SIGINT')
    await until('the node to end', () => node.child.exitCode !== null)
    const view = await until('the task to be given back', async () => {
      const now = await client.task(task.id)
      return now.replicas?.[0]?.state === 'returned' ? now : undefined
    })
    assert.equal(view.status, 'staged')
  })

  await test.test('while the node starts', async () => {
    const dir = join(network.dir, 'ann')
    const node = startProgram(TALKO, ['node', 'start', dir])
    // Its first line is written before it has started.
    node.child.stderr?.once('data', () => node.child.kill('SIGTERM'))
    await until('the node to end', () => node.child.exitCode !== null || node.child.signalCode !== null)
    assert.equal(node.child.exitCode, 0, node.errors())
    assert.equal(existsSync(join(dir, 'daemon.json')), false)
  })
})
