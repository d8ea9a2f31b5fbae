/** Plays a case without anybody who judges, until every task of its batches has ended: the real coordinator and the real nodes. */

import { openKey } from '#project-server/coordinator/keys'
import { decodeTaskRecord } from '#project-server/coordinator/task-records'
import { NOBODY } from '../checkers/nobody.ts'
import { BEGAN_MS } from '../engine/process.ts'
import type { Case } from '../faults/case.ts'
import { batchIdOf } from '../protocol/owner.ts'
import type { Pace } from '../protocol/pace.ts'
import { World } from '../protocol/world.ts'

/** Far longer than any experiment takes. */
const LENGTH_MS_MAX = 24 * 3_600_000

/** When a task was submitted and when it was decided or given up, in milliseconds of the run. */
export interface PlayedTask {
  readonly submittedMs: number
  readonly endedMs: number
  readonly ready: boolean
}

export interface Played {
  readonly tasks: readonly PlayedTask[]
  readonly events: number
  readonly hash: string
}

/** Throws when a task has not ended after a virtual day: the experiment makes no sense. */
export async function play(one: Case, pace?: Pace): Promise<Played> {
  const open = new Set(one.batches.map((_, index) => openKey(batchIdOf(index))))
  const judge = {
    ...NOBODY,
    committed: (_epoch: number, changes: readonly { readonly key: string; readonly value: Uint8Array | null }[]) => {
      for (const { key, value } of changes) if (value === null) open.delete(key)
    }
  }
  const world = new World(one, () => judge, undefined, pace)
  world.begin()
  await world.engine.run(LENGTH_MS_MAX, () => open.size === 0)
  if (open.size > 0) throw new Error(`${open.size} batches have not ended after ${LENGTH_MS_MAX / 3_600_000} virtual hours`)
  const { records } = world.disk
  const tasks = one.batches.flatMap(({ atMs }, index) =>
    records.keys(`task/${batchIdOf(index)}.`).map((key): PlayedTask => {
      const { state, decision, endedAtMs } = decodeTaskRecord(records.peek(key) ?? new Uint8Array(0))
      return { submittedMs: atMs, endedMs: (decision?.atMs ?? endedAtMs ?? Number.NaN) - BEGAN_MS, ready: state === 'ready' }
    })
  )
  world.end()
  return { tasks, events: world.engine.events, hash: world.engine.hash }
}

/** From the first submission to the last end. */
export function spanMs(tasks: readonly Pick<PlayedTask, 'submittedMs' | 'endedMs'>[]): number {
  return Math.max(...tasks.map(({ endedMs }) => endedMs)) - Math.min(...tasks.map(({ submittedMs }) => submittedMs))
}
