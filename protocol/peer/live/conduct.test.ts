import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { startHost } from '#test/support/hosts'
import { until } from '#test/support/until'
import { REFUSED_MS } from '../conduct.ts'
import type { FrameStream, Host } from '../host.ts'

const OPTIONS = { frameBytesMax: 1024, streamsMax: 4 }

/** One that hears what comes until the stream ends, and two that call it. */
async function setUp(): Promise<{ server: Host; good: Host; ill: Host }> {
  const server = await startHost()
  await server.handle('/hear', OPTIONS, async (stream) => {
    for await (const frame of stream.frames()) await stream.write(frame)
  })
  const [good, ill] = [await startHost({ listen: [] }), await startHost({ listen: [] })]
  for (const host of [good, ill]) await host.connect(server.peerId, server.addresses())
  return { server, good, ill }
}

async function echoes(stream: FrameStream): Promise<boolean> {
  await stream.write(Uint8Array.of(7))
  const { value } = await stream.frames().next()
  return value?.[0] === 7
}

/** The ill one is hung up on and may not call again for now; who was there already does not notice. */
async function isShutOut({ server, good, ill }: { server: Host; good: Host; ill: Host }): Promise<void> {
  await until('it is hung up on', () => !ill.isConnected(server.peerId))
  await assert.rejects(ill.connect(server.peerId, server.addresses()), { code: 'unreachable' })
  assert.ok(await echoes(await good.open(server.peerId, '/hear', OPTIONS)))
}

describe('a peer that misbehaves', { timeout: 60_000 }, () => {
  it('is hung up on when it keeps opening streams that it may not have, and may call again after a while', async () => {
    const all = await setUp()
    const { server, ill } = all
    const since = Date.now()
    const held: Promise<FrameStream>[] = []
    while (ill.isConnected(server.peerId) && held.length < 200) {
      const stream = ill.open(server.peerId, '/hear', { frameBytesMax: 1024, streamsMax: 1_000 })
      stream.catch(() => undefined)
      held.push(stream)
      await new Promise(setImmediate)
    }
    await isShutOut(all)
    const calls = async (): Promise<boolean> =>
      ill.connect(server.peerId, server.addresses()).then(
        () => true,
        () => false
      )
    await until('it may call again', calls, REFUSED_MS * 4)
    assert.ok(Date.now() - since >= REFUSED_MS)
    assert.ok(await echoes(await ill.open(server.peerId, '/hear', OPTIONS)))
  })

  it('is hung up on when it keeps breaking the framing', async () => {
    const all = await setUp()
    const { server, ill } = all
    for (let tried = 0; tried < 100 && ill.isConnected(server.peerId); tried++) {
      const stream = await ill.open(server.peerId, '/hear', { frameBytesMax: 4096, streamsMax: 1 }).catch(() => undefined)
      await stream?.write(new Uint8Array(2048)).catch(() => undefined)
      await stream
        ?.frames()
        .next()
        .catch(() => undefined)
    }
    await isShutOut(all)
  })

  it('is not one that asks for far more at once than it may have: what is too much is refused on its own side', async () => {
    const { server, good } = await setUp()
    const asked = await Promise.allSettled(Array.from({ length: 150 }, () => good.open(server.peerId, '/hear', OPTIONS)))
    const refused = asked.filter((one) => one.status === 'rejected')
    assert.equal(asked.length - refused.length, OPTIONS.streamsMax)
    for (const { reason } of refused) assert.match(reason.message, /streams for \/hear are open/)
    for (const one of asked) if (one.status === 'fulfilled') assert.ok(await echoes(one.value))
    assert.ok(good.isConnected(server.peerId))
  })

  it('is not one that broke a frame once, nor one with many streams one after another', async () => {
    const { server, good } = await setUp()
    const broken = await good.open(server.peerId, '/hear', { frameBytesMax: 4096, streamsMax: 1 })
    await broken.write(new Uint8Array(2048))
    await assert.rejects(broken.frames().next())
    for (let opened = 0; opened < 80; opened++) {
      const stream = await good.open(server.peerId, '/hear', OPTIONS)
      assert.ok(await echoes(stream))
      await stream.close()
      await stream.frames().next()
    }
    assert.ok(good.isConnected(server.peerId))
  })
})
