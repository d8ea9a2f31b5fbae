import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { afterEach, describe, it } from 'node:test'
import { Frame } from '#protocol/control/messages'
import type { Host } from '#protocol/peer/host'
import { createHost } from '#protocol/peer/live/host'
import { generateIdentity } from '#protocol/signing/keys'
import type { Rate } from '#protocol/token-bucket'
import { until } from '#test/support/until'
import { ControlService } from './control-service.ts'
import type { Event } from './coordinator/events.ts'
import { systemClock } from './live/clock.ts'
import { SILENT } from './logger.ts'
import { HEARTBEAT_FRAMES, HELLO_MS_MAX } from './policy.ts'
import type { Clock } from './ports.ts'
import { FakeNode } from './testing/fake-node.ts'
import { ManualClock } from './testing/manual-clock.ts'

const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

/** The service on a real host, with a core that only welcomes: what it is told is kept, what it says is the test's. */
async function setUp(options: { outbox?: { bytesMax: number; framesMax: number }; hellos?: Rate; frames?: Rate; clock?: Clock; welcome?: boolean } = {}) {
  const signer = await generateIdentity()
  const host: Host = await createHost({ signer, listen: ['/ip4/127.0.0.1/tcp/0'], role: 'server' })
  closing.push(() => host.stop())
  const events: Event[] = []
  const committer = {
    apply(event: Event): void {
      events.push(event)
      if (event.kind !== 'hello' || options.welcome === false) return
      queueMicrotask(() => {
        control.carry({ kind: 'welcome', node: event.node, resumed: false, received: 0, unknown: [] })
        control.flush()
      })
    },
    room: () => undefined
  }
  const control = new ControlService(
    { host, committer, clock: options.clock ?? systemClock, logger: SILENT },
    { project: host.peerId, epoch: 7, heartbeatMs: 3000, ...options }
  )
  await control.start()
  closing.push(() => control.stop())
  const node = async (): Promise<FakeNode> => {
    const made = await FakeNode.start({ project: host.peerId, addresses: host.addresses() })
    closing.push(() => made.stop())
    return made
  }
  const kinds = (of: FakeNode): string[] => events.filter((event) => 'node' in event && event.node === of.peerId).map(({ kind }) => kind)
  return { host, control, events, node, kinds }
}

