import assert from 'node:assert/strict'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, it } from 'node:test'
import { CID } from 'multiformats/cid'
import { EMPTY_DIRECTORY } from '#protocol/content/content'
import { openContentStore } from '#protocol/content/live/store'
import { serveContent } from '#protocol/content/serve'
import { parseReplicaId } from '#protocol/ids'
import type { BatchView, Made, NodeView, ProjectView, Resolved, TaskView } from '#protocol/owner/messages'
import { createHost } from '#protocol/peer/live/host'
import { verifyRecord } from '#protocol/record/record'
import { checkReceipt, decodeSignedReceipt } from '#protocol/result/receipt'
import { generateIdentity } from '#protocol/signing/keys'
import { until } from '#test/support/until'
import { SILENT } from './logger.ts'
import { initProject, type ProjectServer, type ServerOptions, startProjectServer } from './main.ts'
import { type Store, StoreError } from './ports.ts'
import { FakeNode, type FakeNodeOptions } from './testing/fake-node.ts'
import { FakeOwner, runManifest } from './testing/fake-owner.ts'

const owner = await generateIdentity()
const LISTEN = ['/ip4/127.0.0.1/tcp/0']

let dir: string
let closing: (() => unknown)[]
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'talko-server-'))
  closing = [() => rm(dir, { recursive: true })]
  await initProject(join(dir, 'project'), { name: 'test', owners: [owner.peerId], listen: LISTEN })
})
afterEach(async () => {
  for (const close of closing.toReversed()) await close()
})

async function serve(options: Partial<ServerOptions> = {}): Promise<ProjectServer> {
  const server = await startProjectServer({ dir: join(dir, 'project'), logger: SILENT, ...options })
  closing.push(() => server.stop())
  return server
}

async function joined(server: ProjectServer, options: Partial<FakeNodeOptions> = {}): Promise<FakeNode> {
  const node = await FakeNode.start({ project: server.peerId, addresses: server.addresses(), ...options })
  closing.push(() => node.stop())
  await until('a welcome', () => node.last('welcome'))
  return node
}

async function client(server: ProjectServer, signer = owner): Promise<FakeOwner> {
  const made = await FakeOwner.start(server.peerId, server.addresses(), signer)
  closing.push(() => made.stop())
  return made
}

const manifests = (count: number): Uint8Array[] => Array.from({ length: count }, (_, index) => runManifest(String(index)))

async function decided(one: FakeOwner, batch: string): Promise<BatchView> {
  return (await one.ask({ watch: { of: batch } })).body as BatchView
}

async function checkReceipts(one: FakeOwner, server: ProjectServer, batch: string, quorum: number): Promise<void> {
  for (const { id } of await one.tasks(batch)) {
    const { raw } = await one.ask({ query: { what: 'receipt', of: id, limit: 0, after: '' } })
    const signed = raw === undefined ? undefined : decodeSignedReceipt(raw)
    assert.ok(signed !== undefined)
    const check = checkReceipt(signed, { project: server.peerId })
    assert.ok(check.ok, check.lines.at(-1))
    assert.equal(check.results?.length, quorum)
  }
}

