/** The real Host: js-libp2p over TCP, with the settings that were measured to work. */
import { once, setMaxListeners } from 'node:events'
import { type BlockList, createServer } from 'node:net'
import { networkInterfaces } from 'node:os'
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { dcutr } from '@libp2p/dcutr'
import { identify } from '@libp2p/identify'
import type { Connection, Libp2p, PeerId } from '@libp2p/interface'
import { noise } from '@libp2p/noise'
import { peerIdFromString } from '@libp2p/peer-id'
import { type Ping, ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { webSockets } from '@libp2p/websockets'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { createLibp2p, type Libp2pOptions } from 'libp2p'
import type { PeerIdString } from '../../ids.ts'
import { messageOf } from '../../message-of.ts'
import type { RelayCounts } from '../../relay/accounts.ts'
import type { RelayLimits } from '../../relay/limits.ts'
import type { Signer } from '../../signing/keys.ts'
import { frameStream } from '../../streams/frame-stream.ts'
import { isRelayed } from '../addresses.ts'
import { type FrameStream, type Host, HostError, StreamError, type StreamOptions } from '../host.ts'
import { type Watch, watchConduct } from './conduct.ts'
import { type DhtOptions, type DhtService, dhtService, startDht } from './dht.ts'
import { DhtStore } from './dht-store.ts'
import { type Dial, dialFirst, type Target } from './dialling.ts'
import { Opening } from './opening.ts'
import { startRelay } from './relay-server.ts'
import { keepReservations, type RelayState, type Transports } from './reservations.ts'
import { tls } from './tls.ts'
import { within } from './within.ts'
import { FIRST_WINDOW_BYTES, yamux } from './yamux.ts'

/**
 * `windowBytes`: what a peer may send on a stream before it is read, growing from 256 KiB; it bounds the rate on long paths
 * (2 MiB: 35 MB/s at 50 ms) and the memory a paused stream costs, so servers with thousands of peers have a smaller one.
 * `readBufferBytes` must be larger: a paused stream that receives more is reset.
 */
const FLOW = {
  server: { windowBytes: 2 * 1024 * 1024, readBufferBytes: 4 * 1024 * 1024 },
  relay: { windowBytes: 1024 * 1024, readBufferBytes: 2 * 1024 * 1024 },
  volunteer: { windowBytes: 16 * 1024 * 1024, readBufferBytes: 20 * 1024 * 1024 },
  client: { windowBytes: 16 * 1024 * 1024, readBufferBytes: 20 * 1024 * 1024 }
} as const
const CONNECTIONS_MAX = { server: 20_000, relay: 20_000, volunteer: 300, client: 300 } as const
/** Streams of all protocols that a peer may hold open on one connection: between a relay and a project that is reached through it there is one for every node. */
const STREAMS_PER_CONNECTION_MAX = { server: 1_280, relay: 1_280, volunteer: 256, client: 256 } as const
/** Of one protocol, unless its handler says otherwise. */
const STREAMS_PER_PROTOCOL = 32
/** A dial of the library's own. */
const DIAL_MS_MAX = 6_000
const OPEN_MS_MAX = 10_000
/** A connection that does not close nicely within this is cut. */
const CLOSE_MS_MAX = 1_000
const STOP_MS_MAX = 5_000
/** After a handler returned, the peer has so long to read the rest and to end its side of the stream: 20 MiB at 0.5 Mbit/s. */
const LINGER_MS_MAX = 330_000

export interface HostLogger {
  debug(details: object, message: string): void
  warn(details: object, message: string): void
}

export interface HostOptions {
  readonly signer: Signer
  /** Multiaddrs to listen on; none for a host that only dials. */
  readonly listen: readonly string[]
  /** Multiaddrs told to others instead of those listened on, for a host behind a forwarded port. */
  readonly announce?: readonly string[]
  readonly role: 'server' | 'relay' | 'volunteer' | 'client'
  readonly dht?: DhtOptions
  /** Relays, with `/p2p/<peer>`, through which it is to be reached: it keeps a place at a few of them. */
  readonly relays?: readonly string[]
  /** It is itself a relay, within these limits. */
  readonly relay?: RelayLimits
  /** As a relay: somebody calls somebody through it; `address` is where the caller is seen. */
  readonly onCall?: (call: { readonly from: string; readonly to: string; readonly address: string }) => void
  readonly logger?: HostLogger
}

/** What carries a host's connections, and what hides their content: TCP with either encryption, unless a simulated world has its own. */
export type Wire = Required<Pick<Libp2pOptions, 'transports' | 'connectionEncrypters'>>

/** How a host is connected to a peer. */
export interface PeerConnection {
  readonly address: string
  readonly relayed: boolean
  readonly inbound: boolean
}

/** What only a host on a real network can tell. */
export interface LiveHost extends Host {
  connections(peer: PeerIdString): readonly PeerConnection[]
  /** The relays it was given, and which of them it can be reached through now. */
  relays(): readonly RelayState[]
  /** What it has carried as a relay; undefined when it is none. */
  relayed(): RelayCounts | undefined
}

// The dialler's order of encryptions counts. TLS carried 1 MiB blocks 1.35 times and small frames 1.6 times as fast as Noise, with
// two thirds of the CPU (two processes on loopback).
function direct(refused: BlockList): Wire {
  // Whoever is refused is turned away where a call arrives, before libp2p makes anything of it.
  return { transports: [tcp({ listenOpts: { blockList: refused } as object }), webSockets()], connectionEncrypters: [tls(), noise()] }
}

/** With as many calls at once through one relay as may be carried. */
function internet(refused: BlockList): Wire {
  const { transports, connectionEncrypters } = direct(refused)
  const circuit = circuitRelayTransport({ reservationConcurrency: 4, maxInboundStopStreams: 1_280, maxOutboundStopStreams: 64 })
  return { transports: [...transports, circuit], connectionEncrypters }
}

type Services = { dht?: DhtService; ping: Ping; wires: { manager: TransportManager } }

/** Of libp2p's transport manager: it dials one address, beside others. */
interface TransportManager extends Transports {
  dial: Dial
}

/** A started host. Throws HostError `bad_address` or `address_in_use`. */
export async function createHost(options: HostOptions, wire?: Wire): Promise<LiveHost> {
  const { signer, role, dht, relays = [] } = options
  const listen = await withPorts(options.listen.map(parseAddress))
  const announce = (options.announce ?? []).map(parseAddress)
  const kad = dht === undefined ? undefined : dhtService(dht)
  const watch = watchConduct(options.logger)
  let libp2p: Libp2p<Services>
  try {
    libp2p = (await createLibp2p({
      privateKey: signer.privateKey,
      ...(kad === undefined ? {} : { datastore: new DhtStore() }),
      addresses: { listen: listen.map(String), announce: announce.map(String), appendAnnounce: publicAddresses(listen) },
      ...(wire ?? (options.relay === undefined ? internet(watch.refused) : direct(watch.refused))),
      streamMuxers: [
        yamux({
          maxInboundStreams: STREAMS_PER_CONNECTION_MAX[role],
          maxOutboundStreams: STREAMS_PER_CONNECTION_MAX[role],
          streamOptions: {
            initialStreamWindowSize: FIRST_WINDOW_BYTES,
            maxStreamWindowSize: FLOW[role].windowBytes,
            maxReadBufferLength: FLOW[role].readBufferBytes
          }
        })
      ],
      connectionGater: watch.gater,
      // The defaults let in 5 connections a second from one address and 300 in all.
      connectionManager: {
        maxConnections: CONNECTIONS_MAX[role],
        maxIncomingPendingConnections: 2_000,
        inboundConnectionThreshold: 1_000,
        maxParallelDials: 100,
        addressDialTimeout: DIAL_MS_MAX
      },
      // It pings every connection in the same tick on a new stream; control streams have heartbeats of their own.
      connectionMonitor: { enabled: false },
      services: {
        identify: identify(),
        ping: ping(),
        wires: ({ transportManager: manager }: { readonly transportManager: TransportManager }) => ({ manager }),
        // Who is called through a relay by a peer with a public address calls back directly.
        ...(relays.length === 0 ? {} : { dcutr: dcutr() }),
        ...(kad === undefined ? {} : { dht: kad })
      }
    })) as Libp2p<Services>
  } catch (cause) {
    throw listenError(options.listen, cause)
  }
  watch.start(libp2p)
  return liveHost(libp2p, watch, options)
}

async function liveHost(libp2p: Libp2p<Services>, watch: Watch, options: HostOptions): Promise<LiveHost> {
  const { signer, role, dht: dhtOptions, relays = [], relay, logger } = options
  const stopped = new AbortController()
  setMaxListeners(0, stopped.signal)
  const { manager } = libp2p.services.wires
  const dht = dhtOptions === undefined || libp2p.services.dht === undefined ? undefined : startDht(libp2p, libp2p.services.dht, dhtOptions, stopped.signal)
  const reservations = relays.length === 0 ? undefined : keepReservations(libp2p, relays, { transports: manager, stopped: stopped.signal, logger })
  const openTo = (peer: PeerIdString): Connection | undefined => {
    const open = libp2p.getConnections(parsePeer(peer)).filter(({ status }) => status === 'open')
    return open.find((connection) => !isRelayed(connection.remoteAddr.toString())) ?? open[0]
  }
  const opening = new Opening()
  const openOn = async (connection: Connection, protocol: string, options: StreamOptions, signal?: AbortSignal): Promise<FrameStream> => {
    const peer = connection.remotePeer.toString()
    const waitMs = watch.waitMs(connection)
    if (waitMs > 0) await within(waitMs, aborted(AbortSignal.any([stopped.signal, ...(signal === undefined ? [] : [signal])])))
    const streamsMax = options.streamsMax ?? STREAMS_PER_PROTOCOL
    const limit = AbortSignal.any([stopped.signal, AbortSignal.timeout(OPEN_MS_MAX), ...(signal === undefined ? [] : [signal])])
    const opened = opening.begin(connection, protocol, streamsMax)
    if (opened === undefined)
      throw new StreamError('reset', `${streamsMax} streams for ${protocol} are open to ${peer} already, which are all that it may have`)
    try {
      const stream = await connection.newStream(protocol, {
        signal: limit,
        maxOutboundStreams: streamsMax,
        // Of a relay's limits whoever needs more makes a new connection.
        runOnLimitedConnection: true
      })
      return frameStream(stream, {
        remotePeer: peer,
        remoteAddress: connection.remoteAddr.toString(),
        frameBytesMax: options.frameBytesMax,
        turn,
        accuse: (what) => watch.accuse(connection, what),
        beside: (...further) => openOn(connection, ...further)
      })
    } catch (cause) {
      if (signal?.aborted) throw signal.reason
      if (nameOf(cause) === 'UnsupportedProtocolError')
        throw new HostError('protocol_unsupported', `${peer} does not speak ${protocol}; one of the two talkos is too old, or it has another role`, { cause })
      if (connection.status !== 'open') throw new HostError('not_connected', `the connection to ${peer} was lost`, { cause })
      throw new StreamError('reset', `${peer} did not open a stream for ${protocol}: ${reasonOf(cause)}`, { cause })
    } finally {
      opened()
    }
  }
  let stopping: Promise<void> | undefined
  const relayServer = relay === undefined ? undefined : await startRelay(libp2p, relay, { logger, stopped: stopped.signal, onCall: options.onCall })

  return {
    peerId: signer.peerId,
    connections: (peer) =>
      libp2p
        .getConnections(parsePeer(peer))
        .filter(({ status }) => status === 'open')
        .map(({ remoteAddr, direction }) => ({ address: remoteAddr.toString(), relayed: isRelayed(remoteAddr.toString()), inbound: direction === 'inbound' })),
    relays: () => reservations?.states() ?? [],
    relayed: () => relayServer?.counts(),
    addresses: () => libp2p.getMultiaddrs().map(String),
    isConnected: (peer) => openTo(peer) !== undefined,

    async handle(protocol, options, handler) {
      await libp2p.handle(
        protocol,
        (stream, connection) => {
          const remotePeer = connection.remotePeer.toString()
          const frames = frameStream(stream, {
            remotePeer,
            remoteAddress: connection.remoteAddr.toString(),
            frameBytesMax: options.frameBytesMax,
            turn,
            accuse: (what) => watch.accuse(connection, what),
            beside: (...further) => openOn(connection, ...further)
          })
          void serve(frames, handler).catch((error: Error) => {
            logger?.debug({ peer: remotePeer, protocol, error: error.message }, 'a stream ended with an error')
            frames.abort(error)
          })
        },
        {
          maxInboundStreams: options.streamsMax ?? STREAMS_PER_PROTOCOL,
          maxOutboundStreams: STREAMS_PER_CONNECTION_MAX[role],
          runOnLimitedConnection: true
        }
      )
    },

    async connect(peer, addresses, signal) {
      if (openTo(peer) !== undefined) return
      const targets: Target[] = []
      const reasons: string[] = []
      let wrong: HostError | undefined
      for (const text of addresses) {
        const address = addressOf(peer, text)
        // A newer talko, or a stranger, may have said it: the others lead there all the same.
        if (address === 'unreadable') reasons.push(`${text} (not an address of a kind that this talko knows)`)
        else if (address === 'wrong_peer') wrong = new HostError('wrong_peer', `the address ${text} is that of another peer than ${peer}`)
        else targets.push({ text, address })
      }
      const failures = await dialFirst(targets, (address, how) => manager.dial(address, how), [stopped.signal, ...(signal === undefined ? [] : [signal])])
      if (failures === undefined) return
      for (const { target, cause } of failures) {
        if (isWrongPeer(cause))
          wrong = new HostError('wrong_peer', `${target.text} answers, but not as ${peer}: check the project id, or ask its owner for a new invitation`, {
            cause
          })
        reasons.push(`${target.text} (${reasonOf(cause)})`)
      }
      if (wrong !== undefined) throw wrong
      const tried = reasons.length === 0 ? 'no address of it is known' : reasons.join(', ')
      throw new HostError('unreachable', `cannot reach ${peer}: ${tried}`)
    },

    async open(peer, protocol, options, signal) {
      const connection = openTo(peer)
      if (connection === undefined) throw new HostError('not_connected', `there is no connection to ${peer}; connect first`)
      return openOn(connection, protocol, options, signal)
    },

    async disconnect(peer) {
      await Promise.all(libp2p.getConnections(parsePeer(peer)).map(closeConnection))
    },

    async publishRecord(record, signal) {
      if (dht === undefined) throw noDht()
      await dht.publish(record, signal)
    },
    async findRecord(project, signal) {
      if (dht === undefined) throw noDht()
      return dht.find(project, signal)
    },

    stop() {
      stopping ??= (async () => {
        stopped.abort(new Error('the host is stopping'))
        await Promise.all(libp2p.getConnections().map(closeConnection))
        await within(STOP_MS_MAX, libp2p.stop())
      })()
      return stopping
    }
  }
}

/** Runs the handler, then ends our side; what the peer still sends is dropped, and not waited for without end. */
async function serve(stream: FrameStream, handler: (stream: FrameStream) => Promise<void>): Promise<void> {
  await handler(stream)
  if (stream.gone.aborted) return
  const timer = setTimeout(() => stream.abort(new Error('the peer did not end its side of the stream')), LINGER_MS_MAX).unref()
  stream.gone.addEventListener('abort', () => clearTimeout(timer), { once: true })
  await stream.close()
}

/** Resolves when it is; never rejects. */
function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve()
    else signal.addEventListener('abort', () => resolve(), { once: true })
  })
}

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

