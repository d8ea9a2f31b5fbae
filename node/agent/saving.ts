/**
 * running, killing -> saving -> (gone): a run that has ended without a result goes back, when the project has the last snapshot
 * that it left, for another to go on from.
 */
import type { ReplicaId } from '#protocol/ids'
import type { Ended } from '../ports.ts'
import { drop } from './drop.ts'
import type { Fault } from './events.ts'
import { isToGoOn } from './faults.ts'
import { SAVE_MS_MAX, SAVE_QUIT_MS_MAX } from './policy.ts'
import { publish } from './reporting.ts'
import { type Snapshot, Snapshots } from './snapshots.ts'
import type { State } from './state.ts'

/** It has ended without a result, and is given back; where another will go on with it, when the project has what it left. */
export function goBack(state: State, id: ReplicaId, { fault, ended }: { readonly fault: Fault | null; readonly ended?: Ended }, nowMs: number): void {
  const replica = state.held.get(id)
  if (replica === undefined || replica.phase === 'reported') return
  const { lease } = replica
  if (fault === null || lease.checkpoint === undefined || !isToGoOn(fault)) {
    drop(state, id, fault)
    return
  }
  state.held.set(id, { phase: 'saving', lease, fault, ...(ended === undefined ? {} : { ended }) }, nowMs)
  state.prompt({ kind: 'save', replica: id })
}

/** What a run left of itself is here, and is offered. */
export function offerSnapshot(state: State, id: ReplicaId, { root, bytes, last }: Snapshot): void {
  const phase = state.phaseOf(id)
  if (phase !== 'running' && phase !== 'killing' && phase !== 'saving') return
  state.snapshots ??= new Snapshots()
  const frame = state.snapshots.add(id, { root, bytes, last })
  if (state.welcomed) state.effect({ kind: 'send', frame })
}

/** The project has it: the run that made it goes back, or may make the next. */
export function taken(state: State, id: ReplicaId, root: string): void {
  const told = state.snapshots?.taken(id, root)
  if (told === undefined) return
  const replica = state.held.get(id)
  if (replica?.phase === 'saving' && told.last) drop(state, id, replica.fault)
  else state.prompt({ kind: 'saved', replica: id })
}

/** It never left anything. */
export function unsaved(state: State, id: ReplicaId, nowMs: number): void {
  const replica = state.held.get(id)
  if (replica?.phase !== 'saving') return
  if (replica.ended === undefined) drop(state, id, replica.fault)
  else publish(state, replica.lease, replica.ended, nowMs)
}

/** What the project does not take in time goes back without. */
export function giveUpSaving(state: State, nowMs: number): void {
  if (state.held.saving === 0) return
  const ms = state.mode === 'quitting' ? SAVE_QUIT_MS_MAX : SAVE_MS_MAX
  for (const [id, { replica, sinceMs }] of [...state.held.entries()]) if (replica.phase === 'saving' && nowMs - sinceMs >= ms) drop(state, id, replica.fault)
}
