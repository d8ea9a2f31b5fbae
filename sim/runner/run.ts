/** One case from beginning to end: what was wrong, what happened, and whether it can be repeated. */

import { makeJudge } from '../checkers/judge.ts'
import { checkReceipts } from '../checkers/receipts.ts'
import type { Case } from '../faults/case.ts'
import { World } from '../protocol/world.ts'
import { Sometimes } from '../sometimes.ts'

export interface Ran {
  /** What was wrong; undefined when nothing was. */
  readonly complaint: string | undefined
  readonly hash: string
  readonly events: number
  /** Virtual milliseconds. */
  readonly ms: number
  readonly sometimes: Sometimes
  readonly story: World['story']
}

export async function run(one: Case): Promise<Ran> {
  const sometimes = new Sometimes()
  const world = new World(one, makeJudge, sometimes)
  const complaint = (await world.run()) ?? (await checkReceipts(world))
  const { engine, story } = world
  const { hash } = engine
  world.end()
  return { complaint, hash, events: engine.events, ms: engine.nowMs, sometimes, story }
}
