/**
 * libp2p's TLS (https://github.com/libp2p/specs/blob/master/tls/tls.md) with one certificate for the life of a host, as the
 * libp2ps of other languages have it. @libp2p/tls, whose parts these are, makes and reads a new one for each connection, which
 * is a fifth of what a call costs either side. The certificate's key is used for nothing but handshakes and is never stored.
 */
import { once } from 'node:events'
import { connect, createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import type { ConnectionEncrypter, MessageStream, SecureConnectionOptions, SecuredConnection } from '@libp2p/interface'
import type { TLSComponents } from '@libp2p/tls'
import { generateCertificate, toMessageStream, toNodeDuplex, verifyPeerCertificate } from '@libp2p/tls/utils'
import { Uint8ArrayList } from 'uint8arraylist'

const PROTOCOL = '/tls/1.0.0'
/** What a peer offers beside multiplexers; where nothing else is agreed on, the multiplexer is negotiated afterwards. */
const NO_MUXER = 'libp2p'
/** Pieces that are sent at once and are no longer than this together are copied into one: a record and a system call cost more. */
const JOINED_BYTES_MAX = 128 * 1024

/** Of the library's connection: what is to be encrypted next. */
interface Sending {
  sendData(data: Uint8ArrayList): unknown
}

export function tls(): (components: TLSComponents) => ConnectionEncrypter {
  return (components) => {
    let context: Promise<SecureContext> | undefined
    // The versions are the context's: given with a socket beside a context they say nothing.
    const contextOf = async (): Promise<SecureContext> =>
      createSecureContext({ ...(await generateCertificate(components.privateKey)), minVersion: 'TLSv1.3', maxVersion: 'TLSv1.3' })

    const secure = async (stream: MessageStream, side: 'client' | 'server', options: SecureConnectionOptions = {}): Promise<SecuredConnection> => {
      const { upgrader } = components
      const muxers = options.skipStreamMuxerNegotiation === true ? [] : [...upgrader.getStreamMuxers().keys()]
      const protocols = [...muxers, NO_MUXER]
      context ??= contextOf()
      const settings = { secureContext: await context, rejectUnauthorized: false }
      options.signal?.throwIfAborted()
      const duplex = toNodeDuplex(stream)
      const socket =
        side === 'client'
          ? connect({ ...settings, socket: duplex, ALPNProtocols: protocols })
          : new TLSSocket(duplex, {
              ...settings,
              isServer: true,
              requestCert: true,
              ALPNCallback: ({ protocols: offered }) => offered.find((name) => protocols.includes(name))
            })
      const fail = (cause: Error): void => {
        socket.destroy()
        stream.abort(cause)
      }
      duplex.on('error', (cause) => socket.destroy(cause))
      socket.on('error', fail)
      try {
        await once(socket, 'secure', { signal: options.signal })
        const { raw } = socket.getPeerCertificate()
        if (raw === undefined) throw new Error('the peer sent no certificate')
        const remotePeer = await verifyPeerCertificate(raw, options.remotePeer)
        const agreed = typeof socket.alpnProtocol === 'string' && muxers.includes(socket.alpnProtocol) ? socket.alpnProtocol : undefined
        const streamMuxer = agreed === undefined ? undefined : upgrader.getStreamMuxers().get(agreed)
        return { remotePeer, connection: joining(toMessageStream(stream, socket)), ...(streamMuxer === undefined ? {} : { streamMuxer }) }
      } catch (cause) {
        fail(cause instanceof Error ? cause : new Error(String(cause)))
        throw cause
      }
    }

    return {
      protocol: PROTOCOL,
      secureInbound: (stream, options) => secure(stream, 'server', options),
      secureOutbound: (stream, options) => secure(stream, 'client', options)
    }
  }
}

/** The library makes a record of every piece: of each frame's header, too. */
function joining<Encrypted extends MessageStream>(connection: Encrypted): Encrypted {
  const sending = connection as unknown as Sending
  const send = sending.sendData.bind(connection)
  sending.sendData = (data) => send(data.byteLength > JOINED_BYTES_MAX ? data : new Uint8ArrayList(data.subarray()))
  return connection
}
