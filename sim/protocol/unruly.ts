/**
 * What some networks do to the frames of a control stream: some never come, some come twice, some come after those that were
 * sent later. No stream that works does that; one that is mended by somebody on its way, a relay or a library with a bug,
 * does, and the numbers of the frames are there for nothing else.
 */
import type { Engine } from '../engine/engine.ts'
import type { Random } from '../random.ts'

/** Shares of the frames of each stream, in each direction. */
export interface Unruly {
  readonly lost: number
  readonly doubled: number
  readonly late: number
}

/** A frame that is late, or comes again, does so within this time. */
const LATE_MS_MAX = 3_000

export interface UnrulyPorts {
  readonly engine: Engine
  readonly dice: Random
  /** Undefined when the network is as it should be now. */
  readonly rates: () => Unruly | undefined
  readonly see: (what: string) => void
}

/** One direction of one stream. */
export class UnrulyWay {
  readonly #ports: UnrulyPorts
  #sent = 0
  /** The latest of those that have come. */
  #come = 0

  constructor(ports: UnrulyPorts) {
    this.#ports = ports
  }

  /** A frame is about to come, in its turn. */
  pass(deliver: () => void): void {
    const { engine, dice, rates, see } = this.#ports
    const place = ++this.#sent
    const come = (): void => {
      if (place < this.#come) see('a control frame was overtaken')
      this.#come = Math.max(this.#come, place)
      deliver()
    }
    const { lost, doubled, late } = rates() ?? RULY
    if (dice.chance(lost)) {
      see('a control frame was lost')
      return
    }
    if (dice.chance(late)) engine.after(1 + dice.below(LATE_MS_MAX), come)
    else come()
    if (!dice.chance(doubled)) return
    see('a control frame came twice')
    engine.after(1 + dice.below(LATE_MS_MAX), come)
  }
}

const RULY: Unruly = { lost: 0, doubled: 0, late: 0 }
