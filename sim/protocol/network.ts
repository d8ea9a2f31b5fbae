/** Connections between volunteers' machines and the project server, and the Host port over them. */
import { SmallMap } from '#node/small-map'
import { CONTROL_PROTOCOL } from '#protocol/control/messages'
import type { PeerIdString } from '#protocol/ids'
import { PARKING_PROTOCOL } from '#protocol/parking/messages'
import { CALLER, Conduct, type Places } from '#protocol/peer/conduct'
import { type FrameStream, type Host, HostError, StreamError, type StreamOptions } from '#protocol/peer/host'
import type { Engine } from '../engine/engine.ts'
import type { Process } from '../engine/process.ts'
import type { Homes } from './homes.ts'
import { blockedAtAll, type Direction, Lane, Leg, type Path } from './lane.ts'
import { SimStream, type StreamEnd } from './stream.ts'
import type { UnrulyWay } from './unruly.ts'

/** As the real host's. */
const DIAL_MS_MAX = 6_000
const OPEN_MS_MAX = 10_000
const STREAMS_PER_PROTOCOL = 64

export interface Watchers {
  /** Somebody tries to reach the server, or another volunteer. */
  readonly onDial: (from: SimHost, to: PeerIdString) => void
  readonly onFrame: (from: SimHost, to: PeerIdString, frame: Uint8Array) => void
  readonly onArrived?: (from: PeerIdString, to: PeerIdString, frame: Uint8Array) => void
  /** A frame of a connection came when there was a newer one. */
  readonly onOvertaken?: () => void
  /** Something became of a frame of a control stream that no stream should do. */
  readonly onUnruly?: (what: string) => void
  /** A host hung up on a peer that misbehaves, or did not let it call. */
  readonly onConduct?: (peer: PeerIdString, what: string) => void
}

interface Handler {
  readonly options: StreamOptions
  readonly serve: (stream: FrameStream) => Promise<void>
}

/** Who can be dialled: at most one host at a time is the project server; and volunteers, in worlds where they know each other. */
export class Network {
  /** The project server's host while it listens. */
  server: SimHost | undefined
  readonly watchers: Watchers
  /** Who may call the project server, as its host remembers it; left out where everybody behaves. */
  places: Places | undefined
  /** Where volunteers are at home; left out where that makes no difference. */
  homes: Homes | undefined
  readonly #volunteer: (peer: PeerIdString) => SimHost | undefined

  /** `volunteer`: its host while it runs. */
  constructor(watchers: Watchers, volunteer: (peer: PeerIdString) => SimHost | undefined = () => undefined) {
    this.watchers = watchers
    this.#volunteer = volunteer
  }

  /** Whether who calls the project server from there is let in; nobody can tell where some call from. */
  admits(to: SimHost, path: Path): boolean {
    return to !== this.server || path.address === undefined || this.places?.admits(path.address, to.process.nowMs()) !== false
  }

  at(peer: PeerIdString): SimHost | undefined {
    return this.server?.peerId === peer ? this.server : this.#volunteer(peer)
  }
}

/** Of whose frames those who watch are told. */
const TOLD: ReadonlySet<string> = new Set([CONTROL_PROTOCOL, PARKING_PROTOCOL])
/** Until a relay says that it knows nobody of that name. */
const NO_WAY_MS = 200
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

export class SimHost implements Host {
  readonly peerId: PeerIdString
  readonly process: Process
  readonly network: Network
  #handlers: Map<string, Handler> | undefined
  /** By peer: the one, or several, the newest last. */
  readonly #connections = new SmallMap<PeerIdString, Connection | readonly Connection[]>()
  readonly #path: Path | undefined
  /** Listeners to signals that outlive this host: Node keeps a combined signal, and all behind it, for as long as one listens. */
  #listening: Set<() => void> | undefined
  #lost: Map<Connection, (() => void)[]> | undefined
  #stopped = false

  /** `path` leads to the project server; the server itself has none. */
  constructor(network: Network, process: Process, peerId: PeerIdString, path?: Path) {
    this.network = network
    this.process = process
    this.peerId = peerId
    this.#path = path
  }

  addresses(): string[] {
    return this.network.homes?.addressesOf(this.peerId) ?? [`/sim/${this.peerId}`]
  }

  async handle(protocol: string, options: StreamOptions, serve: (stream: FrameStream) => Promise<void>): Promise<void> {
    this.#handlers ??= new Map()
    this.#handlers.set(protocol, { options, serve })
  }

  handlerOf(protocol: string): Handler | undefined {
    return this.#handlers?.get(protocol)
  }

  get connections(): Connection[] {
    return this.#connections.values().flat()
  }

  isConnected(peer: PeerIdString): boolean {
    return this.connectionTo(peer) !== undefined
  }

  connectionTo(peer: PeerIdString): Connection | undefined {
    return this.#connectionsTo(peer).find((connection) => connection.endOf(this).open)
  }

  /** Whether any of it goes without a relay. */
  isDirect(peer: PeerIdString): boolean {
    return this.#connectionsTo(peer).some(({ path }) => path.relayed !== true)
  }

  newestTo(peer: PeerIdString): Connection | undefined {
    const connections = this.#connections.get(peer)
    return connections instanceof Connection ? connections : connections?.at(-1)
  }

