import assert from 'node:assert/strict'
import { createHook } from 'node:async_hooks'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Socket } from 'node:net'
import { duplexPair } from 'node:stream'
import { afterEach, describe, it } from 'node:test'
import { connect as connectTls } from 'node:tls'
import type { Connection, Libp2p, PrivateKey } from '@libp2p/interface'
import { ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { tls as theirs } from '@libp2p/tls'
import { generateCertificate } from '@libp2p/tls/utils'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { until } from '#test/support/until'
import { generateIdentity } from '../../signing/keys.ts'
import { tls as ours } from './tls.ts'

/** How libp2p begins every connection: each line behind its length. */
const GREETING = Buffer.concat(['/multistream/1.0.0\n', '/tls/1.0.0\n'].map((line) => Buffer.from(`${String.fromCharCode(line.length)}${line}`)))

const hosts: Libp2p[] = []

async function start(encrypter: typeof ours, { callsPerSecond = 5 } = {}): Promise<Libp2p & { services: { ping: ReturnType<ReturnType<typeof ping>> } }> {
  const { privateKey } = await generateIdentity()
  const host = await createLibp2p({
    privateKey,
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [encrypter()],
    streamMuxers: [yamux()],
    connectionMonitor: { enabled: false },
    connectionManager: { inboundConnectionThreshold: callsPerSecond },
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

  it('leaves the socket to OpenSSL: no byte of a connection over TCP passes a stream of JavaScript', async () => {
    const wraps: string[] = []
    const hook = createHook({ init: (_id, type) => void (type === 'JSSTREAM' && wraps.push(type)) }).enable()
    try {
      await (await start(ours)).dial((await start(ours)).getMultiaddrs())
      assert.deepEqual(wraps, [])
      await (await start(theirs)).dial((await start(theirs)).getMultiaddrs())
      assert.notDeepEqual(wraps, [], 'the hook does not see what it looks for')
    } finally {
      hook.disable()
    }
  })

  it('reads a handshake that came with the greeting, in one piece', async () => {
    const to = await start(ours)
    const socket = new Socket().connect(portOf(to), '127.0.0.1')
    await once(socket, 'connect')
    const [near, far] = duplexPair()
    const { privateKey } = await generateIdentity()
    const stranger = connectTls({ socket: near, rejectUnauthorized: false, ALPNProtocols: ['libp2p'], ...(await generateCertificate(privateKey)) })
    const [hello] = (await once(far, 'data')) as [Buffer]
    socket.write(Buffer.concat([GREETING, hello]))
    far.pipe(socket)
    let greeted = 0
    socket.on('data', (bytes: Buffer) => {
      const rest = bytes.subarray(Math.min(GREETING.length - greeted, bytes.length))
      greeted += bytes.length - rest.length
      if (rest.length > 0) far.write(rest)
    })
    await once(stranger, 'secureConnect', { signal: AbortSignal.timeout(10_000) })
    assert.equal(stranger.getProtocol(), 'TLSv1.3')
    socket.destroy()
  })

  for (const [what, end] of [
    ['ends', (connection: Connection) => connection.close()],
    ['breaks', (connection: Connection) => connection.abort(new Error('it breaks'))]
  ] as const)
    it(`tells either side that a connection ${what}, whichever of them does it`, async () => {
      for (const side of [0, 1]) {
        const both = [await start(ours), await start(ours)] as const
        await both[0].dial(both[1].getMultiaddrs())
        await until('the connection to be open on both sides', () => both.every((host) => host.getConnections().length === 1))
        const gone = both.map((host) => new Promise((resolve) => host.addEventListener('connection:close', resolve, { once: true })))
        await end(both[side]?.getConnections()[0] as Connection)
        await Promise.all(gone)
        assert.deepEqual(
          both.map((host) => host.getConnections().length),
          [0, 0]
        )
      }
    })

  it('goes on when connections are ended anywhere: in the handshake, while data flows, by either side', async () => {
    const to = await start(ours, { callsPerSecond: 1_000 })
    await to.handle('/echo/1', (stream) => {
      stream.addEventListener('message', ({ data }) => {
        if (Math.random() < 0.02) to.getConnections()[0]?.abort(new Error('the called side breaks off'))
        if (stream.status === 'open') stream.send(data)
      })
    })
    const call = async (): Promise<void> => {
      const from = await start(ours)
      const signal = AbortSignal.timeout(10_000)
      try {
        const connection = await from.dial(to.getMultiaddrs(), Math.random() < 0.2 ? { signal: AbortSignal.timeout(Math.ceil(Math.random() * 20)) } : {})
        // A session's ticket comes right behind the handshake: what waited for the call goes on inside of OpenSSL.
        if (Math.random() < 0.3) return connection.abort(new Error('it breaks at once'))
        const stream = await connection.newStream('/echo/1', { signal })
        stream.addEventListener('message', () => {
          if (Math.random() < 0.05) connection.abort(new Error('it breaks while data comes'))
        })
        for (let sent = 0; sent < 32; sent++) if (!stream.send(randomBytes(65_536))) await stream.onDrain({ signal })
        await connection.close({ signal })
      } catch {
        // Somebody broke it off.
      } finally {
        await from.stop()
      }
    }
    for (let round = 0; round < 25; round++) await Promise.all([call(), call(), call(), call()])
    await until('all connections to be gone', () => to.getConnections().length === 0)
    await (await start(ours)).dial(to.getMultiaddrs())
  })

  it('hangs up on who breaks the encryption, and goes on answering', async () => {
    const [from, to] = [await start(ours), await start(ours)]
    const sockets: Socket[] = []
    const connect = Socket.prototype.connect
    Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
      sockets.push(this)
      return Reflect.apply(connect, this, args)
    } as typeof connect
    try {
      await from.dial(to.getMultiaddrs())
    } finally {
      Socket.prototype.connect = connect
    }
    await until('the connection to be open', () => to.getConnections().length === 1)
    sockets[0]?.write(randomBytes(1_000))
    await until('both to hang up', () => to.getConnections().length + from.getConnections().length === 0)
    await (await start(ours)).dial(to.getMultiaddrs())
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
