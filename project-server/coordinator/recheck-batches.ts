/** The batches that look at decisions again: see rechecks.ts. */

import { type TaskId, taskId } from '#protocol/ids'
import { accept } from './batches.ts'
import { lookAgain } from './clients.ts'
import type { Event } from './events.ts'
import { recheckKey } from './keys.ts'
import type { State } from './state.ts'
import { encodeRecheckRecord } from './trust-records.ts'

/** The shell read what is to be run again; or it is no longer there to be looked at (`dropped`: it was killed). */
export function recheckEvent(state: State, event: Extract<Event, { kind: 'recheck' }>, nowMs: number): void {
  for (const task of event.dropped) forget(state, task)
  const { batch } = event
  // Some were asked for twice: alone, and with all that their node decided; or by a server that started again meanwhile.
  const of = event.of.filter(({ task }) => state.rechecks.has(task))
  const bundles = event.submit.bundles.filter((_, index) => state.rechecks.has(event.of[index]?.task ?? ''))
  if (of.length === 0) return
  for (const { task } of of) {
    state.rechecks.delete(task)
    state.rechecked.add(task)
  }
  // Whoever is at his quota gets his doubted results looked at all the same.
  accept(state, { ...event.submit, bundles, kind: 'submit', batch, more: false, from: 0 }, nowMs)
  const made = state.batches.get(batch)
  if (made === undefined) throw new Error(`batch ${batch} of rechecks is known already`)
  made.rechecks = new Map(of.map((recheck, index) => [index, recheck]))
  made.client.rechecking++
  lookAgain(state, made.client)
  for (const [index, { task, node, vote, earned }] of of.entries())
    state.out.put(recheckKey(task), encodeRecheckRecord({ node, vote, by: taskId(batch, index), earned }))
}

function forget(state: State, task: TaskId): void {
  if (state.rechecks.delete(task)) state.out.delete(recheckKey(task))
}