describe('a project server', () => {
  it('beats as its project file says, and is not started by one that makes no sense (F01)', async () => {
    const path = join(dir, 'project', 'project.json')
    const file = JSON.parse(await readFile(path, 'utf8'))
    await writeFile(path, JSON.stringify({ ...file, policy: { heartbeatMs: 7_000 } }))
    const node = await joined(await serve())
    assert.equal(node.last('welcome')?.heartbeatMs, 7_000)
    await writeFile(path, JSON.stringify({ ...file, policy: { heartbeat: 7 } }))
    await assert.rejects(startProjectServer({ dir: join(dir, 'project'), logger: SILENT }), {
      code: 'bad_project_file',
      message: /project\.json: "policy" has no/
    })
  })
  it('takes a batch to its receipts, which can be checked offline', async () => {
    const server = await serve()
    for (let i = 0; i < 3; i++) await joined(server, { automatic: true, slots: 4 })
    const one = await client(server)
    const batch = await one.submit(1, manifests(20))
    assert.equal((await decided(one, batch)).ready, 20)
    await checkReceipts(one, server, batch, 2)
    const nodes = await one.query<NodeView[]>('nodes')
    assert.equal(
      nodes.reduce((sum, { valid }) => sum + valid, 0),
      40
    )
    const project = await one.query<ProjectView>('project')
    assert.deepEqual([project.id, project.name, project.epoch, project.nodes], [server.peerId, 'test', server.epoch, 3])
    const task = await one.query<TaskView>('task', `${batch.slice(0, 6)}.3`)
    assert.deepEqual([task.status, task.command.join(' '), task.replicas?.length], ['ready', 'echo 3', 2])
    assert.ok(server.counts().commits > 0)
  })

  it('counts a result once, however often its frame is sent again', async () => {
    const server = await serve()
    const [a, b] = [await joined(server, { slots: 1 }), await joined(server, { slots: 1 })]
    const one = await client(server)
    const batch = await one.submit(1, manifests(1))
    const lease = await until('a lease', () => a.last('assign')?.leases[0])
    await a.startReplicas([lease])
    await until('the grant', () => a.granted.has(lease.replica))
    await a.report([lease])
    a.cut()
    await a.connect()
    await until('the acknowledgement', () => a.unacknowledged === 0)
    await a.connect()
    const task = await one.query<TaskView>('task', `${batch}.0`)
    assert.deepEqual([task.status, task.agreeing], ['running', 1])
    const other = await until('a lease', () => b.last('assign')?.leases[0])
    await b.startReplicas([other])
    await until('the grant', () => b.granted.has(other.replica))
    await b.report([other])
    assert.equal((await decided(one, batch)).ready, 1)
    await checkReceipts(one, server, batch, 2)
  })

  it('begins where it ended: nothing accepted is lost, what runs goes on, and nothing granted is granted to another', async () => {
    const first = await serve()
    const [a, b] = [await joined(first, { slots: 2 }), await joined(first, { slots: 2 })]
    const one = await client(first)
    const batch = await one.submit(1, manifests(2))
    const leases = await until('leases', () => (a.leases.size === 2 && b.leases.size === 2 ? [...a.leases.values()] : undefined))
    await a.startReplicas(leases)
    await until('the grant', () => a.granted.size === 2)
    await first.stop()

    const second = await serve()
    assert.ok(second.epoch > first.epoch)
    for (const node of [a, b]) await node.connect({}, second.addresses())
    await until('a welcome back', () => a.last('welcome')?.resumed === true && a.last('welcome')?.epoch === second.epoch)
    const late = await joined(second, { slots: 4 })
    await a.report(leases)
    await b.startReplicas([...b.leases.values()])
    await until('the grant', () => b.granted.size === 2)
    await b.report([...b.leases.values()])
    const again = await client(second)
    assert.equal((await decided(again, batch)).ready, 2)
    await checkReceipts(again, second, batch, 2)
    assert.equal(late.leases.size, 0)
    for (const task of await Promise.all([0, 1].map((index) => again.query<TaskView>('task', `${batch}.${index}`))))
      assert.deepEqual(task.replicas?.map(({ node }) => node).toSorted(), [a.peerId, b.peerId].toSorted())
  })

  it('grants a replica to nobody but its node', async () => {
    const server = await serve()
    const [a, b] = [await joined(server, { slots: 1 }), await joined(server, { slots: 1 })]
    await (await client(server)).submit(1, manifests(1))
    const lease = await until('a lease', () => a.last('assign')?.leases[0])
    await b.startReplicas([lease])
    await until('a refusal', () => b.refused.has(lease.replica))
    await a.startReplicas([{ ...lease, epoch: lease.epoch + 1 }])
    await until('a refusal', () => a.refused.has(lease.replica))
    assert.ok(!b.granted.has(lease.replica))
  })

  it('lives through garbage on every protocol, and goes on serving', async () => {
    const server = await serve()
    const [bad, good] = [await joined(server), await joined(server, { automatic: true })]
    await bad.write(Buffer.from('this is no frame'))
    await until('the end of its stream', () => bad.gone?.aborted)
    const noise = await client(server)
    const asked = assert.rejects(noise.query('project'))
    await noise.write(Buffer.from('this is no request'))
    await asked
    const one = await client(server)
    const batch = await one.submit(1, manifests(1), { minQuorum: 1, targetResults: 1, nodes: [good.peerId] })
    assert.equal((await decided(one, batch)).ready, 1)
    assert.equal(server.counts().closed.malformed, 1)
  })

  it('refuses who is not an owner, and what it does not hold', async () => {
    const server = await serve()
    const foreign = await client(server, await generateIdentity())
    await assert.rejects(foreign.query('tasks', 'x'), { code: 'not_owner', message: new RegExp(`"${foreign.host.peerId}" to "owners"`) })
    const one = await client(server)
    const missing = CID.parse('bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy')
    const submit = one.submit(1, [runManifest('x', { dependencies: [{ name: 'in', root: missing, path: '', executables: [] }] })])
    await assert.rejects(submit, { code: 'missing_content', message: new RegExp(missing.toString()) })
    await assert.rejects(one.ask({ pull: { root: missing.bytes as Uint8Array<ArrayBuffer>, name: '' } }), { code: 'missing_content' })
    assert.deepEqual(await one.query('batches'), [])
  })

  it('kills what an owner ends', async () => {
    const server = await serve()
    const node = await joined(server, { slots: 2 })
    const one = await client(server)
    const batch = await one.submit(1, manifests(2))
    await until('leases', () => node.leases.size === 2)
    await one.ask({ kill: { of: `${batch}.0` } })
    await until('the order to stop', () => node.cancelled.size === 1)
    await one.ask({ kill: { of: 'batch 1' } })
    assert.equal((await decided(one, batch)).killed, 2)
    await until('the order to stop', () => node.cancelled.size === 2)
    assert.deepEqual(new Set([...node.cancelled].map((replica) => parseReplicaId(replica)?.task)), new Set([`${batch}.0`, `${batch}.1`]))
  })

  it('refuses submissions while its disk is full, and goes on when there is room', async () => {
    let full = false
    const wrapStore = (store: Store): Store => ({
      beginEpoch: () => store.beginEpoch(),
      batch: (epoch, changes) => (full ? Promise.reject(new StoreError('disk_full', 'no space left on device')) : store.batch(epoch, changes)),
      get: (key) => store.get(key),
      getMany: (keys) => store.getMany(keys),
      range: (from, to, options) => store.range(from, to, options),
      close: () => store.close()
    })
    const server = await serve({ hooks: { wrapStore } })
    await joined(server, { automatic: true })
    const one = await client(server)
    full = true
    await assert.rejects(one.submit(1, manifests(1), { minQuorum: 1, targetResults: 1 }), { code: 'disk_full', message: /disk is full/ })
    await assert.rejects(one.submit(2, manifests(1)), { code: 'disk_full' })
    full = false
    const batch = await until('room', () => one.submit(1, manifests(1), { minQuorum: 1, targetResults: 1 }))
    assert.equal((await decided(one, batch)).ready, 1)
  })

  it('stops with the reason when another server leads', async () => {
    const wrapStore = (store: Store): Store => ({
      beginEpoch: () => store.beginEpoch(),
      batch: () => Promise.reject(new StoreError('stale_epoch', 'epoch 9 has begun')),
      get: (key) => store.get(key),
      getMany: (keys) => store.getMany(keys),
      range: (from, to, options) => store.range(from, to, options),
      close: () => store.close()
    })
    const server = await serve({ hooks: { wrapStore } })
    const one = await client(server)
    const submit = assert.rejects(one.submit(1, manifests(1)))
    await assert.rejects(server.stopped, { name: 'ServerError', code: 'stale_epoch' })
    await submit
  })

  it('holds the trees that owners bring, under their names, also after a restart', async () => {
    const server = await serve()
    const one = await client(server)
    const mine = await openContentStore(join(dir, 'mine'))
    closing.push(() => mine.close())
    await serveContent(one.host, mine)
    await mkdir(join(dir, 'tree', 'deep'), { recursive: true })
    await writeFile(join(dir, 'tree', 'deep', 'a'), 'hello')
    const { root, bytes } = await mine.addTree(join(dir, 'tree'))
    const pulled = (await one.ask({ pull: { root: root.bytes as Uint8Array<ArrayBuffer>, name: 'greeting' } })).body as { bytes: number }
    assert.ok(pulled.bytes >= bytes)
    const entries = [
      { path: 'x/tree', root: root.bytes as Uint8Array<ArrayBuffer> },
      { path: 'empty', root: CID.parse(EMPTY_DIRECTORY).bytes as Uint8Array<ArrayBuffer> }
    ]
    const made = (await one.ask({ make: { entries, name: 'both' } })).body as Made
    await mkdir(join(dir, 'same', 'x'), { recursive: true })
    await mkdir(join(dir, 'same', 'empty'))
    await mkdir(join(dir, 'same', 'x', 'tree', 'deep'), { recursive: true })
    await writeFile(join(dir, 'same', 'x', 'tree', 'deep', 'a'), 'hello')
    assert.equal(made.root, (await mine.addTree(join(dir, 'same'))).root.toString(), 'the id is the one the same folder on disk has')
    const inputs = [{ name: 'in', root: CID.parse(made.root), path: 'x/tree/deep/a', executables: [] }]
    await one.submit(1, [runManifest('x', { dependencies: inputs })])
    await server.stop()
    const again = await client(await serve())
    assert.deepEqual(await again.query<Resolved>('resolve', 'greeting'), { kind: 'data', id: root.toString(), name: 'greeting' })
    assert.deepEqual(await again.query<Resolved>('resolve', 'both'), { kind: 'data', id: made.root, name: 'both' })
  })
})

