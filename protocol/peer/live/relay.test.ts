/** R10, R11: hosts that nobody can dial reach each other through relays, on real libp2p on loopback. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { LOOPBACK, startHost } from '#test/support/hosts'
import { until } from '#test/support/until'
import { DEFAULT_RELAY_LIMITS, type RelayLimits } from '../../relay/limits.ts'
import { generateIdentity, type Signer } from '../../signing/keys.ts'
import { throughRelay } from '../addresses.ts'
import type { FrameStream, Host } from '../host.ts'
import type { HostOptions, LiveHost } from './host.ts'

const MIB = 1024 * 1024
const OPTIONS = { frameBytesMax: MIB + 16 }

const start = (options: Partial<HostOptions>): Promise<LiveHost> => startHost({ role: 'volunteer', listen: [], ...options })

const startRelay = (limits: Partial<RelayLimits> = {}, options: { listen?: string; signer?: Signer } = {}): Promise<LiveHost> =>
  start({
    role: 'relay',
    listen: [options.listen ?? LOOPBACK],
    relay: { ...DEFAULT_RELAY_LIMITS, ...limits },
    ...(options.signer === undefined ? {} : { signer: options.signer })
  })

const addressOf = (host: Host): string => host.addresses()[0] ?? ''
const held = (host: LiveHost): number => host.relays().filter((relay) => relay.held).length

/** A host behind a relay that sends blocks of a MiB: as many as the frame's first byte says. */
async function startServer(relays: readonly LiveHost[], options: Partial<HostOptions> = {}): Promise<LiveHost> {
  const server = await start({ role: 'server', relays: relays.map(addressOf), ...options })
  await server.handle('/blocks', OPTIONS, async (stream) => {
    const block = new Uint8Array(MIB)
    for await (const [count = 0] of stream.frames()) for (let i = 0; i < count; i += 1) await stream.write(block)
  })
  return server
}

async function read(stream: FrameStream, frames: number): Promise<number> {
  let bytes = 0
  let left = frames
  for await (const frame of stream.frames()) {
    bytes += frame.length
    left -= 1
    if (left === 0) break
  }
  return bytes
}

describe('relays', { timeout: 60_000 }, () => {
  it('carry what two hosts say that cannot dial each other, both ways, and count it', async () => {
    const relay = await startRelay()
    const server = await startServer([relay])
    await until('a reservation', () => held(server) === 1)
    assert.ok(server.addresses().includes(throughRelay(addressOf(relay), server.peerId)))
    const near = await start({})
    await near.connect(server.peerId, [throughRelay(addressOf(relay), server.peerId)])
    assert.equal(near.connections(server.peerId)[0]?.relayed, true)
    const stream = await near.open(server.peerId, '/blocks', OPTIONS)
    await stream.write(Uint8Array.of(24))
    assert.equal(await read(stream, 24), 24 * MIB)
    await near.handle('/back', OPTIONS, async (back) => {
      for await (const frame of back.frames()) await back.write(frame)
    })
    const back = await server.open(near.peerId, '/back', OPTIONS)
    await back.write(Uint8Array.of(5))
    await back.close()
    for await (const frame of back.frames()) assert.deepEqual(frame, Uint8Array.of(5))
    const counts = relay.relayed()
    assert.equal(counts?.circuits, 1)
    assert.ok((counts?.bytes ?? 0) > 24 * MIB)
    await near.disconnect(server.peerId)
    await until('the end of the circuit', () => relay.relayed()?.circuits === 0)
  })

  it('hold back a sender whose receiver does not read, instead of keeping what it says', async () => {
    const relay = await startRelay()
    const server = await startServer([relay])
    await until('a reservation', () => held(server) === 1)
    const near = await start({})
    await near.connect(server.peerId, [throughRelay(addressOf(relay), server.peerId)])
    const stream = await near.open(server.peerId, '/blocks', OPTIONS)
    await stream.write(Uint8Array.of(96))
    // The sender goes on until every buffer on the way is full.
    let before = -1
    let same = 0
    await until('all to stand still', () => {
      const now = relay.relayed()?.bytes ?? 0
      same = now === before ? same + 1 : 0
      before = now
      return now > MIB && same > 20
    })
    assert.ok(before < 64 * MIB, `${before} bytes went through`)
    assert.equal(await read(stream, 96), 96 * MIB)
  })

  it('end a connection at its limit; the next one is made anew and goes on', async () => {
    const relay = await startRelay({ circuitBytesMax: 3 * MIB })
    const server = await startServer([relay])
    await until('a reservation', () => held(server) === 1)
    const near = await start({})
    const at = [throughRelay(addressOf(relay), server.peerId)]
    let got = 0
    while (got < 6) {
      await near.connect(server.peerId, at)
      try {
        const stream = await near.open(server.peerId, '/blocks', OPTIONS)
        await stream.write(Uint8Array.of(6 - got))
        for await (const frame of stream.frames()) {
          assert.equal(frame.length, MIB)
          got += 1
          if (got === 6) break
        }
      } catch {
        await until('the end of the connection', () => !near.isConnected(server.peerId))
      }
    }
    assert.ok((relay.relayed()?.ended.circuit_bytes ?? 0) >= 1)
  })

  it('refuse who has no place, and who asks for more than there are', async () => {
    const relay = await startRelay({ reservationsMax: 1 })
    const [first, near] = [await startServer([relay]), await start({})]
    await until('the first reservation', () => held(first) === 1)
    const second = await startServer([relay])
    await until('a refusal', () => second.relays()[0]?.trouble !== '')
    assert.deepEqual(relay.relayed()?.refused.reservations_full, 1)
    await assert.rejects(near.connect(second.peerId, [throughRelay(addressOf(relay), second.peerId)]), { code: 'unreachable' })
    assert.ok((relay.relayed()?.refused.no_reservation ?? 0) >= 1)
  })

  it('are left for others when they die, and taken again when they are back', async () => {
    const signer = await generateIdentity()
    const dying = await startRelay({}, { signer })
    const listen = addressOf(dying).replace(/\/p2p\/.*/, '')
    const relays = [dying, await startRelay(), await startRelay(), await startRelay()]
    const server = await startServer(relays)
    await until('three reservations', () => held(server) === 3)
    const lost = relays.find((relay) => server.relays().find(({ peer, held }) => held && peer === relay.peerId))
    assert.ok(lost !== undefined)
    await lost.stop()
    await until('another relay', () => held(server) === 3 && server.relays().every(({ peer, held }) => !held || peer !== lost.peerId))
    const near = await start({})
    await near.connect(
      server.peerId,
      relays.map((relay) => throughRelay(relay === lost ? `${listen}/p2p/${lost.peerId}` : addressOf(relay), server.peerId))
    )
    await near.stop()
    for (const relay of relays) if (relay !== lost) await relay.stop()
    await until('no reservation', () => held(server) === 0)
    if (lost !== dying) await dying.stop()
    await startRelay({}, { signer, listen })
    await until('a reservation', () => held(server) === 1)
  })
})
