/** Makes a failing case of the protocol level small. */
import { type Case, FLOOD_ACTS, HOSTILE_ACTS } from '../faults/case.ts'
import { leaveOut } from '../faults/shrink.ts'
import { type Failure, type Judged, shrink } from '../shrink.ts'
import type { Ran } from './run.ts'

/** What of a run is looked at. */
export type CaseRan = Judged & Pick<Ran, 'ms' | 'events'>

export interface CaseShrinkPorts<One> {
  readonly run: (one: Case) => Promise<One>
  /** Attempts in all. */
  readonly runsMax: number
  readonly stopped: () => boolean
}

const HOSTILE: readonly string[] = [...HOSTILE_ACTS, ...FLOOD_ACTS]
/** In all, in events: half a minute's. More, where the failing run was long itself. */
const EVENTS_MAX = 1_000_000
const EVENTS_TIMES_MAX = 6

/** The smallest case found that fails alike, and what it does. */
export function shrinkCase<One extends CaseRan>(failure: Failure<Case, One>, { run, runsMax, stopped }: CaseShrinkPorts<One>): Promise<Failure<Case, One>> {
  const costMax = Math.max(EVENTS_MAX, EVENTS_TIMES_MAX * failure.ran.events)
  const ports = { run, runsMax, costMax, costOf: ({ events }: One) => events, keyOf: (one: Case) => JSON.stringify(one), stopped }
  return shrink(failure, ports, async (smaller) => {
    const { faults, ...one } = smaller.failure.world
    await smaller.take({ ...one, hostile: 0, faults: faults.filter(({ kind }) => !HOSTILE.includes(kind)) })
    await leaveOut(smaller)
  })
}
