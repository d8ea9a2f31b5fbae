/** Computers of a simulated internet: who can be dialled where, how long the way takes, and what blocks it. */
import type { Engine } from '../engine/engine.ts'
import type { Process } from '../engine/process.ts'
import { type Direction, type Lane, Leg, type Path } from '../protocol/lane.ts'
import type { NodePath } from '../protocol/path.ts'
import type { Random } from '../random.ts'
import type { Socket } from './socket.ts'
import type { SimListener } from './transport.ts'

/** The first port of connections that a computer opens. */
const FIRST_PORT = 40_000

export class Internet {
  readonly engine: Engine
  readonly #stations = new Map<string, Station>()
  readonly #random: Random
  #island = new Set<Station>()

  constructor(engine: Engine, random: Random) {
    this.engine = engine
    this.#random = random
  }

  /** A computer's place; `access` is its line. */
  join(ip: string, access: NodePath): Station {
    const station = new Station(this, ip, access)
    this.#stations.set(ip, station)
    return station
  }

  at(ip: string): Station | undefined {
    return this.#stations.get(ip)
  }

  get stations(): IterableIterator<Station> {
    return this.#stations.values()
  }

  /** Nothing passes between these and all others until the next call; none for an internet that is whole. */
  split(island: readonly Station[]): void {
    this.#island = new Set(island)
    for (const { access } of this.#stations.values()) for (const lane of [...access.lanes]) lane.arm()
  }

  /** About a third of all, the same for the same number. */
  random(amount: number): Station[] {
    const dice = this.#random.fork(amount)
    return [...this.#stations.values()].filter(() => dice.chance(1 / 3))
  }

  areApart(one: Station, other: Station): boolean {
    return this.#island.size > 0 && this.#island.has(one) !== this.#island.has(other)
  }
}

export class Station {
  readonly internet: Internet
  readonly ip: string
  readonly access: NodePath
  /** Its kernel answers. */
  up = false
  readonly listeners = new Map<string, SimListener>()
  readonly sockets = new Set<Socket>()
  #nextPort = FIRST_PORT

  constructor(internet: Internet, ip: string, access: NodePath) {
    this.internet = internet
    this.ip = ip
    this.access = access
  }

  get freePort(): number {
    return this.#nextPort++
  }

  /** This process of it has ended. `tell`: the kernel lives and closes its connections; else the computer is gone. */
  lose(process: Process, tell: boolean): void {
    if (!tell) this.up = false
    for (const [port, listener] of this.listeners) if (listener.process === process) this.listeners.delete(port)
    for (const socket of [...this.sockets]) if (socket.process === process) socket.break({ tell })
  }

  /** One message to another computer, in no connection; `up` is from here. */
  send(path: Path, direction: Direction, deliver: () => void): void {
    const lane = new Leg(this.internet.engine, path, direction)
    lane.send(deliver)
    lane.close()
  }
}

/** The way between two computers, over both their lines. */
export class Way implements Path {
  readonly lanes: Set<Lane>
  readonly blocked: Readonly<Record<Direction, boolean>>
  readonly patienceMs: number
  readonly #from: Station
  readonly #to: Station

  constructor(from: Station, to: Station) {
    this.#from = from
    this.#to = to
    this.lanes = new Shared(from.access.lanes, to.access.lanes)
    this.patienceMs = Math.min(from.access.patienceMs, to.access.patienceMs)
    this.blocked = {
      get up() {
        return from.access.blocked.up || to.access.blocked.down || from.internet.areApart(from, to)
      },
      get down() {
        return to.access.blocked.up || from.access.blocked.down || from.internet.areApart(from, to)
      }
    }
  }

  delayMs(direction: Direction, bytes: number, nowMs: number): number {
    const other = direction === 'up' ? 'down' : 'up'
    return this.#from.access.delayMs(direction, bytes, nowMs) + this.#to.access.delayMs(other, bytes, nowMs)
  }
}

/** Lanes that are held back by either end's line, or by a split: freed with any of them. */
class Shared extends Set<Lane> {
  readonly #sets: readonly Set<Lane>[]

  constructor(...sets: readonly Set<Lane>[]) {
    super()
    this.#sets = sets
  }

  override add(lane: Lane): this {
    for (const set of this.#sets) set.add(lane)
    return this
  }

  override delete(lane: Lane): boolean {
    return this.#sets.map((set) => set.delete(lane)).includes(true)
  }
}