describe('the control service', () => {
  it('welcomes a node, answers its heartbeats, and sends in order with acks riding along', async () => {
    const { control, node } = await setUp()
    const one = await node()
    const welcome = await until('a welcome', () => one.last('welcome'))
    assert.deepEqual([welcome.version, welcome.epoch, welcome.heartbeatMs], [1, 7, 3000])
    const before = one.frames.length
    await one.tell({ heartbeat: {} })
    await until('an answer to the heartbeat', () => one.frames.length > before)
    control.carry({ kind: 'ack', node: one.peerId, seq: 5 })
    for (const seq of [1, 2, 3])
      control.carry({ kind: 'send', node: one.peerId, seq, frame: Frame.encode({ seq, ack: 0, cancel: { replicas: [], reason: 'killed' } }) })
    control.flush()
    await until('the frames', () => one.frames.filter(({ seq }) => seq > 0).length === 3)
    assert.deepEqual(
      one.frames.filter(({ seq }) => seq > 0).map(({ seq, ack }) => [seq, ack]),
      [
        [1, 5],
        [2, 0],
        [3, 0]
      ]
    )
  })

  it('sends a node nothing before it is welcomed', async () => {
    const { control, events, node } = await setUp({ welcome: false })
    const one = await node()
    await until('the hello', () => events.length > 0)
    control.carry({ kind: 'send', node: one.peerId, seq: 1, frame: Frame.encode({ seq: 1, ack: 0, release: { replicas: [] } }) })
    control.carry({ kind: 'welcome', node: one.peerId, resumed: true, received: 0, unknown: [] })
    control.flush()
    await until('the welcome', () => one.last('welcome'))
    assert.equal(one.frames[0]?.welcome?.resumed, true)
  })

  it('ends a stream of which something was lost, and takes what comes twice once', async () => {
    const { control, node, kinds } = await setUp()
    const one = await node()
    await until('a welcome', () => one.last('welcome'))
    await one.tell({ demand: { slots: 1 }, before: 1 })
    await one.tell({ demand: { slots: 1 }, before: 1 })
    await one.tell({ heartbeat: {}, before: 2 })
    await until('the heartbeat', () => kinds(one).includes('heartbeat'))
    assert.deepEqual(
      kinds(one).filter((kind) => kind !== 'ack'),
      ['hello', 'demand', 'heartbeat']
    )
    await one.tell({ heartbeat: {}, before: 4 })
    await until('the end of the stream', () => one.gone?.aborted)
    assert.equal(one.last('refused')?.code, 'gap')
    assert.equal(control.closed.get('gap'), 1)
  })

  it('says with an answer to a heartbeat how much it said before', async () => {
    const { control, node } = await setUp()
    const one = await node()
    await until('a welcome', () => one.last('welcome'))
    control.carry({ kind: 'send', node: one.peerId, seq: 1, frame: Frame.encode({ seq: 1, ack: 0, release: { replicas: [] } }) })
    control.flush()
    await until('a message', () => one.last('release'))
    await one.tell({ heartbeat: {} })
    await until('the answer', () => one.frames.length === 3)
    assert.deepEqual(
      one.frames.map(({ seq, before }) => [seq, before]),
      [
        [0, 0],
        [1, undefined],
        [0, 2]
      ]
    )
  })

  it('refuses another project and another version, and says what to do', async () => {
    const { control, node } = await setUp()
    const one = await node()
    await one.connect({ project: one.peerId })
    const project = await until('a refusal', () => one.last('refused'))
    assert.equal(project.code, 'wrong_project')
    assert.equal(project.retryMs, 0)
    assert.match(project.message, /invite/)
    await one.connect({ versions: [9] })
    await until('a refusal of the version', () => one.last('refused')?.code === 'version')
    assert.equal(control.closed.get('wrong_project'), 1)
    assert.equal(control.closed.get('version'), 1)
  })

  it('drops a peer that opens a stream and stays silent', async () => {
    const clock = new ManualClock()
    const { control, node } = await setUp({ clock })
    const one = await node()
    await until('a welcome', () => one.last('welcome'))
    const before = clock.waiting
    const stream = await one.raw()
    await until('the limit of its hello', () => clock.waiting > before)
    clock.forward(HELLO_MS_MAX)
    await until('the end of the stream', () => stream.gone.aborted)
    assert.equal(control.closed.get('silent'), 1)
  })

  it('says nothing to who calls after it was stopped: what waits for the disk is for those of before', async () => {
    const { control, events, node } = await setUp({ welcome: false })
    const one = await node()
    await until('a hello', () => events.some(({ kind }) => kind === 'hello'))
    control.stop()
    const heard = events.length
    await one.connect()
    control.carry({ kind: 'welcome', node: one.peerId, resumed: false, received: 0, unknown: [] })
    control.flush()
    await until('the end of its stream', () => one.gone?.aborted)
    assert.deepEqual([one.frames.length, events.slice(heard).filter(({ kind }) => kind === 'hello')], [0, []])
  })

  it('lets the newest stream of a node win, without a word that the node is gone', async () => {
    const { control, node, kinds } = await setUp()
    const one = await node()
    await until('a welcome', () => one.last('welcome'))
    const old = one.gone
    await one.connect()
    await until('the end of the old stream', () => old?.aborted)
    await until('a second welcome', () => one.frames.filter(({ welcome }) => welcome !== undefined).length === 2)
    assert.deepEqual(
      kinds(one).filter((kind) => kind !== 'heartbeat' && kind !== 'ack'),
      ['hello', 'hello']
    )
    assert.equal(control.connected, 1)
    one.cut()
    await until('the node to be gone', () => kinds(one).includes('gone'))
    assert.equal(control.connected, 0)
  })

  it('closes only the stream that brings garbage, oversized frames or forged results', async () => {
    const { control, events, node, kinds } = await setUp()
    const good = await node()
    await until('a welcome', () => good.last('welcome'))
    const hostile: readonly [string, (bad: FakeNode) => Promise<void>][] = [
      ['garbage', (bad) => bad.write(randomBytes(200))],
      ['a frame that claims 100 MB', (bad) => bad.write(new Uint8Array(4 * 1024 * 1024 + 1))],
      ['a message of the coordinator', (bad) => bad.tell({ assign: { leases: [], signature: new Uint8Array() } })],
      ['a result of another node', async (bad) => bad.write(await forged(good, bad))]
    ]
    for (const [what, attack] of hostile) {
      const bad = await node()
      await until('a welcome', () => bad.last('welcome'))
      await attack(bad)
      if (what.startsWith('a frame that')) bad.cut()
      await until(`the stream to end after ${what}`, () => bad.gone?.aborted)
      await until('the node to be gone', () => kinds(bad).includes('gone'))
      assert.ok(!kinds(bad).includes('reports'))
    }
    assert.equal(control.closed.get('malformed'), 2)
    assert.equal(control.closed.get('bad_signature'), 1)
    assert.equal(control.connected, 1)
    await good.tell({ demand: { slots: 9 } })
    await until('the good node to be heard', () => events.some((event) => event.kind === 'demand' && event.node === good.peerId))
  })

  it('drops a node that reads too slowly for what waits', async () => {
    const { control, node, kinds } = await setUp({ outbox: { bytesMax: 1000, framesMax: 100 } })
    const one = await node()
    await until('a welcome', () => one.last('welcome'))
    control.carry({ kind: 'send', node: one.peerId, seq: 1, frame: new Uint8Array(2000) })
    await until('the stream to end', () => one.gone?.aborted)
    assert.equal(control.closed.get('slow'), 1)
    assert.ok(kinds(one).includes('gone'))
  })

  it('does not end a new stream for what was wrong with the one before, but for a hello that is not welcome', async () => {
    const { control, events, node } = await setUp({ welcome: false })
    const one = await node()
    await until('the hello', () => events.length > 0)
    control.carry({ kind: 'disconnect', node: one.peerId, code: 'silent', message: 'said of an older stream' })
    assert.equal(control.isConnected(one.peerId), true)
    control.carry({ kind: 'disconnect', node: one.peerId, code: 'full', message: 'no more nodes' })
    assert.equal((await until('the reason', () => one.last('refused'))).code, 'full')
    assert.equal(control.isConnected(one.peerId), false)
  })

  it('welcomes a node that comes back when the hello before was not welcome, and it had gone before it heard so', async () => {
    const { control, kinds, node } = await setUp({ welcome: false })
    const one = await node()
    await until('the hello', () => kinds(one).includes('hello'))
    one.cut()
    await until('the node to be gone', () => kinds(one).includes('gone'))
    control.carry({ kind: 'disconnect', node: one.peerId, code: 'banned', message: 'for a while' })
    await one.connect()
    await until('the second hello', () => kinds(one).filter((kind) => kind === 'hello').length === 2)
    control.carry({ kind: 'welcome', node: one.peerId, resumed: false, received: 0, unknown: [] })
    control.flush()
    await until('a welcome', () => one.last('welcome'))
  })

  it('tells a node why the core cut it off', async () => {
    const { control, node } = await setUp()
    const one = await node()
    await until('a welcome', () => one.last('welcome'))
    control.carry({ kind: 'disconnect', node: one.peerId, code: 'gap', message: 'a number is missing' })
    const refused = await until('the reason', () => one.last('refused'))
    assert.equal(refused.code, 'gap')
    assert.ok(refused.retryMs > 0)
    await until('the stream to end', () => one.gone?.aborted)
  })

  it('refuses a node that says hello again and again, and no other (Q06)', async () => {
    const { control, events, node } = await setUp({ hellos: { perSecond: 0.001, burst: 3 } })
    const one = await node()
    await until('a welcome', () => one.last('welcome'))
    for (let said = 2; said <= 10; said++) {
      await one.connect()
      const answered = (): number => events.filter(({ kind }) => kind === 'hello').length + (control.closed.get('too_often') ?? 0)
      await until('an answer', () => answered() === said)
    }
    assert.equal(control.closed.get('too_often'), 7)
    const another = await node()
    await until('a welcome', () => another.last('welcome'))
  })

  it('reads a node that says more than its rate more slowly, and no other', async () => {
    const clock = new ManualClock()
    const { events, node } = await setUp({ clock, frames: { perSecond: 10 * HEARTBEAT_FRAMES, burst: 20 * HEARTBEAT_FRAMES } })
    const one = await node()
    await until('a welcome', () => one.last('welcome'))
    for (let said = 0; said < 200; said++) void one.tell({ heartbeat: {} }).catch(() => undefined)
    const heard = (): number => events.filter((event) => event.kind === 'heartbeat' && event.node === one.peerId).length
    await until('as much as its rate allows', () => heard() >= 19)
    const other = await node()
    await until('a welcome', () => other.last('welcome'))
    for (let said = 0; said < 10; said++) await other.tell({ heartbeat: {} })
    await until('what the other says', () => events.filter((event) => event.kind === 'heartbeat' && event.node === other.peerId).length === 10)
    assert.ok(heard() <= 21, `${heard()} frames of the flood were heard at once`)
    clock.forward(1_000)
    await until('what a second more allows', () => heard() >= 21)
    assert.ok(heard() <= 32)
  })
})

/** A frame with a result signed by `good`, as `bad` would steal it. */
async function forged(good: FakeNode, bad: FakeNode): Promise<Uint8Array> {
  const { encodeResult, RESULT_DOMAIN } = await import('#protocol/result/result')
  const { leavesOf, rootOf } = await import('#protocol/signing/batch')
  const body = new Uint8Array(encodeResult(good.resultOf({ replica: `${'a'.repeat(26)}.0.1`, epoch: 1, manifest: new Uint8Array(), gpus: [] })))
  const signature = new Uint8Array(bad.signer.sign(RESULT_DOMAIN, rootOf(leavesOf([body]))))
  return Frame.encode({ seq: 1, ack: 0, reports: { results: [body], signature } })
}
