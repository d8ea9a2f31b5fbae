/** Which faults a run is about: those that its seed draws, or some of them alone. */
import type { Unruly } from '../protocol/unruly.ts'
import type { Case } from './case.ts'
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
  }
}

/** Worlds as they were drawn, without anything that befalls them. */
function alone(one: Case): Case {
  return { ...one, faults: [], hostile: 0 }
}

function unruly(one: Case): Case {
  return { ...one, nodes: one.nodes.map((node) => ({ ...node, unruly: CONTROL_LOSS })) }
}
