import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeManifest } from '#protocol/bundle/manifest'
import { cidOfBytes, DAG_CBOR, RAW } from '#protocol/content/cid'
import { batchIdFrom } from '#protocol/ids'
import type { BatchView, Request } from '#protocol/owner/messages'
import { FakeCoordinator, type FakeStream, ManualClock, settled } from '#test/support/fake-owner'
import type { NameEntry } from './names.ts'
import { ownerClient } from './owner-client.ts'
import { OwnerLink } from './owner-link.ts'

const root = (text: string): string => cidOfBytes(RAW, Buffer.from(text)).toString()
const image = cidOfBytes(DAG_CBOR, Buffer.from('image')).toString()
const BATCH = batchIdFrom(new Uint8Array(16))
const batchView = (over: Partial<BatchView>): BatchView => ({
  id: BATCH,
  name: '',
  createdAtMs: 1,
  tasks: 2,
  created: 0,
  running: 0,
  validating: 0,
  ready: 0,
  failed: 0,
  killed: 0,
  ...over
})

function setUp(names: readonly Partial<NameEntry>[] = []) {
  const coordinator = new FakeCoordinator()
  const clock = new ManualClock()
  const random = { bytes: (count: number) => new Uint8Array(count), fraction: () => 0 }
  const link = new OwnerLink({ open: coordinator.open, clock, random })
  const nothing = () => Promise.reject(new Error('this test moves no content'))
  const client = ownerClient({
    link,
    open: coordinator.open,
    clock,
    random,
    project: 'p',
    host: {
      peerId: 'me',
      addresses: () => [],
      handle: nothing,
      connect: nothing,
      isConnected: () => true,
      open: nothing,
      disconnect: nothing,
      publishRecord: nothing,
      findRecord: nothing,
      stop: nothing
    },
    connected: nothing,
    store: nothing,
    workFolder: nothing,
    addName: nothing,
    names: async () =>
      names.map((entry) => ({ name: '', kind: 'data', root: root('x'), bytes: 1, project: 'p', atMs: 1, executables: [], source: '', ...entry })),
    existsHere: async (path) => path === './here',
    soon: (call) => {
      setImmediate(call)
    },
    close: async () => {}
  })
  const requests: Request[] = []
  const answerWith = (body: (request: Request) => unknown): void => {
    coordinator.handle = (request: Request, stream: FakeStream) => {
      requests.push(request)
      const answer = body(request)
      if (answer instanceof Error) stream.answer({ id: request.id, code: answer.message, message: answer.message })
      else stream.answer({ id: request.id, body: answer })
    }
  }
  return { coordinator, client, requests, answerWith }
}

describe('the client', () => {
  it('sends tasks that are submitted together as one batch for each policy', async () => {
    const { client, requests, answerWith } = setUp()
    answerWith(() => ({}))
    const submit = (command: string, minQuorum: number) => client.submitTask({ engine: 'process', command: [command], policy: { minQuorum } })
    const tasks = await Promise.all([submit('a', 1), submit('b', 1), submit('c', 2)])
    assert.deepEqual(
      requests.map(({ submit: sent }) => sent?.manifests.map((bytes) => decodeManifest(bytes).command[0])),
      [['a', 'b'], ['c']]
    )
    assert.deepEqual(
      tasks.map(({ id }) => id),
      [`${BATCH}.0`, `${BATCH}.1`, `${BATCH}.0`]
    )
  })

  it('tells everyone whose task was in a batch that was refused', async () => {
    const { client, answerWith } = setUp()
    answerWith(() => new Error('missing_content'))
    const submit = () => client.submitTask({ engine: 'process', command: ['a'] })
    for (const { status } of await Promise.allSettled([submit(), submit()])) assert.equal(status, 'rejected')
  })

  it('takes an image and inputs by name, id, and finished task, and asks the project only for what it does not know', async () => {
    const names: Partial<NameEntry>[] = [
      { name: 'tools', kind: 'image', root: image },
      { name: 'set/one', root: root('one'), executables: ['bin/run'] }
    ]
    const { client, requests, answerWith } = setUp(names)
    answerWith(({ query }) => {
      if (query?.what === 'resolve') return query.of === 'k3vq.0' ? { kind: 'task', id: `${BATCH}.0` } : new Error('not_found')
      const task = {
        id: `${BATCH}.0`,
        name: '',
        batch: BATCH,
        index: 0,
        status: 'ready',
        bundle: 'b',
        command: ['x'],
        createdAtMs: 1,
        quorum: 2,
        agreeing: 2,
        replicasIssued: 2,
        numFailures: 0
      }
      return query?.what === 'task' ? { ...task, output: root('output') } : new Error('not_found')
    })
    const inputs = { a: 'set/one/bin', b: `${root('plain')}/x`, c: 'k3vq.0/out' }
    const [bytes] = await client.prepare([{ image: 'tools', command: ['x'], inputs }])
    const manifest = decodeManifest(bytes ?? new Uint8Array())
    assert.equal(manifest.image?.toString(), image)
    assert.deepEqual(
      manifest.dependencies.map(({ name, root: cid, path, executables }) => [name, cid.toString(), path, executables]),
      [
        ['a', root('one'), 'bin', ['run']],
        ['b', root('plain'), 'x', []],
        ['c', root('output'), 'out', []]
      ]
    )
    assert.ok(requests.every(({ query }) => query?.of.startsWith('k3vq') || query?.of === `${BATCH}.0`))
    await assert.rejects(client.prepare([{ image: 'unknown', command: ['x'] }]), { code: 'not_found', message: /talko image list/ })
    await assert.rejects(client.prepare([{ image: 'tools', command: ['x'], inputs: { a: './missing' } }]), { code: 'not_found' })
    await assert.rejects(client.prepare([{ command: ['x'] }]), { code: 'usage' })
  })

  it('watches a batch to its end, keeping only the newest state', async () => {
    const { coordinator, client } = setUp()
    const seen: number[] = []
    const watching = (async () => {
      for await (const view of client.watch(BATCH)) seen.push(view.ready)
    })()
    await settled()
    const id = coordinator.last.requests[0]?.id ?? 0
    coordinator.last.answer({ id, end: false, body: batchView({ running: 2 }) })
    await settled()
    coordinator.last.answer({ id, end: false, body: batchView({ running: 1, ready: 1 }) })
    coordinator.last.answer({ id, body: batchView({ ready: 2 }) })
    await watching
    assert.deepEqual([seen[0], seen.at(-1)], [0, 2])
  })

  it('gives up on a project that answers with something else, and does not ask for ever', async () => {
    const { coordinator, client } = setUp()
    coordinator.handle = ({ id, cancel }, stream) => {
      if (!cancel) stream.raw(Buffer.concat([Buffer.from([8, id, 0x2a, 1]), Buffer.from([0x07])]))
    }
    await assert.rejects(client.wait(BATCH), { code: 'refused' })
    assert.equal(coordinator.streams.length, 1)
    const { client: other, answerWith } = setUp()
    for (const body of [null, 5, [{}], { id: 1 }, [{ id: 'x', name: 7 }]]) {
      answerWith(() => body)
      await assert.rejects(other.nodes(), { code: 'refused' })
      await assert.rejects(other.task('x'), { code: 'refused' })
      await assert.rejects(other.info(), { code: 'refused' })
      await assert.rejects(other.receipt('x'), { code: 'refused' })
    }
  })
})