async function closeConnection(connection: Connection): Promise<void> {
  // The library would end the streams in order, and a peer could not tell an answer that was cut from one that is complete.
  for (const stream of connection.streams) if (stream.writeStatus === 'writable') stream.abort(new Error('the connection is closed'))
  try {
    await connection.close({ signal: AbortSignal.timeout(CLOSE_MS_MAX) })
  } catch (error) {
    connection.abort(error as Error)
  }
}

/** Any port will do, but it has to be known before the host starts: what is announced is fixed then. Only for all interfaces at once. */
async function withPorts(listen: readonly Multiaddr[]): Promise<Multiaddr[]> {
  return Promise.all(
    listen.map(async (address) => {
      const text = address.toString()
      if (!/^\/ip4\/0\.0\.0\.0\/tcp\/0(\/ws)?$/.test(text)) return address
      const probe = createServer().listen(0)
      await once(probe, 'listening')
      const at = probe.address()
      probe.close()
      await once(probe, 'close')
      return multiaddr(text.replace('/tcp/0', `/tcp/${typeof at === 'object' && at !== null ? at.port : 0}`))
    })
  )
}

/** libp2p keeps a public address to itself until others confirmed it; whoever listens on one on purpose knows better. */
function publicAddresses(listen: readonly Multiaddr[]): string[] {
  return listen.flatMap((address) => {
    const [ip, transport, ...rest] = address.getComponents()
    if (transport?.name !== 'tcp' || transport.value === '0' || rest.some(({ name }) => name !== 'ws')) return []
    const wildcard = ip?.value === '0.0.0.0' || ip?.value === '::'
    const family = ip?.name === 'ip6' ? 'IPv6' : 'IPv4'
    const ips = wildcard
      ? Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).filter((entry) => entry.family === family).map((entry) => entry.address))
      : [ip?.value ?? '']
    return ips
      .filter((value) => !value.startsWith('fe80:'))
      .map((value) => `/${ip?.name}/${value}/tcp/${transport.value}${rest.map(({ name }) => `/${name}`).join('')}`)
  })
}

