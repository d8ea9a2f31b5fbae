import type { Engine } from '../engine/engine.ts'
import type { NodeCase } from '../faults/case.ts'
import type { Random } from '../random.ts'
import type { Direction, Lane, Path } from './lane.ts'
import { type Pace, USUAL_PACE } from './pace.ts'
import { UnrulyWay } from './unruly.ts'

/** A lost packet is sent again after this, and after twice this, and so on. */
const RESEND_MS = 200

type Way = Pick<NodeCase, 'delayMs' | 'jitterMs' | 'loss' | 'patienceMs' | 'upBytesPerMs' | 'downBytesPerMs' | 'network' | 'unruly'>

/** The way of one volunteer to the project server, as it is drawn and as faults change it. */
export class NodePath implements Path {
  readonly #random: Random
  readonly #way: Way
  readonly #pace: Pick<Pace, 'wayMs'>
  /** For unruly streams. */
  #dice: Random | undefined
  #behaved = false
  /** Made by the first fault. */
  #trouble: Trouble | undefined

  constructor(way: Way, random: Random, pace: Pick<Pace, 'wayMs'> = USUAL_PACE) {
    this.#way = way
    this.#random = random
    this.#pace = pace
  }

  get address(): string | undefined {
    const { network } = this.#way
    return network === undefined ? undefined : `/ip4/5.1.${network}.7/tcp/4600`
  }

  get patienceMs(): number {
    return this.#way.patienceMs
  }

  get blocked(): Readonly<Record<Direction, boolean>> {
    return this.#trouble?.blocked ?? FREE
  }

  get lanes(): Set<Lane> {
    return this.trouble.lanes
  }

  /** Its streams are only unruly until the faults stop. */
  unrulyWay(engine: Engine, see: (what: string) => void): UnrulyWay | undefined {
    const { unruly } = this.#way
    if (unruly === undefined) return undefined
    this.#dice ??= this.#random.fork('unruly')
    return new UnrulyWay({ engine, dice: this.#dice, rates: () => (this.#behaved ? undefined : unruly), see })
  }

  /** From now on all its frames come once and in order. */
  behave(): void {
    this.#behaved = true
  }

  /** What faults change. */
  get trouble(): Trouble {
    this.#trouble ??= new Trouble()
    return this.#trouble
  }

  delayMs(direction: Direction = 'up', bytes = 0, nowMs = 0): number {
    const { delayMs, jitterMs } = this.#way
    return delayMs + this.#random.below(jitterMs + 1) + this.#pace.wayMs(this.#random) + this.accessMs(direction, bytes, nowMs)
  }

  /** Of that, what its own line takes, wherever a message comes from or goes. */
  accessMs(direction: Direction, bytes: number, nowMs: number): number {
    let ms = this.#trouble?.extraMs ?? 0
    for (let resendMs = RESEND_MS; resendMs < 10_000 && this.#random.chance(this.#way.loss); resendMs *= 2) ms += resendMs
    return ms + this.#lineMs(direction, bytes, nowMs)
  }

  /** Several faults may block it at once. */
  block(directions: readonly Direction[], blocked: boolean): void {
    const { trouble } = this
    for (const direction of directions) {
      trouble.blockers[direction] += blocked ? 1 : -1
      trouble.blocked[direction] = trouble.blockers[direction] > 0
    }
    if (!blocked) for (const lane of [...this.lanes]) lane.arm()
  }

  /** Until the last byte is on the access line: whoever sends over it waits for its turn. */
  #lineMs(direction: Direction, bytes: number, nowMs: number): number {
    const rate = this.#rate(direction)
    if (rate === undefined || bytes === 0) return 0
    const { freeAtMs } = this.trouble
    freeAtMs[direction] = Math.max(freeAtMs[direction], nowMs) + bytes / rate
    return freeAtMs[direction] - nowMs
  }

  #rate(direction: Direction): number | undefined {
    const own = direction === 'up' ? this.#way.upBytesPerMs : this.#way.downBytesPerMs
    const thin = this.#trouble?.bytesPerMs
    return own === undefined || thin === undefined ? (own ?? thin) : Math.min(own, thin)
  }
}

const FREE: Readonly<Record<Direction, boolean>> = { up: false, down: false }

class Trouble {
  /** Those that hold messages back. */
  readonly lanes = new Set<Lane>()
  readonly blocked: Record<Direction, boolean> = { up: false, down: false }
  readonly blockers: Record<Direction, number> = { up: 0, down: 0 }
  /** When the line is free for the next byte. */
  readonly freeAtMs: Record<Direction, number> = { up: 0, down: 0 }
  /** Added to every message. */
  extraMs = 0
  /** The line carries no more, either way. */
  bytesPerMs: number | undefined
}
