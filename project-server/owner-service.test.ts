import assert from 'node:assert/strict'
import { afterEach, describe, it } from 'node:test'
import { REQUESTS_OPEN_MAX, Request } from '#protocol/owner/messages'
import { createHost } from '#protocol/peer/live/host'
import { generateIdentity } from '#protocol/signing/keys'
import type { Rate } from '#protocol/token-bucket'
import { until } from '#test/support/until'
import { ServerError } from './errors.ts'
import { systemClock } from './live/clock.ts'
import { SILENT } from './logger.ts'
import { type OpenRequest, OwnerError } from './owner/request.ts'
import { type Handler, OwnerService } from './owner-service.ts'
import { CLIENT_SUBMISSIONS_MAX } from './policy.ts'
import type { Clock } from './ports.ts'
import { FakeOwner } from './testing/fake-owner.ts'
import { ManualClock } from './testing/manual-clock.ts'

const owner = await generateIdentity()
const other = await generateIdentity()
const closing: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close()
})

async function setUp(handler: Handler, options: { readonly clock?: Clock; readonly requests?: Rate } = {}) {
  const { clock = systemClock, ...rest } = options
  const host = await createHost({ signer: await generateIdentity(), listen: ['/ip4/127.0.0.1/tcp/0'], role: 'server' })
  closing.push(() => host.stop())
  const service = new OwnerService({ host, clock, logger: SILENT }, { owners: new Set([owner.peerId, other.peerId]), handler, ...rest })
  await service.start()
  closing.push(() => service.stop())
  const client = async (signer = owner): Promise<FakeOwner> => {
    const made = await FakeOwner.start(host.peerId, host.addresses(), signer)
    closing.push(() => made.stop())
    return made
  }
  return { service, client }
}

const PROJECT = { query: { what: 'project', of: '', limit: 0, after: '' } }

describe('the owner service', () => {
  it('answers many requests at once, each in its parts and in its time', async () => {
    const { client } = await setUp(async ({ id }, { part }) => {
      for (let i = 0; i < id % 4; i++) await part({ body: i, data: Buffer.from(String(i)) })
      return { id }
    })
    const one = await client()
    const answers = await Promise.all(Array.from({ length: 100 }, () => one.ask(PROJECT)))
    for (const [index, { body, parts, data }] of answers.entries()) {
      assert.deepEqual(body, { id: index + 1 })
      assert.deepEqual(parts, [0, 1, 2].slice(0, (index + 1) % 4))
      assert.equal(data, '012'.slice(0, (index + 1) % 4))
    }
  })

  it('sends a refusal with its code, and never a stack', async () => {
    const failures: unknown[] = [
      new OwnerError('no_output', 'gone'),
      new ServerError('disk_full', 'full'),
      new ServerError('unavailable', 'stopping'),
      new Error('a secret')
    ]
    const { client, service } = await setUp(async () => {
      throw failures.shift()
    })
    const one = await client()
    await assert.rejects(one.ask(PROJECT), { code: 'no_output', message: 'gone' })
    await assert.rejects(one.ask(PROJECT), { code: 'disk_full' })
    await assert.rejects(one.ask(PROJECT), { code: 'unavailable' })
    await assert.rejects(one.ask(PROJECT), ({ code, message }) => code === 'unavailable' && !message.includes('secret'))
    assert.equal(service.refused.get('unavailable'), 2)
  })

  it('serves owners only, and says how to become one', async () => {
    const { client } = await setUp(async () => assert.fail('a stranger was served'))
    const stranger = await client(await generateIdentity())
    await assert.rejects(stranger.ask(PROJECT), { code: 'not_owner', message: new RegExp(`add "${stranger.host.peerId}" to "owners"`) })
  })

  it('ends a request that its client gives up, also by leaving', async () => {
    const opened: OpenRequest[] = []
    const { client } = await setUp(async (_request, open) => {
      opened.push(open)
      await new Promise((resolve) => open.signal.addEventListener('abort', resolve))
      throw new OwnerError('unavailable', 'the request was given up')
    })
    const one = await client()
    const [first, second] = [assert.rejects(one.ask(PROJECT)), assert.rejects(one.ask(PROJECT))]
    await until('the requests', () => opened.length === 2)
    await one.write(Request.encode({ id: 1, cancel: true }))
    await first
    assert.equal(opened[1]?.signal.aborted, false)
    await one.stop()
    await until('the end of the second', () => opened[1]?.signal.aborted)
    await second
  })

  it('keeps a bound on open requests, and ends a stream that brings garbage', async () => {
    const gate = Promise.withResolvers<void>()
    const { client } = await setUp(() => gate.promise)
    const one = await client()
    const open = Array.from({ length: REQUESTS_OPEN_MAX }, () => one.ask(PROJECT))
    await assert.rejects(one.ask(PROJECT), { code: 'unavailable', message: /open already/ })
    gate.resolve()
    await Promise.all(open)
    const other = await client()
    const asked = assert.rejects(other.ask(PROJECT))
    await other.write(Buffer.from('garbage'))
    await asked
    await one.ask(PROJECT)
  })

  it('reads a client that asks for more than its rate more slowly, over all its streams, and nobody else (Q06)', async () => {
    const served = new Map<string, number>()
    const clock = new ManualClock()
    const { client } = await setUp(
      async (_request, open) => {
        served.set(open.client, (served.get(open.client) ?? 0) + 1)
        return {}
      },
      { clock, requests: { perSecond: 10, burst: 20 } }
    )
    const flood = await Promise.all(Array.from({ length: 4 }, () => client(owner)))
    const asked = Promise.allSettled(flood.flatMap((one) => Array.from({ length: 200 }, () => one.ask(PROJECT))))
    // Every stream is read once more than its rate allows, and then not.
    await until('the flood to be held back', () => clock.waiting === flood.length)
    const before = served.get(owner.peerId) ?? 0
    assert.ok(before <= 20 + flood.length, `${before} of the flood were served at once`)
    const quiet = await client(other)
    for (let i = 0; i < 15; i++) await quiet.ask(PROJECT)
    assert.equal(served.get(owner.peerId), before)
    for (let passed = 0; passed < 10; passed++) {
      clock.forward(1_000)
      await quiet.ask(PROJECT)
    }
    const after = (served.get(owner.peerId) ?? 0) - before
    assert.ok(after <= 10 * 10 + flood.length, `${after} of the flood were served in 10 s`)
    for (const one of flood) await one.stop()
    await asked
  })

  it('bounds the submissions of a client that are on their way', async () => {
    const gate = Promise.withResolvers<void>()
    const { client } = await setUp(() => gate.promise)
    const one = await client()
    const submit = { batch: new Uint8Array(16), name: '', manifests: [], policy: new Uint8Array(0), more: false, first: 0 }
    const open = Array.from({ length: CLIENT_SUBMISSIONS_MAX }, () => one.ask({ submit }))
    await assert.rejects(one.ask({ submit }), { code: 'unavailable', message: /on their way/ })
    const rest = one.ask(PROJECT)
    gate.resolve()
    await Promise.all([...open, rest])
    await one.ask({ submit })
  })
})
