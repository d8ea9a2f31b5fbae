/**
 * libp2p's TLS (https://github.com/libp2p/specs/blob/master/tls/tls.md) with one certificate for the life of a host, as the
 * libp2ps of other languages have it. @libp2p/tls, whose parts these are, makes and reads a new one for each connection, which
 * is a fifth of what a call costs either side. The certificate's key is used for nothing but handshakes and is never stored.
 */
import { once } from 'node:events'
import { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
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

/** Of the library's encrypted connection: what is to be encrypted next, and how it breaks off. */
interface Encrypted {
  sendData(data: Uint8ArrayList): unknown
  sendReset(cause: Error): void
}

/** The library's connection over TCP: its socket, and what has come already of what is encrypted. */
interface OverTcp {
  readonly socket: Socket
  readonly readBuffer: Uint8ArrayList
  sendReset(): void
  sendClose(options?: { readonly signal?: AbortSignal }): Promise<void>
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
      const overTcp = isOverTcp(stream) ? stream : undefined
      const carrier = overTcp === undefined ? toNodeDuplex(stream) : socketOf(overTcp)
      const socket =
        side === 'client'
          ? connect({ ...settings, socket: carrier, ALPNProtocols: protocols })
          : new TLSSocket(carrier, {
              ...settings,
              isServer: true,
              requestCert: true,
              ALPNCallback: ({ protocols: offered }) => offered.find((name) => protocols.includes(name))
            })
      if (overTcp !== undefined) endThrough(socket, overTcp)
      const fail = (cause: Error): void => {
        if (overTcp === undefined) socket.destroy()
        stream.abort(cause)
      }
      carrier.on('error', (cause) => socket.destroy(cause))
      socket.on('error', fail)
      try {
        await once(socket, 'secure', { signal: options.signal })
        const { raw } = socket.getPeerCertificate()
        if (raw === undefined) throw new Error('the peer sent no certificate')
        const remotePeer = await verifyPeerCertificate(raw, options.remotePeer)
        const agreed = typeof socket.alpnProtocol === 'string' && muxers.includes(socket.alpnProtocol) ? socket.alpnProtocol : undefined
        const streamMuxer = agreed === undefined ? undefined : upgrader.getStreamMuxers().get(agreed)
        const connection = joining(toMessageStream(stream, socket))
        if (overTcp !== undefined) connection.sendReset = (cause) => stream.abort(cause)
        return { remotePeer, connection, ...(streamMuxer === undefined ? {} : { streamMuxer }) }
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

function isOverTcp(stream: object): stream is OverTcp {
  const { socket, readBuffer } = stream as Partial<OverTcp>
  // The handshake must not overtake what is still to be written before it.
  return socket instanceof Socket && !(socket instanceof TLSSocket) && socket.writableLength === 0 && readBuffer instanceof Uint8ArrayList
}

/**
 * The socket of a connection over TCP, which OpenSSL from now on reads and writes itself: through the library's connection each
 * record would pass two more streams of JavaScript, which took half of the time of what is large. The connection still hears of
 * the socket's errors and of its end. A connection over anything else (a relay, a WebSocket) goes through such streams.
 */
function socketOf({ socket, readBuffer }: OverTcp): Duplex {
  socket.removeAllListeners('data')
  socket.pause()
  if (readBuffer.byteLength > 0) {
    socket.unshift(readBuffer.subarray())
    readBuffer.consume(readBuffer.byteLength)
  }
  return socket
}

/**
 * Whoever ends the connection ends the encrypted socket first, and that its carrier. The other way round Node frees OpenSSL's state
 * at once, and where OpenSSL itself has called (a session's ticket has come, the handshake is done) and whoever waited for that
 * gives up, it goes on reading with what is freed: a segmentation fault.
 */
function endThrough(encrypted: TLSSocket, connection: OverTcp): void {
  connection.sendReset = () => {
    const { socket } = connection
    const destroy = socket.destroy.bind(socket)
    // Called once, by what ends: with a reset of TCP, so that the other side does not take it for an end in order.
    socket.destroy = () => {
      socket.destroy = destroy
      return socket.resetAndDestroy()
    }
    encrypted.destroy()
  }
  connection.sendClose = async (options) => {
    if (connection.socket.closed) return
    encrypted.destroySoon()
    await once(connection.socket, 'close', options)
  }
}

/** The library makes a record of every piece: of each frame's header, too. */
function joining<Connection extends MessageStream>(connection: Connection): Connection & Encrypted {
  const joined = connection as Connection & Encrypted
  const send = joined.sendData.bind(connection)
  joined.sendData = (data) => send(data.byteLength > JOINED_BYTES_MAX ? data : new Uint8ArrayList(data.subarray()))
  return joined
}
