/** Makes a failing case of the stack level small. */
import { type CasePorts, type Looked, only, present, shrinkParts } from '../faults/shrink.ts'
import type { Failure } from '../shrink.ts'
import { BOOTSTRAPS, type StackCase } from './case.ts'

export interface StackShrinkPorts<Ran> extends Omit<CasePorts<StackCase, Ran>, 'run'> {
  /** As far as `untilMs`. */
  readonly run: (one: StackCase, untilMs: number) => Promise<Ran>
}

/** A smaller world fails at about the same time, or does not: what it would do long after is not worth its time. */
const LATER = { times: 1.5, ms: 30_000 }

/** The smallest case found that fails alike, and what it does. The bootstrap peers and the project stay: without them nobody could find anybody. */
export function shrinkStackCase<Ran extends Looked>(
  failure: Failure<StackCase, Ran>,
  { run, ...ports }: StackShrinkPorts<Ran>
): Promise<Failure<StackCase, Ran>> {
  const untilMs = Math.ceil(failure.ran.ms * LATER.times) + LATER.ms
  return shrinkParts(failure, { ...ports, run: (one) => run(one, untilMs) }, async (smaller) => {
    const now = (): StackCase => smaller.failure.world
    const stay = now()
      .keepers.slice(0, BOOTSTRAPS)
      .map(({ name }) => name)
    const others = present(now().keepers.slice(BOOTSTRAPS))
    await smaller.fewer(others, (kept) => ({ ...now(), keepers: only(now().keepers, [...stay, ...kept]) }))
  })
}
