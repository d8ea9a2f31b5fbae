/** One direction of a connection: in order, each message late by the path's delay, held back while the path is blocked. */
import type { Engine } from '../engine/engine.ts'

export type Direction = 'up' | 'down'

/** The way between a volunteer's machine and the project server; `up` is towards the server. */
export interface Path {
  readonly blocked: Record<Direction, boolean>
  /** One way, in milliseconds. */
  delayMs(direction: Direction): number
  readonly lanes: Set<Lane>
  /** How long a sender repeats itself before it takes the connection for broken. */
  patienceMs: number
}

export function blockedAtAll({ blocked }: Path): boolean {
  return blocked.up || blocked.down
}

interface Message {
  atMs: number
  readonly deliver: () => void
}

export class Lane {
  readonly #engine: Engine
  readonly #path: Path
  readonly #direction: Direction
  readonly #queue: Message[] = []
  #lastMs = 0
  #armed = false
  #closed = false

  constructor(engine: Engine, path: Path, direction: Direction) {
    this.#engine = engine
    this.#path = path
    this.#direction = direction
    path.lanes.add(this)
  }

  send(deliver: () => void): void {
    if (this.#closed) return
    const atMs = Math.max(this.#lastMs, this.#engine.nowMs + Math.round(this.#path.delayMs(this.#direction)))
    this.#lastMs = atMs
    this.#queue.push({ atMs, deliver })
    this.arm()
  }

  /** What is on its way comes so much later than it would. */
  delay(ms: number): void {
    for (const message of this.#queue) message.atMs += ms
    this.#lastMs += ms
  }

  /** Nothing more is sent; what is on its way still arrives. */
  close(): void {
    this.#closed = true
    if (this.#queue.length === 0) this.#path.lanes.delete(this)
  }

  /** What is on its way is lost. */
  drop(): void {
    this.#queue.length = 0
    this.close()
  }

  /** Delivers what is due; called again when the path is free again. */
  arm(): void {
    const [head] = this.#queue
    if (this.#armed || head === undefined || this.#path.blocked[this.#direction]) return
    this.#armed = true
    this.#engine.after(Math.max(0, head.atMs - this.#engine.nowMs), () => {
      this.#armed = false
      const [first] = this.#queue
      if (first !== undefined && first.atMs <= this.#engine.nowMs && !this.#path.blocked[this.#direction]) {
        this.#queue.shift()
        first.deliver()
      }
      this.arm()
      if (this.#closed && this.#queue.length === 0) this.#path.lanes.delete(this)
    })
  }
}
