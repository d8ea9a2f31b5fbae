/**
 * Results that their nodes left with others while the project was away. Whoever keeps one says so with every welcome, so who
 * keeps what lives in memory alone. What is said counts as if the node that signed it had said it, by the same rules: lost,
 * late, doubled, sealed, banned. Who keeps it only hands it over: it is neither blamed nor paid, and may be asked for the output
 * until it is told, as the node itself is, that nobody needs it any more.
 */
import type { Event } from './events.ts'
import { enclose, type Node, type Replica } from './model.ts'
import { KEEPERS_MAX } from './policy.ts'
import { retryPull } from './pulls.ts'
import { encodeSeal, sealId, sealKey } from './receipt-records.ts'
import { close } from './replicas.ts'
import { cameLate, heldBy, report } from './reports.ts'
import type { State } from './state.ts'

type Kept = Extract<Event, { kind: 'parked' }>['results'][number]

/** Each result counts, or has counted, or its keeper may drop it. */
export function parked(state: State, keeper: Node, { results }: Extract<Event, { kind: 'parked' }>, nowMs: number): void {
  for (const kept of results) {
    const { replica: id } = kept.result
    if (isKept(state, keeper, kept, nowMs)) continue
    enclose(keeper, 'release', id)
    state.out.speak(keeper)
  }
}

function isKept(state: State, keeper: Node, { result, body, seal }: Kept, nowMs: number): boolean {
  const node = state.nodes.get(result.node)
  if (node === undefined || node.ban !== null) return false
  close(state, node, result.replica)
  const replica = heldBy(state, node, result.replica)
  if (cameLate(state, node, { replica, result, body }, nowMs)) return false
  if (replica === undefined) return false
  const signed = { body, seal: sealId(state.epoch, 'n', state.nextSeal++), index: 0 }
  if (report(state, replica, { result, signed }, nowMs)) state.out.put(sealKey(signed.seal), encodeSeal(seal))
  // What its node itself said may be something else.
  if (replica.report === null || Buffer.compare(replica.report.signed.body, body) !== 0) return false
  return keep(state, keeper, replica, nowMs)
}

/** It is asked for the output, should that be wanted. */
function keep(state: State, keeper: Node, replica: Replica, nowMs: number): boolean {
  const keepers = state.keepers.get(replica.id) ?? []
  if (!keepers.includes(keeper)) {
    if (keepers.length >= KEEPERS_MAX) return false
    state.keepers.set(replica.id, [...keepers, keeper])
  }
  const { task } = replica
  task.pull?.tried.delete(replica)
  if (state.waitingPulls.has(task)) retryPull(state, task, nowMs)
  return true
}
