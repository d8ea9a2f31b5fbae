/** Makes a failing case of the stack level small. */
import { leaveOut, only, present } from '../faults/shrink.ts'
import { type Failure, shrink } from '../shrink.ts'
import { BOOTSTRAPS, type StackCase } from './case.ts'
import type { StackRan } from './one.ts'

/** What of a run is looked at. */
type Looked = Pick<StackRan, 'complaint' | 'ms' | 'events'>

export interface StackShrinkPorts<Ran> {
  /** As far as `untilMs`. */
  readonly run: (one: StackCase, untilMs: number) => Promise<Ran>
  /** Attempts in all. */
  readonly runsMax: number
  readonly stopped: () => boolean
}

/** In all, in events: about two minutes'. More, where the failing run was long itself. */
const EVENTS_MAX = 1_000_000
const EVENTS_TIMES_MAX = 6
/** A smaller world fails at about the same time, or does not: what it would do long after is not worth its time. */
const LATER = { times: 1.5, ms: 30_000 }

/** The smallest case found that fails alike, and what it does. The bootstrap peers and the project stay: without them nobody could find anybody. */
export function shrinkStackCase<Ran extends Looked>(
  failure: Failure<StackCase, Ran>,
  { run, runsMax, stopped }: StackShrinkPorts<Ran>
): Promise<Failure<StackCase, Ran>> {
  const untilMs = Math.ceil(failure.ran.ms * LATER.times) + LATER.ms
  const ports = {
    run: (one: StackCase) => run(one, untilMs),
    runsMax,
    stopped,
    costMax: Math.max(EVENTS_MAX, EVENTS_TIMES_MAX * failure.ran.events),
    costOf: ({ events }: Ran) => events,
    keyOf: (one: StackCase) => JSON.stringify(one)
  }
  return shrink(failure, ports, async (smaller) => {
    const now = (): StackCase => smaller.failure.world
    const stay = now()
      .keepers.slice(0, BOOTSTRAPS)
      .map(({ name }) => name)
    const others = present(now().keepers.slice(BOOTSTRAPS))
    await smaller.fewer(others, (kept) => ({ ...now(), keepers: only(now().keepers, [...stay, ...kept]) }))
    await leaveOut(smaller)
  })
}