function parseAddress(text: string): Multiaddr {
  try {
    return multiaddr(text)
  } catch (cause) {
    throw new HostError('bad_address', `${JSON.stringify(text)} is not a multiaddr; it looks like /ip4/203.0.113.7/tcp/4600`, { cause })
  }
}

function parsePeer(text: string): PeerId {
  try {
    return peerIdFromString(text)
  } catch (cause) {
    throw new HostError('bad_address', `${JSON.stringify(text)} is not a peer id; it looks like 12D3KooW…`, { cause })
  }
}

/** The address with `/p2p/<peer>` at its end, unless it ends with another peer's. */
function addressOf(peer: PeerIdString, text: string): Multiaddr | 'wrong_peer' | 'unreadable' {
  try {
    const address = multiaddr(text)
    const last = address.getComponents().at(-1)
    if (last?.name !== 'p2p') return address.encapsulate(`/p2p/${peer}`)
    return last.value === peer ? address : 'wrong_peer'
  } catch {
    return 'unreadable'
  }
}

function listenError(listen: readonly string[], cause: unknown): unknown {
  const message = messageOf(cause)
  const taken = /EADDRINUSE[^\n]*?(\S+:\d+)/.exec(message)
  if (taken !== null) return new HostError('address_in_use', `${taken[1]} is in use by another program; stop it, or listen on another port`, { cause })
  const refused = /(EACCES|EADDRNOTAVAIL|ENOTFOUND|EAFNOSUPPORT)[^\n]*/.exec(message)
  if (refused !== null || nameOf(cause) === 'UnsupportedListenAddressesError')
    return new HostError(
      'bad_address',
      `cannot listen on ${listen.join(', ')}: ${refused?.[0] ?? 'only /ip4/…/tcp/… and /ip6/…/tcp/… addresses of this machine work'}`,
      { cause }
    )
  return cause
}

function noDht(): HostError {
  return new HostError('dht_unavailable', 'no DHT is configured; use the address of the project, or add bootstrap addresses')
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : ''
}

/** libp2p keeps only the message of what the encrypters throw. */
function isWrongPeer(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isWrongPeer)
  return error instanceof Error && (error.name === 'UnexpectedPeerError' || /expected remote identity key|unexpected peer/i.test(error.message))
}

/** One line: the first of what went wrong. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  // A WebSocket fails with an event, that tells nothing more: nobody is there, or somebody who speaks no WebSocket.
  if (error instanceof Event) return 'no WebSocket answers there'
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError' || error.name === 'AbortError') return 'no answer'
  if (error.name === 'NoValidAddressesError' || error.name === 'TransportUnavailableError') return 'no transport for such an address'
  const refusal = /E[A-Z]{4,}/.exec(error.message)
  if (refusal !== null) return refusal[0] === 'ECONNREFUSED' ? 'nothing listens there' : refusal[0]
  return (error.message.split('\n', 1)[0] ?? '').slice(0, 200)
}
