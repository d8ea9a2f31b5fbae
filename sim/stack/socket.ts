/** One end of a simulated TCP connection, as libp2p's TCP transport shows one. */
import type { Logger } from '@libp2p/interface'
import { AbstractMultiaddrConnection } from '@libp2p/utils'
import type { Multiaddr } from '@multiformats/multiaddr'
import type { Uint8ArrayList } from 'uint8arraylist'
import type { Process } from '../engine/process.ts'
import { blockedAtAll, type Direction, type Lane, Leg, type Path } from '../protocol/lane.ts'
import type { Station } from './internet.ts'

/** A kernel takes so much that the other end has not read; then its writer waits until half of it is. */
const SEND_BUFFER_BYTES = 256 * 1024

export interface SocketOptions {
  readonly station: Station
  readonly process: Process
  readonly path: Path
  /** `up` for who dialled. */
  readonly side: Direction
  readonly remoteAddr: Multiaddr
  readonly log: Logger
}

export class Socket extends AbstractMultiaddrConnection {
  readonly station: Station
  readonly process: Process
  readonly path: Path
  readonly #lane: Lane
  readonly #side: Direction
  #peer: Socket | undefined
  #open = true
  #watching = false
  #unread = 0
  #full = false
  #paused = false
  #held: (() => void)[] = []

  constructor({ station, process, path, side, remoteAddr, log }: SocketOptions) {
    super({ remoteAddr, log, direction: side === 'up' ? 'outbound' : 'inbound' })
    this.station = station
    this.process = process
    this.path = path
    this.#side = side
    this.#lane = new Leg(station.internet.engine, path, side)
    station.sockets.add(this)
  }

  /** Both ends of a connection know each other. */
  static join(one: Socket, other: Socket): void {
    one.#peer = other
    other.#peer = one
  }

  get open(): boolean {
    return this.#open
  }

  get peer(): Socket | undefined {
    return this.#peer
  }

  override sendData(data: Uint8ArrayList): { sentBytes: number; canSendMore: boolean } {
    const bytes = data.slice()
    this.#unread += bytes.length
    this.#send((peer) => {
      peer.onData(bytes)
      this.#wasRead(bytes.length)
    }, bytes)
    this.#full = this.#unread >= SEND_BUFFER_BYTES
    return { sentBytes: bytes.length, canSendMore: !this.#full }
  }

  override async sendClose(): Promise<void> {
    this.#send((peer) => {
      peer.#end()
      peer.onTransportClosed()
    })
    this.#end()
  }

  override sendReset(): void {
    this.#send((peer) => peer.#wasReset())
    this.#end()
  }

  override sendPause(): void {
    this.#paused = true
  }

  override sendResume(): void {
    this.#paused = false
    while (!this.#paused && this.#held.length > 0) this.#held.shift()?.()
  }

  /** The kernel gives it up. `tell` lets the other end know, after what is on its way; `lateMs`: what is on its way comes later still. */
  break({ tell, lateMs = 0 }: { readonly tell: boolean; readonly lateMs?: number }): void {
    if (!this.#open) return
    if (this.path.blocked[this.#side]) this.#lane.drop()
    else if (lateMs > 0) this.#lane.delay(lateMs)
    if (tell) this.#send((peer) => peer.#wasReset())
    this.#end()
    this.process.enter(() => this.abort(new Error('the connection timed out (ETIMEDOUT)')))
  }

  #send(act: (peer: Socket) => void, bytes: Uint8Array = new Uint8Array(0)): void {
    const peer = this.#peer
    if (!this.#open || peer === undefined) return
    this.#lane.send(() => {
      this.station.internet.engine.foldBytes(bytes)
      peer.#receive(() => act(peer))
    }, bytes.length)
    this.#watch()
  }

  #receive(act: () => void): void {
    if (!this.#open) {
      // A kernel that knows nothing of the connection says so.
      const peer = this.#peer
      if (this.station.up && peer !== undefined) this.station.send(this.path, this.#side, () => peer.process.enter(() => peer.#wasReset()))
      return
    }
    this.process.enter(() => {
      if (!this.#open) return
      if (this.#paused) this.#held.push(act)
      else act()
    })
  }

  /** What is sent over a way that is blocked, or to a computer that is gone without a word, is repeated for a while; then the connection is broken for its sender. */
  #watch(): void {
    const unheard = (): boolean => blockedAtAll(this.path) || this.#peer?.open === false
    if (this.#watching || !unheard()) return
    this.#watching = true
    this.station.internet.engine.after(this.path.patienceMs, () => {
      this.#watching = false
      if (unheard()) this.break({ tell: true })
    })
  }

  #wasRead(bytes: number): void {
    this.#unread -= bytes
    if (!this.#full || this.#unread > SEND_BUFFER_BYTES / 2) return
    this.#full = false
    this.process.enter(() => this.safeDispatchEvent('drain'))
  }

  #wasReset(): void {
    if (!this.#open) return
    this.#end()
    this.abort(new Error('the other side reset the connection (ECONNRESET)'))
  }

  /** It sends and hears nothing more; what it sent still arrives. */
  #end(): void {
    this.#open = false
    this.#held = []
    this.#lane.close()
    this.station.sockets.delete(this)
  }
}
