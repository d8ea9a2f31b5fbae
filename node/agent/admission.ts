/** preparing -> ready -> asking -> running: how a lease comes to run here, and how it goes back before it does. */
import type { ReplicaId } from '#protocol/ids'
import { drop } from './drop.ts'
import type { CheckedLease, Fault, OfferedLease } from './events.ts'
import { ENGINE_DOWN, FULL, LEAVING, PAUSED } from './faults.ts'
import { setNext } from './next.ts'
import { REPLICAS_HELD_MAX } from './policy.ts'
import type { State } from './state.ts'

/** A lease came: it is prepared, or goes back at once. */
export function accept(state: State, offered: OfferedLease, nowMs: number): void {
  const id = offered.ok ? offered.lease.replica : offered.replica
  if (state.held.get(id) !== undefined) return
  const refusal = refusalOf(state, offered)
  if (refusal !== undefined) state.say.returned(id, refusal)
  if (refusal !== undefined || !offered.ok) return
  // Without a slot it has to ask when there is one, like any other.
  const granted = offered.granted && state.held.busy < state.options.slots
  state.holding.add(id, { phase: 'preparing', lease: offered.lease, asked: granted, granted }, nowMs)
  state.prompt({ kind: 'prepare', replica: id, manifest: offered.lease.manifest })
}

/** Why a lease is not taken now. */
function refusalOf({ held, mode, engineUp }: State, offered: OfferedLease): Fault | undefined {
  if (!offered.ok) return offered.fault
  if (held.size >= REPLICAS_HELD_MAX) return FULL
  if (mode !== 'active') return mode === 'paused' ? PAUSED : LEAVING
  return engineUp ? undefined : ENGINE_DOWN
}

/** preparing -> ready, or running where that was granted already: its content is here. */
export function prepared(state: State, id: ReplicaId, nowMs: number): void {
  const replica = state.held.get(id)
  if (replica?.phase !== 'preparing') return
  const { lease, asked, granted } = replica
  if (granted) run(state, lease, nowMs)
  else state.held.set(id, { phase: asked ? 'asking' : 'ready', lease }, nowMs)
}

/** ready -> asking for as many as there are free slots, oldest first. */
export function askNext(state: State, nowMs: number): void {
  const { held, mode, options } = state
  if (mode !== 'active' || held.readyCount === 0) return
  for (const lease of held.ready(options.slots - held.busy)) {
    held.set(lease.replica, { phase: 'asking', lease }, nowMs)
    state.say.start(lease.replica, lease.epoch)
  }
}

/** asking -> running. */
export function grant(state: State, id: ReplicaId, nowMs: number): void {
  const replica = state.held.get(id)
  if (replica?.phase === 'asking') run(state, replica.lease, nowMs)
  else if (replica?.phase === 'preparing' && replica.asked) state.held.set(id, { ...replica, granted: true }, nowMs)
}

/** It is another's by now. */
export function refuse(state: State, id: ReplicaId): void {
  if (hasNotBegun(state, id)) drop(state, id, null)
}

export function hasNotBegun(state: State, id: ReplicaId): boolean {
  const phase = state.phaseOf(id)
  return phase === 'preparing' || phase === 'ready' || phase === 'asking'
}

/** Nothing begins any more, and nothing is brought here for what might have. */
export function returnUnbegun(state: State, fault: Fault): void {
  setNext(state, [])
  for (const id of state.held.ids()) if (hasNotBegun(state, id)) drop(state, id, fault)
}

/** The start is an effect: it happens after the record says `running`, so a crash between the two loses a run and never doubles one. */
function run(state: State, lease: CheckedLease, nowMs: number): void {
  state.begun = true
  state.held.set(lease.replica, { phase: 'running', lease }, nowMs)
  state.effect({ kind: 'start', lease })
}
