import assert from 'node:assert/strict'
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import { connect } from '#client-cli/index'
import { Home } from '#client-cli/live/home'
import { initNode, startNode } from '#node/main'
import { initProject, startProjectServer } from '#project-server/main'
import { checkReceipt } from '#protocol/result/receipt'

const MIB = 1024 ** 2
const silent = { debug() {}, info() {}, warn() {}, error() {} }

/** Bytes of the files below a folder. */
async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { withFileTypes: true, recursive: true })
  const sizes = entries.filter((entry) => entry.isFile()).map(async (entry) => (await stat(join(entry.parentPath, entry.name))).size)
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
}

function within(what: string, value: number, measured: number): void {
  assert.ok(Math.abs(value - measured) <= measured / 100, `${what}: ${value} is counted, ${measured} was measured`)
}

/** Real runs whose time their node measured and signed, and bytes as they lie on the disk. */
it('D18: what a client used is within 1 % of what is measured, survives a restart, and is refused beyond its quota', { timeout: 120_000 }, async () => {
  await using closing = new AsyncDisposableStack()
  const dir = await mkdtemp(join(tmpdir(), 'talko-quota-'))
  closing.defer(() => rm(dir, { recursive: true, force: true }))
  const owner = await Home.at(join(dir, 'owner')).signer()
  const guest = await Home.at(join(dir, 'guest')).signer()
  const folder = join(dir, 'project')
  const { id: project } = await initProject(folder, { name: 'test', owners: [owner.peerId], listen: ['/ip4/127.0.0.1/tcp/0'] })
  let server = await startProjectServer({ dir: folder, logger: silent })
  closing.defer(() => server.stop())
  const address = (server.addresses()[0] ?? '').replace(/\/p2p\/.*/, '')
  await initNode(join(dir, 'node'), { project, addresses: [address], name: 'node', slots: 4, engines: ['process'] })
  const node = await startNode({ dir: join(dir, 'node') })
  closing.defer(() => node.stop('now'))
  const administrator = await connect({ home: join(dir, 'owner'), project: `talko://${project}?a=${address}` })
  closing.defer(() => administrator.close())
  const asGuest = () => connect({ home: join(dir, 'guest'), project: `talko://${project}?a=${address}` })
  await assert.rejects(asGuest, /is not an owner of this project/)
  await administrator.grant(guest.peerId, { member: true, settings: { tasks: 4, diskBytes: 5 * MIB } })
  const client = await asGuest()
  closing.defer(() => client.close())
  await writeFile(join(dir, 'input'), Buffer.alloc(MIB, 'an input'))
  await client.upload(join(dir, 'input'), { name: 'input' })

  const spec = (index: number) => ({
    command: ['sh', '-c', `sleep 4; head -c ${MIB} /dev/zero | tr '\\0' '${'abcd'[index % 4]}' > out`],
    engine: 'process' as const,
    resources: { cpuMillis: 200 }
  })
  const policy = { minQuorum: 1, targetResults: 1 }
  await assert.rejects(client.submit(await client.prepare([0, 1, 2, 3, 4].map(spec)), { policy }), /5 more, and your limit is 4/)
  const batch = await client.submit(await client.prepare([0, 1, 2, 3].map(spec)), { policy })
  const view = await client.wait(batch.id)
  assert.equal(view.ready, 4, JSON.stringify(view))

  let measuredMs = 0
  for (const task of batch.tasks) {
    const receipt = checkReceipt(await client.receipt(task), { project })
    for (const { startedAtMs, endedAtMs } of receipt.results ?? []) measuredMs += endedAtMs - startedAtMs
  }
  const [used] = await client.clients()
  assert.ok(used !== undefined)
  within('run time in ms', used.used.totalMs, measuredMs)
  assert.equal(used.used.runs, 4)
  assert.equal(used.used.inputBytes, MIB)
  within('bytes', used.used.inputBytes + used.used.outputBytes, await bytesBelow(join(folder, 'content')))

  // Five of five MiB are taken.
  await assert.rejects(client.submit(await client.prepare([spec(0)]), { policy }), /keeps 5242880 bytes for you, and your limit is 5242880/)
  await writeFile(join(dir, 'more'), Buffer.alloc(MIB, 'more input'))
  await assert.rejects(client.upload(join(dir, 'more'), { name: 'more' }), /may keep 0 bytes more/)

  await server.stop()
  server = await startProjectServer({ dir: folder, logger: silent, listen: [address] })
  const [after] = await client.clients()
  assert.deepEqual(after?.used, used.used)
})
