/** A connection between two simulated hosts: its two ends, the streams over it, and how it breaks. */
import { CONTROL_PROTOCOL } from '#protocol/control/messages'
import type { PeerIdString } from '#protocol/ids'
import { PARKING_PROTOCOL } from '#protocol/parking/messages'
import { CALLER, Conduct } from '#protocol/peer/conduct'
import { type FrameStream, HostError, StreamError, type StreamOptions } from '#protocol/peer/host'
import type { Engine } from '../engine/engine.ts'
import type { Process } from '../engine/process.ts'
import { blockedAtAll, type Direction, Lane, type Path } from './lane.ts'
import type { SimHost } from './network.ts'
import { SimStream, type StreamEnd } from './stream.ts'
import type { UnrulyWay } from './unruly.ts'

/** As the real host's. */
const STREAMS_PER_PROTOCOL = 64
/** Of whose frames those who watch are told. */
const TOLD: ReadonlySet<string> = new Set([CONTROL_PROTOCOL, PARKING_PROTOCOL])
/** How long a kernel repeats itself on a connection that a router between has forgotten. */
const FORGOTTEN_MS = 15 * 60_000

/** One end of a connection, and the lane away from it. */
export class End extends Lane implements StreamEnd {
  readonly host: SimHost
  readonly connection: Connection
  #streams: SimStream | undefined
  open = true
  #waiting = false

  constructor(connection: Connection, host: SimHost) {
    super()
    this.connection = connection
    this.host = host
  }

  get path(): Path {
    return this.connection.path
  }

  get engine(): Engine {
    return this.process.engine
  }

  get direction(): Direction {
    return this === this.connection.dialler ? 'up' : 'down'
  }

  get process(): Process {
    return this.host.process
  }

  get other(): End {
    return this.connection.otherThan(this)
  }

  get remotePeer(): PeerIdString {
    return this.other.host.peerId
  }

  get remoteAddress(): string {
    return this.connection.path.address ?? `/sim/${this.remotePeer}`
  }

  override send(deliver: () => void, bytes?: number): void {
    if (!this.connection.forgotten) super.send(deliver, bytes)
  }

  wrote(frame: Uint8Array, protocol: string): void {
    if (TOLD.has(protocol)) this.host.network.watchers.onFrame(this.host, this.remotePeer, frame)
    this.watch()
  }

  arrived(frame: Uint8Array, protocol: string): void {
    if (TOLD.has(protocol)) this.host.network.watchers.onArrived?.(this.remotePeer, this.host.peerId, frame)
    if (this.host.newestTo(this.remotePeer) !== this.connection) this.host.network.watchers.onOvertaken?.()
  }

  gone(stream: SimStream): void {
    const left = this.streams.filter((one) => one !== stream)
    this.#streams = undefined
    for (const one of left) this.#add(one)
  }

  get streams(): SimStream[] {
    const streams: SimStream[] = []
    for (let stream = this.#streams; stream !== undefined; stream = stream.before) streams.unshift(stream)
    return streams
  }

  stream(protocol: string, { frameBytesMax }: StreamOptions): SimStream {
    const way = protocol === CONTROL_PROTOCOL ? this.#unrulyWay() : undefined
    const stream = new SimStream(this, frameBytesMax, { protocol, way })
    this.#add(stream)
    return stream
  }

  accuse(what: string): void {
    this.connection.breach(this.host, what)
  }

  #unrulyWay(): UnrulyWay | undefined {
    const { host, connection } = this
    return connection.path.unrulyWay?.(host.process.engine, (what) => host.network.watchers.onUnruly?.(what))
  }

  #add(stream: SimStream): void {
    stream.before = this.#streams
    this.#streams = stream
  }

  /** What is sent over a path that is blocked, or to an end that is gone without a word, is repeated for a while; then the connection is broken for its sender. */
  watch(): void {
    const { forgotten, path } = this.connection
    const unheard = (): boolean => forgotten || blockedAtAll(path) || !this.other.open
    if (this.#waiting || !unheard()) return
    this.#waiting = true
    this.process.engine.after(forgotten ? FORGOTTEN_MS : path.patienceMs, () => {
      this.#waiting = false
      if (this.open && unheard()) this.connection.break(this.host, { tell: true })
    })
  }
}

