/** How what was begun ends: by itself, by a fault, or because somebody wants it to. */
import type { ReplicaId } from '#protocol/ids'
import type { Ended } from '../ports.ts'
import { drop } from './drop.ts'
import type { CheckedLease, Fault } from './events.ts'
import { CHECKPOINT_EXIT, CHECKPOINTED, cancelled, isToGoOn, OUTSIDE } from './faults.ts'
import { KILL_GRACE_MS, YIELD_GRACE_MS } from './policy.ts'
import { publish } from './reporting.ts'
import { goBack } from './saving.ts'
import type { State } from './state.ts'

/** Its run is over: running, killing -> publishing, or it goes back. */
export function ended(state: State, id: ReplicaId, end: Ended, nowMs: number): void {
  const replica = state.held.get(id)
  if (replica?.phase === 'killing' && !replica.publish) goBack(state, id, { fault: replica.fault }, nowMs)
  else if (replica?.phase === 'running' && end.reason === 'killed') goBack(state, id, { fault: OUTSIDE }, nowMs)
  else if (replica?.phase === 'running' && replica.lease.checkpoint !== undefined && end.reason === 'exit' && end.exitCode === CHECKPOINT_EXIT)
    goBack(state, id, { fault: CHECKPOINTED, ended: end }, nowMs)
  else if (replica?.phase === 'running' || replica?.phase === 'killing') publish(state, replica.lease, end, nowMs)
}

/** Preparing, running or publishing broke. */
export function failed(state: State, id: ReplicaId, fault: Fault, nowMs: number): void {
  const replica = state.held.get(id)
  if (replica === undefined || replica.phase === 'reported') return
  if (replica.phase === 'running') goBack(state, id, { fault }, nowMs)
  else if (replica.phase === 'killing') goBack(state, id, { fault: replica.fault }, nowMs)
  else drop(state, id, replica.phase === 'saving' ? replica.fault : fault)
}

/** The coordinator wants it no more. What its owner killed while it ran is ended and reported, with what it left until then; the release follows. */
export function cancel(state: State, id: ReplicaId, reason: string, nowMs: number): void {
  const replica = state.held.get(id)
  const began = replica?.phase === 'publishing' || replica?.phase === 'reported' || replica?.phase === 'killing'
  if (reason === 'killed' && replica?.phase === 'running') {
    const { lease } = replica
    kill(state, { lease, fault: cancelled(reason), publish: true, graceMs: KILL_GRACE_MS }, nowMs)
  } else if (reason !== 'killed' || !began) {
    const graceMs = reason === 'yield' ? YIELD_GRACE_MS : KILL_GRACE_MS
    end(state, id, { fault: cancelled(reason), graceMs }, nowMs)
  }
}

/** No record is made of it but the run's own, and what has ended is left for the coordinator to decide. */
export function hinted(state: State, id: ReplicaId, what: 'kill' | 'release', nowMs: number): void {
  const phase = state.phaseOf(id)
  if (phase === undefined || phase === 'publishing' || phase === 'reported' || phase === 'killing') return
  cancel(state, id, what === 'kill' ? 'killed' : 'decided', nowMs)
}

/** Ends a replica in whatever phase it is; `fault` null tells nobody. */
export function end(state: State, id: ReplicaId, { fault, graceMs }: { readonly fault: Fault | null; readonly graceMs: number }, nowMs: number): void {
  const replica = state.held.get(id)
  if (replica === undefined) return
  switch (replica.phase) {
    case 'running':
      kill(state, { lease: replica.lease, fault, publish: false, graceMs }, nowMs)
      break
    case 'killing':
      // Who quits does not wait for what it leaves.
      if (fault === null || replica.publish) state.held.set(id, { ...replica, fault: fault === null ? null : replica.fault, publish: false }, nowMs)
      break
    case 'reported':
      drop(state, id, null)
      break
    case 'saving':
      // Who quits waits for it no less than before.
      if (fault === null || !isToGoOn(fault)) drop(state, id, fault)
      break
    default:
      drop(state, id, fault)
  }
}

interface Killing {
  readonly lease: CheckedLease
  readonly fault: Fault | null
  readonly publish: boolean
  readonly graceMs: number
}

/** running -> killing. */
function kill(state: State, { lease, fault, publish: publishes, graceMs }: Killing, nowMs: number): void {
  state.held.set(lease.replica, { phase: 'killing', lease, fault, publish: publishes }, nowMs)
  state.prompt({ kind: 'kill', replica: lease.replica, graceMs })
}
