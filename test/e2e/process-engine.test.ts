import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { type Client, connect } from '#client-cli/index'
import { Home } from '#client-cli/live/home'
import { initNode, startNode } from '#node/main'
import { initProject, type ProjectServer, startProjectServer } from '#project-server/main'
import { checkReceipt } from '#protocol/result/receipt'
import { until } from '../support/until.ts'

const TASKS = 30

let dir: string
let server: ProjectServer
let client: Client
const closing: (() => Promise<unknown>)[] = []
const silent = { debug() {}, info() {}, warn() {}, error() {} }

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'talko-e2e-'))
  const home = join(dir, 'home')
  const owner = await Home.at(home).signer()
  const { id: project } = await initProject(join(dir, 'project'), { name: 'test', owners: [owner.peerId], listen: ['/ip4/127.0.0.1/tcp/0'] })
  server = await startProjectServer({ dir: join(dir, 'project'), logger: silent })
  closing.push(() => server.stop())
  const addresses = server.addresses().map((address) => address.replace(/\/p2p\/.*/, ''))
  for (const name of ['ann', 'bob', 'cid']) {
    await initNode(join(dir, name), { project, addresses, name, slots: 2, engines: ['process'] })
    const node = await startNode({ dir: join(dir, name) })
    closing.push(() => node.stop('now'))
  }
  client = await connect({ home, project: `talko://${project}?a=${addresses[0]}` })
  closing.push(() => client.close())
})
after(async () => {
  for (const close of closing.reverse()) await close()
  await rm(dir, { recursive: true, force: true })
})

it('takes real processes on three nodes to outputs, logs and receipts', { timeout: 60_000 }, async () => {
  const specs = Array.from({ length: TASKS }, (_, index) => ({
    command: ['sh', '-c', `echo "task ${index}"; echo $((${index} * ${index})) > square`],
    engine: 'process' as const
  }))
  const batch = await client.submit(await client.prepare(specs))
  const view = await client.wait(batch.id)
  assert.equal(view.ready, TASKS, JSON.stringify(view))
  for await (const task of client.tasks(batch.id)) {
    const receipt = checkReceipt(await client.receipt(task.id), { project: server.peerId })
    assert.ok(receipt.ok, receipt.lines.at(-1))
    assert.equal(receipt.results?.length, 2)
  }
  const task = batch.tasks[7] ?? ''
  let log = ''
  for await (const piece of client.logs(task)) log += Buffer.from(piece).toString()
  assert.equal(log, 'task 7\n')
  await client.get(task, join(dir, 'got'))
  assert.equal(await readFile(join(dir, 'got', 'square'), 'utf8'), '49\n')
  const nodes = await client.nodes()
  assert.equal(
    nodes.reduce((sum, { valid }) => sum + valid, 0),
    2 * TASKS
  )
  assert.equal(
    nodes.reduce((sum, { invalid, errors, lost }) => sum + invalid + errors + lost, 0),
    0
  )
})

it('shows what a running task prints, and ends it when it is killed', { timeout: 60_000 }, async () => {
  const command = ['sh', '-c', 'echo started; exec sleep 600']
  const specs = [{ command, engine: 'process' as const }]
  const batch = await client.submit(await client.prepare(specs), { policy: { minQuorum: 1, targetResults: 1 } })
  const task = batch.tasks[0] ?? ''
  let printed = ''
  for await (const piece of client.logs(task, { follow: true })) {
    printed += Buffer.from(piece).toString()
    if (printed === 'started\n') break
  }
  assert.equal((await client.task(task)).status, 'running')
  await client.kill(batch.id)
  assert.equal((await client.wait(batch.id)).killed, 1)
  await until('the slot to be free again', async () => (await client.nodes()).every(({ busy }) => busy === 0))
})

it('O08: how far a running task says in a file that it is, and when it should be over, is shown', { timeout: 60_000 }, async () => {
  const command = ['sh', '-c', 'echo "3/8 training" > .progress; until [ -e go ]; do sleep 0.1; done; rm go .progress']
  const batch = await client.submit(await client.prepare([{ command, engine: 'process' as const }]), { policy: { minQuorum: 1, targetResults: 1 } })
  const task = batch.tasks[0] ?? ''
  await until('its progress to be told', async () => (await client.task(task)).progress !== undefined, 30_000)
  const { progress, replicas = [] } = await client.task(task)
  assert.deepEqual([progress?.done, progress?.note, Number.isSafeInteger(progress?.leftMs)], [0.375, 'training', true])
  assert.equal(replicas[0]?.progress?.done, 0.375)
  assert.equal((await client.why(task)).runs[0]?.progress?.done, 0.375)
  for await (const listed of client.tasks(batch.id)) assert.equal(listed.progress?.done, 0.375)
  await client.write(task, 'go', new Uint8Array())
  assert.equal((await client.wait(batch.id)).ready, 1)
  assert.equal((await client.task(task)).progress, undefined)
})

it('F13: a run that gives no sign of life is ended, tried elsewhere and told of', { timeout: 60_000 }, async () => {
  const specs = [{ command: ['sh', '-c', 'echo begun; exec sleep 600'], engine: 'process' as const, resources: { silenceMs: 2_000 } }]
  const batch = await client.submit(await client.prepare(specs), { policy: { minQuorum: 1, targetResults: 1, maxErrorResults: 2 } })
  assert.equal((await client.wait(batch.id)).failed, 1)
  const { failure, replicas = [] } = await client.task(batch.tasks[0] ?? '')
  assert.equal(failure?.code, 'hang')
  assert.equal(new Set(replicas.map(({ node }) => node)).size, 2)
  for (const { state, message = '' } of replicas) assert.match(`${state} ${message}`, /^returned hang: nothing printed.* for 2 s$/)
})

it('tells how a task failed, and keeps what it printed', { timeout: 60_000 }, async () => {
  const specs = [{ command: ['sh', '-c', 'echo why >&2; exit 3'], engine: 'process' as const }]
  const batch = await client.submit(await client.prepare(specs))
  assert.equal((await client.wait(batch.id)).failed, 1)
  const task = await client.task(batch.tasks[0] ?? '')
  assert.deepEqual([task.status, task.failure?.code, task.exitCode], ['failed', 'exit', 3])
  let log = ''
  for await (const piece of client.logs(task.id, { file: 'stderr' })) log += Buffer.from(piece).toString()
  assert.equal(log, 'why\n')
})