export class Connection {
  readonly path: Path
  readonly dialler: End
  readonly listener: End
  /** A router on the way has forgotten it: nothing passes any more, and nobody is told. */
  forgotten = false
  /** How the dialler behaves, where somebody may not. */
  #conduct: Conduct | undefined

  constructor(path: Path, dialler: SimHost, listener: SimHost) {
    this.path = path
    this.dialler = new End(this, dialler)
    this.listener = new End(this, listener)
  }

  endOf(host: SimHost): End {
    return host === this.dialler.host ? this.dialler : this.listener
  }

  otherThan(end: End): End {
    return end === this.dialler ? this.listener : this.dialler
  }

  forget(): void {
    this.forgotten = true
    this.dialler.drop()
    this.listener.drop()
  }

  /** A peer of the project server broke a protocol, as its host sees it. */
  breach(host: SimHost, what: string): void {
    const nowMs = host.process.nowMs()
    if (this.#watched(host)?.breaks(nowMs) === false) this.#hangUp(what)
  }

  /** As the real host of the project server watches who called it. */
  #watched(host: SimHost): Conduct | undefined {
    if (host !== this.listener.host || host !== host.network.server || host.network.places === undefined) return undefined
    this.#conduct ??= new Conduct(CALLER, host.process.nowMs())
    return this.#conduct
  }

  #hangUp(what: string): void {
    const { host } = this.listener
    if (!this.listener.open) return
    if (this.path.address !== undefined) host.network.places?.refuse(this.path.address, host.process.nowMs())
    host.network.watchers.onConduct?.(this.dialler.host.peerId, `hung up on: ${what}`)
    this.break(host, { tell: true })
  }

  /** Broken as this end sees it; `tell` lets the other end know, after what is on its way. `lateMs`: what was on its way comes later still. */
  break(host: SimHost, { tell, lateMs = 0 }: { readonly tell: boolean; readonly lateMs?: number }): void {
    const end = this.endOf(host)
    if (!end.open) return
    end.open = false
    const other = this.otherThan(end)
    // A sender that gives up repeats nothing any more.
    if (this.path.blocked[end.direction]) end.drop()
    else if (lateMs > 0) end.delay(lateMs)
    if (tell) end.send(() => this.break(other.host, { tell: false }))
    end.close()
    host.forget(this)
    host.process.enter(() => {
      for (const stream of end.streams) stream.fail(new StreamError('reset', 'the connection is lost'))
    })
  }

  /** Both ends notice at once. */
  cut(): void {
    for (const { host } of [this.dialler, this.listener]) this.break(host, { tell: false })
  }

  /** Makes both ends of a stream; the listener's is given to its handler when the news of it arrives. */
  stream(from: SimHost, protocol: string, options: StreamOptions): Promise<FrameStream> {
    const here = this.endOf(from)
    const there = this.otherThan(here)
    return new Promise((resolve, reject) => {
      here.send(() =>
        there.process.enter(() => {
          const handler = there.host.handlerOf(protocol)
          const answer = (act: () => void): void => there.send(() => from.process.enter(act))
          const nowMs = there.process.nowMs()
          const conduct = this.#watched(there.host)
          if (conduct?.opens(nowMs) === false) this.#hangUp('it opens streams faster than it may')
          const open = there.streams.filter((stream) => stream.protocol === protocol).length
          const excess = handler !== undefined && open >= (handler.options.streamsMax ?? STREAMS_PER_PROTOCOL)
          if (excess && conduct?.exceeds(nowMs) === false) this.#hangUp('it opens more streams of a protocol at once than it may')
          if (!there.open || handler === undefined || excess) {
            const why = handler === undefined ? new HostError('protocol_unsupported', `${protocol} is not spoken`) : new StreamError('reset', 'no stream')
            answer(() => reject(why))
            return
          }
          const far = there.stream(protocol, handler.options)
          answer(() => {
            if (!here.open) {
              reject(new HostError('not_connected', 'the connection was lost'))
              return
            }
            const near = here.stream(protocol, options)
            near.peer = far
            far.peer = near
            if (far.isGone) near.receiveReset()
            resolve(near)
          })
          const served = far.served.bind(far)
          handler.serve(far).then(served, served)
        })
      )
      here.watch()
    })
  }
}