  /** One and a half round trips when the peer listens; nothing at all while the path is blocked or the peer does not run. */
  async connect(peer: PeerIdString, _addresses: readonly string[], signal?: AbortSignal): Promise<void> {
    if (this.isConnected(peer)) return
    const way = this.network.homes?.wayBetween(this.peerId, peer)
    const path = way === 'none' ? undefined : (way?.path ?? this.#path)
    if (way === 'none') await this.process.later(NO_WAY_MS, () => undefined)
    else if (way !== undefined) await this.process.later(way.setUpMs, () => undefined)
    if (path === undefined || this.#stopped) throw new HostError('unreachable', 'nobody there')
    this.network.watchers.onDial(this, peer)
    await this.#within(DIAL_MS_MAX, signal, (settle) => {
      this.#leg(path, 'up', () => {
        const there = this.network.at(peer)
        const admitted = there === undefined || this.network.admits(there, path)
        if (!admitted) this.network.watchers.onConduct?.(this.peerId, 'not let in')
        if (there === undefined || !there.process.alive || !admitted) {
          this.#leg(path, 'down', () => settle(() => this.#refused(peer)))
          return
        }
        there.process.enter(() =>
          this.#leg(path, 'down', () => {
            if (!this.process.alive || !there.process.alive || this.network.at(peer) !== there) return
            // The kernels have it, whether or not the process runs.
            const connection = new Connection(path, this, there)
            this.#hold(connection)
            there.#hold(connection)
            path.begun?.(() => connection.cut())
            settle(() => undefined)
          })
        )
      })
    })
  }

  async open(peer: PeerIdString, protocol: string, options: StreamOptions, signal?: AbortSignal): Promise<FrameStream> {
    const connection = this.connectionTo(peer)
    if (connection === undefined) throw new HostError('not_connected', `there is no connection to ${peer}`)
    return await this.#within<FrameStream>(OPEN_MS_MAX, signal, (settle) => {
      connection.stream(this, protocol, options).then(
        (stream) =>
          settle(
            () => stream,
            () => stream.abort(new StreamError('closed', 'nobody waits for it any more'))
          ),
        (error: unknown) =>
          settle(() => {
            throw error
          })
      )
    })
  }

  async disconnect(peer: PeerIdString): Promise<void> {
    for (const connection of this.#connectionsTo(peer)) connection.break(this, { tell: true })
  }

  async publishRecord(): Promise<void> {
    throw new HostError('dht_unavailable', 'no DHT here')
  }

  async findRecord(): Promise<Uint8Array | undefined> {
    throw new HostError('dht_unavailable', 'no DHT here')
  }

  /** In order: the others learn of it. */
  async stop(): Promise<void> {
    this.end(true)
  }

  /** The process is over. Its machine's kernel tells the others (`tell`), unless the machine is gone too. */
  end(tell: boolean): void {
    this.#stopped = true
    if (this.network.server === this) this.network.server = undefined
    for (const connection of this.connections) connection.break(this, { tell })
    for (const leave of this.#listening ?? []) leave()
    this.#listening = undefined
  }

  /** Calls back when the signal is aborted, for as long as this host lives; the answer ends it sooner. */
  onAbort(signal: AbortSignal | undefined, call: () => void): () => void {
    if (signal === undefined) return () => undefined
    const leave = (): void => {
      this.#listening?.delete(leave)
      if (this.#listening?.size === 0) this.#listening = undefined
      signal.removeEventListener('abort', call)
    }
    this.#listening ??= new Set()
    this.#listening.add(leave)
    signal.addEventListener('abort', call, { once: true })
    return leave
  }

  /** Calls back when the connection is lost here. */
  onLost(connection: Connection, call: () => void): void {
    this.#lost ??= new Map()
    const calls = this.#lost.get(connection)
    if (calls === undefined) this.#lost.set(connection, [call])
    else calls.push(call)
  }

  forget(connection: Connection): void {
    const peer = connection.endOf(this).remotePeer
    const left = this.#connectionsTo(peer).filter((one) => one !== connection)
    if (left.length === 0) this.#connections.delete(peer)
    else this.#keep(peer, left)
    const calls = this.#lost?.get(connection)
    this.#lost?.delete(connection)
    for (const call of calls ?? []) this.process.enter(call)
  }

  #hold(connection: Connection): void {
    const peer = connection.endOf(this).remotePeer
    this.#keep(peer, this.#connectionsTo(peer).concat(connection))
  }

  #connectionsTo(peer: PeerIdString): readonly Connection[] {
    const connections = this.#connections.get(peer)
    return connections instanceof Connection ? [connections] : (connections ?? [])
  }

  #keep(peer: PeerIdString, connections: readonly Connection[]): void {
    const [first] = connections
    this.#connections.set(peer, first === undefined || connections.length > 1 ? connections : first)
  }

  #refused(peer: PeerIdString): never {
    throw new HostError('unreachable', `cannot reach ${peer}: connection refused`)
  }

  /** One way of a dial; it waits while the path is blocked, as a repeated SYN does. */
  #leg(path: Path, direction: Direction, then: () => void): void {
    const lane = new Leg(this.process.engine, path, direction)
    lane.send(then)
    lane.close()
  }

  /** What `begin` settles with, or the signal's reason, or a time-out; whatever comes first. */
  #within<T>(ms: number, signal: AbortSignal | undefined, begin: (settle: (act: () => T, unwanted?: () => void) => void) => void): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      let over = false
      let leave = (): void => {}
      const end = (act: () => T): boolean => {
        if (over) return false
        over = true
        cancel()
        leave()
        try {
          resolve(act())
        } catch (error) {
          reject(error)
        }
        return true
      }
      const onAbort = (): void => {
        end(() => {
          throw signal?.reason
        })
      }
      const cancel = this.process.after(ms, () =>
        end(() => {
          throw new HostError('unreachable', 'no answer in time')
        })
      )
      if (signal?.aborted === true) {
        onAbort()
        return
      }
      leave = this.onAbort(signal, onAbort)
      begin((act, unwanted) =>
        this.process.enter(() => {
          if (!end(act)) unwanted?.()
        })
      )
    })
  }
}