describe('starting a project server', () => {
  it('tells the DHT where it is, when there is one', async () => {
    const server = await serve({ dht: { bootstrap: [], serve: true, allowPrivate: true } })
    const dht = { bootstrap: server.addresses(), serve: false, allowPrivate: true }
    const stranger = await createHost({ signer: await generateIdentity(), listen: [], role: 'client', dht })
    closing.push(() => stranger.stop())
    const bytes = await until('the record', () => stranger.findRecord(server.peerId).catch(() => undefined))
    const record = verifyRecord(bytes, { project: server.peerId, nowMs: Date.now() })
    assert.equal(record.epoch, server.epoch)
    assert.deepEqual(record.coordinators, [{ peer: server.peerId, addresses: server.addresses() }])
  })

  it('is refused on a folder that another serves, and on a port that is taken', async () => {
    const server = await serve()
    await assert.rejects(serve(), { code: 'locked', message: /stop it first/ })
    const port = server.addresses()[0]?.split('/')[4]
    await initProject(join(dir, 'other'), { name: 'other', owners: [], listen: [`/ip4/127.0.0.1/tcp/${port}`] })
    await assert.rejects(startProjectServer({ dir: join(dir, 'other'), logger: SILENT }), { code: 'port_in_use', message: new RegExp(`${port}`) })
    await assert.rejects(startProjectServer({ dir: join(dir, 'nowhere'), logger: SILENT }), { code: 'not_a_project' })
  })

  it('begins anew when asked to', async () => {
    const first = await serve()
    const one = await client(first)
    await one.submit(1, manifests(1))
    await first.stop()
    const second = await serve({ clean: true })
    assert.equal(second.peerId, first.peerId)
    assert.deepEqual(await (await client(second)).query('batches'), [])
  })
})
