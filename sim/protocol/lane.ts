/** One direction of a connection: in order, each message late by the path's delay, held back while the path is blocked. */
import { type Engine, Planned } from '../engine/engine.ts'
import type { UnrulyWay } from './unruly.ts'

export type Direction = 'up' | 'down'

/** The way between a volunteer's machine and the project server; `up` is towards the server. */
export interface Path {
  readonly blocked: Readonly<Record<Direction, boolean>>
  /** One way for a message of so many bytes that is sent now, in milliseconds. */
  delayMs(direction: Direction, bytes: number, nowMs: number): number
  /** Those that hold messages back: they are armed again when the path is free. */
  readonly lanes: Set<Lane>
  /** How long a sender repeats itself before it takes the connection for broken. */
  readonly patienceMs: number
  /** What becomes of the frames of one direction of a control stream, where they do not all come once and in order. */
  readonly unrulyWay?: (engine: Engine, see: (what: string) => void) => UnrulyWay | undefined
  /** Somebody between passes everything on. */
  readonly relayed?: boolean
  /** A connection over it stands; `cut` breaks it at both ends. */
  readonly begun?: (cut: () => void) => void
  /** What the server sees of who calls, where that is modelled. */
  readonly address?: string | undefined
}

export function blockedAtAll({ blocked }: Path): boolean {
  return blocked.up || blocked.down
}

class Message {
  atMs: number
  readonly deliver: () => void
  /** The one sent after it; after the last comes the first. */
  next: Message

  constructor(atMs: number, deliver: () => void, last: Message | undefined) {
    this.atMs = atMs
    this.deliver = deliver
    this.next = last?.next ?? this
    if (last !== undefined) last.next = this
  }
}

export abstract class Lane {
  abstract readonly path: Path
  abstract readonly engine: Engine
  abstract readonly direction: Direction
  #last: Message | undefined
  #lastMs = 0
  #state: 'idle' | 'armed' | 'held' = 'idle'
  #closed = false

  /** `bytes` matter where the line is thin. */
  send(deliver: () => void, bytes = 0): void {
    if (this.#closed) return
    const { nowMs } = this.engine
    const atMs = Math.max(this.#lastMs, nowMs + Math.round(this.path.delayMs(this.direction, bytes, nowMs)))
    this.#lastMs = atMs
    this.#last = new Message(atMs, deliver, this.#last)
    this.arm()
  }

  /** What is on its way comes so much later than it would. */
  delay(ms: number): void {
    const last = this.#last
    for (let message = last?.next; message !== undefined; message = message === last ? undefined : message.next) message.atMs += ms
    this.#lastMs += ms
  }

  /** Nothing more is sent; what is on its way still arrives. */
  close(): void {
    this.#closed = true
  }

  /** What is on its way is lost. */
  drop(): void {
    this.#last = undefined
    if (this.#state === 'held') this.#hold(false)
    this.close()
  }

  /** Delivers what is due; called again when the path is free again. */
  arm(): void {
    const head = this.#last?.next
    if (this.#state === 'armed' || head === undefined) return
    const held = this.path.blocked[this.direction]
    if (held !== (this.#state === 'held')) this.#hold(held)
    if (held) return
    this.#state = 'armed'
    this.engine.plan(Math.max(0, head.atMs - this.engine.nowMs), new Arrival(this))
  }

  /** The time of its first message has come. */
  arrive(): void {
    this.#state = 'idle'
    const last = this.#last
    const first = last?.next
    if (last !== undefined && first !== undefined && first.atMs <= this.engine.nowMs && !this.path.blocked[this.direction]) {
      if (first === last) this.#last = undefined
      else last.next = first.next
      first.deliver()
    }
    this.arm()
  }

  #hold(held: boolean): void {
    this.#state = held ? 'held' : 'idle'
    if (held) this.path.lanes.add(this)
    else this.path.lanes.delete(this)
  }
}

/** A lane of its own. */
export class Leg extends Lane {
  readonly path: Path
  readonly engine: Engine
  readonly direction: Direction

  constructor(engine: Engine, path: Path, direction: Direction) {
    super()
    this.engine = engine
    this.path = path
    this.direction = direction
  }
}

class Arrival extends Planned {
  readonly #lane: Lane
  readonly wanted = true

  constructor(lane: Lane) {
    super()
    this.#lane = lane
  }

  fire(): void {
    this.#lane.arrive()
  }
}
