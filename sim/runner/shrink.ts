/** Makes a failing case of the protocol level small. */
import { type Case, FLOOD_ACTS, HOSTILE_ACTS } from '../faults/case.ts'
import { type CasePorts, type Looked, shrinkParts } from '../faults/shrink.ts'
import type { Failure } from '../shrink.ts'

const HOSTILE: readonly string[] = [...HOSTILE_ACTS, ...FLOOD_ACTS]

/** The smallest case found that fails alike, and what it does. */
export function shrinkCase<Ran extends Looked>(failure: Failure<Case, Ran>, ports: CasePorts<Case, Ran>): Promise<Failure<Case, Ran>> {
  return shrinkParts(failure, ports, async (smaller) => {
    const { faults, ...one } = smaller.failure.world
    await smaller.take({ ...one, hostile: 0, faults: faults.filter(({ kind }) => !HOSTILE.includes(kind)) })
  })
}
