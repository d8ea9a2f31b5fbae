/** Which faults a run is about: those that its seed draws, or some of them alone. */
import type { Unruly } from '../protocol/unruly.ts'
import { type Case, FLOOD_ACTS } from './case.ts'
import { drawCase } from './draw.ts'

/** Of all frames of control streams a fifth is lost, a fifth comes twice, and a fifth after others that were sent later. */
const CONTROL_LOSS: Unruly = { lost: 0.2, doubled: 0.2, late: 0.2 }

export interface Profile {
  draw(seed: number): Case
  /** What must have happened in a run of many seeds for it to prove anything; where it is not all that may. */
  readonly expected?: readonly string[]
}

export const PROFILES: Readonly<Record<string, Profile>> = {
  drawn: { draw: drawCase },
  'control-loss': {
    draw: (seed) => alone(unruly(drawCase(seed))),
    expected: [
      'a control frame came twice',
      'a control frame was lost',
      'a control frame was overtaken',
      'a message came again',
      'a node missed a message',
      'link begun',
      'link resumed',
      'node sent away: gap',
      'stream closed: gap',
      'the server missed a message'
    ]
  },
  floods: {
    draw: (seed) => flooded(alone(drawCase(seed))),
    expected: [
      ...FLOOD_ACTS,
      'a flood of frames was said to its end',
      'a flood was refused a stream',
      "a stranger's request was refused: not_owner",
      'a hostile peer was not let in',
      'a hostile peer was hung up on: a frame is larger than its protocol allows',
      'a hostile peer was hung up on: it opens more streams of a protocol at once than it may',
      'stream closed: too_often'
    ]
  }
}

/** How long after the last flood something of it may still be under way. */
const FLOODED_MS = 60_000
const FLOODERS = 2

/** Nothing is the matter with anybody, but some flood the server, each in every way. */
function flooded(one: Case): Case {
  // Some come while others are flooding.
  const nodes = one.nodes.map(({ unruly: _, ...node }, index) => ({ ...node, loss: 0, patienceMs: 60_000, joinsMs: (index * 7_300) % 50_000 }))
  const faults = FLOOD_ACTS.flatMap((kind, turn) =>
    Array.from({ length: FLOODERS }, (_, target) => ({ atMs: 5_000 + 7_000 * turn + 2_500 * target, kind, target, forMs: 0, amount: 0 }))
  ).sort((a, b) => a.atMs - b.atMs)
  return { ...one, nodes, hostile: FLOODERS, faults, faultsMs: Math.max(one.faultsMs, FLOODED_MS) }
}

/** Worlds as they were drawn, without anything that befalls them. */
function alone(one: Case): Case {
  return { ...one, faults: [], hostile: 0 }
}

function unruly(one: Case): Case {
  return { ...one, nodes: one.nodes.map((node) => ({ ...node, unruly: CONTROL_LOSS })) }
}
