import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { describe, it } from 'node:test'
import { startHost } from '#test/support/hosts'
import { until } from '#test/support/until'
import { generateIdentity } from '../../signing/keys.ts'
import type { Host } from '../host.ts'

const OPTIONS = { frameBytesMax: 1024 }

const withoutPeer = (host: Host): string => host.addresses()[0]?.replace(/\/p2p\/.*/, '') ?? ''

describe('a host', { timeout: 60_000 }, () => {
  it('is known by its key and tells where it listens', async () => {
    const signer = await generateIdentity()
    const host = await startHost({ signer })
    assert.equal(host.peerId, signer.peerId)
    assert.match(host.addresses()[0] ?? '', new RegExp(`^/ip4/127\\.0\\.0\\.1/tcp/\\d+/p2p/${signer.peerId}$`))
    const announced = await startHost({ announce: ['/dns4/talko.example/tcp/4001'] })
    assert.deepEqual(announced.addresses(), [`/dns4/talko.example/tcp/4001/p2p/${announced.peerId}`])
  })

  it('connects with and without the peer id in the address, past addresses that do not answer', async () => {
    const far = await startHost()
    for (const addresses of [far.addresses(), [withoutPeer(far)], ['/ip4/127.0.0.1/tcp/1', ...far.addresses()]]) {
      const near = await startHost({ listen: [] })
      await near.connect(far.peerId, addresses)
      await near.connect(far.peerId, [])
      assert.equal(near.isConnected(far.peerId), true)
      await near.disconnect(far.peerId)
      assert.equal(near.isConnected(far.peerId), false)
    }
  })

  it('says of each address why nobody could be reached there', async () => {
    const near = await startHost({ listen: [] })
    const { peerId } = await generateIdentity()
    await assert.rejects(near.connect(peerId, ['/ip4/127.0.0.1/tcp/1', '/ip4/127.0.0.1/udp/9']), {
      code: 'unreachable',
      message: `cannot reach ${peerId}: /ip4/127.0.0.1/tcp/1 (nothing listens there), /ip4/127.0.0.1/udp/9 (no transport for such an address)`
    })
    await assert.rejects(near.connect(peerId, []), { code: 'unreachable' })
  })

  it('notices that another peer answers', async () => {
    const [near, far] = [await startHost({ listen: [] }), await startHost()]
    const { peerId } = await generateIdentity()
    await assert.rejects(near.connect(peerId, [withoutPeer(far)]), { code: 'wrong_peer' })
    await assert.rejects(near.connect(peerId, far.addresses()), { code: 'wrong_peer' })
  })

  it('reaches a peer at one of its addresses when it cannot read another', async () => {
    const [near, far] = [await startHost({ listen: [] }), await startHost()]
    const unknown = '/ip4/203.0.113.1/carrier-pigeon/7'
    await assert.rejects(near.connect(far.peerId, [unknown]), { code: 'unreachable', message: /carrier-pigeon\/7 \(not an address of a kind/ })
    await near.connect(far.peerId, [unknown, ...far.addresses()])
    assert.equal(near.isConnected(far.peerId), true)
  })

  it('gives up on a server that accepts and says nothing, when the caller does', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await new Promise((resolve) => silent.once('listening', resolve))
    const address = silent.address()
    assert.ok(typeof address === 'object' && address !== null)
    const near = await startHost({ listen: [] })
    const { peerId } = await generateIdentity()
    await assert.rejects(near.connect(peerId, [`/ip4/127.0.0.1/tcp/${address.port}`], AbortSignal.timeout(200)), { name: 'TimeoutError' })
    silent.close()
  })

  it('says of a WebSocket that nobody answers there', async () => {
    const near = await startHost({ listen: [] })
    const { peerId } = await generateIdentity()
    await assert.rejects(near.connect(peerId, ['/ip4/127.0.0.1/tcp/1/ws']), { code: 'unreachable', message: /\/tcp\/1\/ws \(no WebSocket answers there\)$/ })
  })

  it('names an address that is taken, and addresses that are none', async () => {
    const first = await startHost()
    const taken = withoutPeer(first)
    await assert.rejects(startHost({ listen: [taken] }), { code: 'address_in_use', message: new RegExp(`127.0.0.1:${taken.split('/').at(-1)} is in use`) })
    await assert.rejects(startHost({ listen: ['localhost:4001'] }), { code: 'bad_address' })
    await assert.rejects(startHost({ listen: ['/ip4/127.0.0.1/udp/4001'] }), { code: 'bad_address' })
    await assert.rejects(startHost({ listen: ['/ip4/203.0.113.1/tcp/4001'] }), { code: 'bad_address' })
    await assert.rejects(startHost({ announce: ['nowhere'] }), { code: 'bad_address' })
    await assert.rejects(first.connect('me', []), { code: 'bad_address' })
  })

  it('opens streams only where there is a connection and somebody who speaks the protocol', async () => {
    const [near, far] = [await startHost({ listen: [] }), await startHost()]
    await assert.rejects(near.open(far.peerId, '/x', OPTIONS), { code: 'not_connected' })
    await near.connect(far.peerId, far.addresses())
    await assert.rejects(near.open(far.peerId, '/x', OPTIONS), { code: 'protocol_unsupported' })
    await near.handle('/back', OPTIONS, async (stream) => {
      for await (const frame of stream.frames()) await stream.write(frame)
    })
    const back = await far.open(near.peerId, '/back', OPTIONS)
    await back.write(Uint8Array.of(5))
    await back.close()
    for await (const frame of back.frames()) assert.deepEqual(frame, Uint8Array.of(5))
  })

  it('tells a peer that is reached with a wrong bootstrap address at once', async () => {
    const signer = await generateIdentity()
    const withDht = (bootstrap: string) => startHost({ signer, listen: [], role: 'client', dht: { bootstrap: [bootstrap], serve: false, allowPrivate: true } })
    await assert.rejects(withDht('nowhere'), { code: 'bad_address' })
    await assert.rejects(withDht('/ip4/127.0.0.1/tcp/1'), { code: 'bad_address' })
  })

  it('stops while streams are open, full and stuck, and can be started again with the same key', async () => {
    const signer = await generateIdentity()
    const [near, far] = [await startHost({ listen: [] }), await startHost({ signer })]
    const address = withoutPeer(far)
    await far.handle('/stuck', { frameBytesMax: 1024 * 1024 }, () => new Promise(() => {}))
    await near.connect(far.peerId, far.addresses())
    const stream = await near.open(far.peerId, '/stuck', { frameBytesMax: 1024 * 1024 })
    const writing = assert.rejects(async () => {
      while (true) await stream.write(new Uint8Array(1024 * 1024))
    })
    await far.stop()
    await writing
    await far.stop()
    await until('the connection to be gone on the other side, too', () => !near.isConnected(far.peerId))
    const again = await startHost({ listen: [address], signer })
    await near.connect(again.peerId, again.addresses())
    assert.equal(near.isConnected(again.peerId), true)
    await assert.rejects(far.connect(near.peerId, ['/ip4/127.0.0.1/tcp/1']))
  })
})
