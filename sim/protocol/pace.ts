/** How long the parts of a simulated world take, in milliseconds, where a case does not say: drawn anew each time. */
import type { Random } from '../random.ts'

export interface Pace {
  /** A write of the server's disk, and of a node's. */
  readonly serverWriteMs: (random: Random) => number
  readonly nodeWriteMs: (random: Random) => number
  /** Until an engine answers anything. */
  readonly engineMs: (random: Random) => number
  /** What a run costs beyond its own time. */
  readonly runMs: (random: Random) => number
  /** One way between an owner and the server. */
  readonly ownerMs: (random: Random) => number
  /** Added to the way between a node and the server that its case says. */
  readonly wayMs: (random: Random) => number
}

export const USUAL_PACE: Pace = {
  serverWriteMs: (random) => 1 + random.below(4),
  nodeWriteMs: (random) => 1 + random.below(3),
  engineMs: () => 1,
  runMs: (random) => 2 + random.below(50),
  ownerMs: (random) => 5 + random.below(60),
  wayMs: () => 0
}
