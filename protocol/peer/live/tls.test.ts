import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { afterEach, describe, it } from 'node:test'
import { connect as connectTls } from 'node:tls'
import type { Libp2p, PrivateKey } from '@libp2p/interface'
import { ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { tls as theirs } from '@libp2p/tls'
import { generateCertificate } from '@libp2p/tls/utils'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { generateIdentity } from '../../signing/keys.ts'
import { tls as ours } from './tls.ts'

/** How libp2p begins every connection: each line behind its length. */
const GREETING = Buffer.concat(['/multistream/1.0.0\n', '/tls/1.0.0\n'].map((line) => Buffer.from(`${String.fromCharCode(line.length)}${line}`)))

const hosts: Libp2p[] = []

async function start(encrypter: typeof ours): Promise<Libp2p & { services: { ping: ReturnType<ReturnType<typeof ping>> } }> {
  const { privateKey } = await generateIdentity()
  const host = await createLibp2p({
    privateKey,
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [encrypter()],
    streamMuxers: [yamux()],
    connectionMonitor: { enabled: false },
    services: { ping: ping() }
  })
  hosts.push(host)
  return host
}

describe('TLS with one certificate for a host', () => {
  afterEach(async () => {
    await Promise.all(hosts.splice(0).map((host) => host.stop()))
  })

  for (const [name, caller, called] of [
    ['itself', ours, ours],
    ['the library, which calls', theirs, ours],
    ['the library, which is called', ours, theirs]
  ] as const)
    it(`speaks with ${name}: both know who the other is, and the multiplexer is agreed on in the handshake`, async () => {
      const [from, to] = [await start(caller), await start(called)]
      const connection = await from.dial(to.getMultiaddrs())
      assert.equal(String(connection.remotePeer), String(to.peerId))
      assert.equal(connection.encryption, '/tls/1.0.0')
      assert.equal(connection.multiplexer, '/yamux/1.0.0')
      await from.services.ping.ping(to.peerId)
      assert.equal(String(to.getConnections()[0]?.remotePeer), String(from.peerId))
    })

  it('refuses a host that is not the one called', async () => {
    const [from, to, other] = [await start(ours), await start(ours), await start(ours)]
    const place = `/ip4/127.0.0.1/tcp/${portOf(to)}/p2p/`
    await assert.rejects(from.dial(multiaddr(`${place}${other.peerId}`)))
    await from.dial(multiaddr(`${place}${to.peerId}`))
  })

  it('refuses who has no certificate, one that its peer did not sign, or TLS 1.2 alone, and goes on answering', async () => {
    const to = await start(ours)
    const { privateKey } = await generateIdentity()
    const old = { ...(await generateCertificate(privateKey)), maxVersion: 'TLSv1.2' } as const
    const forged = await generateCertificate({ type: privateKey.type, publicKey: privateKey.publicKey, sign: () => randomBytes(64) } as unknown as PrivateKey)
    const handshakes: (string | null)[] = []
    for (const options of [{}, forged, old]) {
      const socket = new Socket().connect(portOf(to), '127.0.0.1')
      await once(socket, 'connect')
      socket.write(GREETING)
      for (let answered = 0; answered < GREETING.length; ) answered += ((await once(socket, 'data'))[0] as Buffer).length
      const stranger = connectTls({ socket, rejectUnauthorized: false, ALPNProtocols: ['libp2p'], ...options })
      stranger.on('error', () => undefined)
      stranger.on('secureConnect', () => handshakes.push(stranger.getProtocol()))
      await new Promise((resolve) => stranger.once('close', resolve))
      assert.equal(to.getConnections().length, 0)
    }
    assert.ok(!handshakes.includes('TLSv1.2'))
    await (await start(ours)).dial(to.getMultiaddrs())
  })
})

function portOf(host: Libp2p): number {
  return Number(/\/tcp\/(\d+)/.exec(String(host.getMultiaddrs()[0]))?.[1])
}
