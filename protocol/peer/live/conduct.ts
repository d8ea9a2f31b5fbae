/** Holds the peers of a libp2p host to what they may do: peer/conduct.ts, from libp2p's events. */
import { BlockList } from 'node:net'
import type { Connection, ConnectionGater, Libp2p, StreamMuxer } from '@libp2p/interface'
import { CALLED, CALLER, Conduct, Places, Restraint } from '../conduct.ts'

interface Logger {
  warn(details: object, message: string): void
}

export interface Watch {
  /** For the servers that take calls: who is refused now. */
  readonly refused: BlockList
  /** Turns away those that are refused, before anything is spent on them. */
  readonly gater: ConnectionGater
  /** Watches every connection of the host from now on. */
  start(libp2p: Pick<Libp2p, 'addEventListener'>): void
  /** The peer broke a protocol: `what` it did. */
  accuse(connection: Connection, what: string): void
  /** Before each stream that this side opens: milliseconds to wait, lest the peer hangs up. */
  waitMs(connection: Connection): number
}

/** One that asks. */
class Refused extends BlockList {
  readonly #isRefused: (address: string) => boolean

  constructor(isRefused: (address: string) => boolean) {
    super()
    this.#isRefused = isRefused
  }

  override check(address: unknown, family?: string): boolean {
    return this.#isRefused(`/${family === 'ipv6' ? 'ip6' : 'ip4'}/${address}`)
  }
}

export function watchConduct(logger: Logger | undefined): Watch {
  const conducts = new WeakMap<Connection, { readonly peer: Conduct; readonly own: Restraint }>()
  const places = new Places()
  const hangUp = (connection: Connection, what: string): void => {
    if (connection.status !== 'open') return
    const address = connection.remoteAddr.toString()
    const refusedMs = places.refuse(address, Date.now())
    logger?.warn({ peer: connection.remotePeer.toString(), address, refusedMs, what }, 'hung up on a peer that misbehaves')
    connection.abort(new Error(what))
  }
  const accuse = (connection: Connection, what: string): void => {
    if (conducts.get(connection)?.peer.breaks(Date.now()) === false) hangUp(connection, what)
  }
  return {
    refused: new Refused((address) => places.isRefused(address, Date.now())),
    gater: { denyInboundConnection: ({ remoteAddr }) => !places.admits(remoteAddr.toString(), Date.now()) },
    accuse,
    waitMs: (connection) => conducts.get(connection)?.own.waitMs(Date.now()) ?? 0,
    start: (libp2p) =>
      libp2p.addEventListener('connection:open', ({ detail: connection }) => {
        const [theirs, ours] = connection.direction === 'inbound' ? [CALLER, CALLED] : [CALLED, CALLER]
        const nowMs = Date.now()
        const conduct = new Conduct(theirs, nowMs)
        conducts.set(connection, { peer: conduct, own: new Restraint(ours, nowMs) })
        // Streams above a limit of the library never come to a handler: only the multiplexer tells of them.
        const { muxer } = connection as Connection & { readonly muxer?: StreamMuxer }
        muxer?.addEventListener('stream', ({ detail: stream }) => {
          if (!conduct.opens(Date.now())) hangUp(connection, 'it opens streams faster than it may')
          stream.addEventListener('close', ({ local, error }) => {
            if (local !== true || error?.name !== 'TooManyInboundProtocolStreamsError') return
            if (!conduct.exceeds(Date.now())) hangUp(connection, error.message)
          })
        })
      })
  }
}
