import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { BatchView, TaskView } from '#protocol/owner/messages'
import { checkReceipt, decodeSignedReceipt } from '#protocol/result/receipt'
import { generateIdentity } from '#protocol/signing/keys'
import { freePort } from '#test/support/ports'
import { startProgram, type TestProcess } from '#test/support/process'
import { until } from '#test/support/until'
import { initProject } from './main.ts'
import { FakeNode } from './testing/fake-node.ts'
import { FakeOwner, runManifest } from './testing/fake-owner.ts'

const PROGRAM = fileURLToPath(new URL('../test/support/server-program.ts', import.meta.url))
const owner = await generateIdentity()

let dir: string
let address: string
let project: string
let server: TestProcess
const closing: (() => Promise<void>)[] = []

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'talko-crash-'))
  address = `/ip4/127.0.0.1/tcp/${await freePort()}`
  project = (await initProject(dir, { name: 'test', owners: [owner.peerId], listen: [address] })).id
  await start()
})
afterEach(async () => {
  for (const close of closing.splice(0)) await close()
  await server.kill('SIGKILL')
  await rm(dir, { recursive: true })
})

async function start(): Promise<void> {
  server = startProgram(PROGRAM, [dir], { TALKO_LOG: 'silent' })
  await until('the server', () => {
    if (server.child.exitCode !== null) throw new Error(server.errors())
    return server.lines.length > 0
  })
}

async function crash(): Promise<void> {
  await server.kill('SIGKILL')
  await start()
}

async function node(slots: number): Promise<FakeNode> {
  const made = await FakeNode.start({ project, addresses: [address], slots })
  closing.push(() => made.stop())
  return made
}

async function client(): Promise<FakeOwner> {
  const made = await FakeOwner.start(project, [address], owner)
  closing.push(() => made.stop())
  return made
}

describe('a project server that is killed with -9', () => {
  it('keeps what it accepted, what it granted and what was reported to it', async () => {
    const [a, b] = [await node(3), await node(3)]
    const batch = await (await client()).submit(
      1,
      ['x', 'y', 'z'].map((text) => runManifest(text))
    )
    await crash()

    // Accepted, and leased before or after: the batch is there.
    for (const one of [a, b]) await one.connect()
    await until('all leases', () => a.leases.size === 3 && b.leases.size === 3)
    for (const one of [a, b]) await one.startReplicas([...one.leases.values()])
    await until('all grants', () => a.granted.size === 3 && b.granted.size === 3)
    await crash()

    // Granted: goes on, and is offered to nobody else.
    const late = await node(6)
    for (const one of [a, b]) await one.connect()
    await until('the nodes to be known again', () => [a, b].every((one) => one.frames.filter(({ welcome }) => welcome?.resumed === true).length === 2))
    await a.report([...a.leases.values()])
    await until('the acknowledgement', () => a.unacknowledged === 0)
    await crash()

    // Reported and acknowledged: counted without being sent again.
    for (const one of [a, b, late]) await one.connect()
    await b.report([...b.leases.values()])
    const again = await client()
    const view = (await again.ask({ watch: { of: batch } })).body as BatchView
    assert.equal(view.ready, 3)
    assert.equal(late.leases.size, 0)
    for (const { id } of await again.tasks(batch)) {
      const task = await again.query<TaskView>('task', id)
      assert.deepEqual(task.replicas?.map((replica) => replica.node).toSorted(), [a.peerId, b.peerId].toSorted())
      const { raw } = await again.ask({ query: { what: 'receipt', of: id, limit: 0, after: '' } })
      const signed = raw === undefined ? undefined : decodeSignedReceipt(raw)
      assert.ok(signed !== undefined && checkReceipt(signed, { project }).ok)
    }
  })
})
