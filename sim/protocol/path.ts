import type { NodeCase } from '../faults/case.ts'
import type { Random } from '../random.ts'
import type { Direction, Lane, Path } from './lane.ts'
import { USUAL_PACE } from './pace.ts'

/** A lost packet is sent again after this, and after twice this, and so on. */
const RESEND_MS = 200

/** The way of one volunteer to the project server, as it is drawn and as faults change it. */
export class NodePath implements Path {
  readonly blocked: Record<Direction, boolean> = { up: false, down: false }
  readonly lanes = new Set<Lane>()
  readonly patienceMs: number
  /** Added to every message while a fault lasts. */
  extraMs = 0
  readonly #blockers: Record<Direction, number> = { up: 0, down: 0 }
  readonly #random: Random
  readonly #delayMs: number
  readonly #jitterMs: number
  readonly #loss: number
  readonly #wayMs: (random: Random) => number

  constructor({ delayMs, jitterMs, loss, patienceMs }: Pick<NodeCase, 'delayMs' | 'jitterMs' | 'loss' | 'patienceMs'>, random: Random, { wayMs } = USUAL_PACE) {
    this.patienceMs = patienceMs
    this.#random = random
    this.#delayMs = delayMs
    this.#jitterMs = jitterMs
    this.#loss = loss
    this.#wayMs = wayMs
  }

  delayMs(): number {
    let ms = this.#delayMs + this.extraMs + this.#random.below(this.#jitterMs + 1) + this.#wayMs(this.#random)
    for (let resendMs = RESEND_MS; resendMs < 10_000 && this.#random.chance(this.#loss); resendMs *= 2) ms += resendMs
    return ms
  }

  /** Several faults may block it at once. */
  block(directions: readonly Direction[], blocked: boolean): void {
    for (const direction of directions) {
      this.#blockers[direction] += blocked ? 1 : -1
      this.blocked[direction] = this.#blockers[direction] > 0
    }
    if (!blocked) for (const lane of [...this.lanes]) lane.arm()
  }
}
