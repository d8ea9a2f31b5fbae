/** Who can be dialled of volunteers' machines and the project server, and the Host port of each. */
import { SmallMap } from '#node/small-map'
import type { PeerIdString } from '#protocol/ids'
import type { Places } from '#protocol/peer/conduct'
import { type FrameStream, type Host, HostError, StreamError, type StreamOptions } from '#protocol/peer/host'
import type { Process } from '../engine/process.ts'
import { Connection } from './connection.ts'
import type { Homes } from './homes.ts'
import { type Direction, Leg, type Path } from './lane.ts'

/** As the real host's. */
const DIAL_MS_MAX = 6_000
const OPEN_MS_MAX = 10_000
/** Until a relay says that it knows nobody of that name. */
const NO_WAY_MS = 200

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
