/** Whether the node takes work: its owner pauses it, lets it drain or quit; its engines come and go. */
import { returnUnbegun } from './admission.ts'
import { parkingProgress } from './custody.ts'
import { end } from './ending.ts'
import { ENGINE_DOWN, LEAVING, PAUSED, PAUSED_NOW } from './faults.ts'
import { Leaving } from './leaving.ts'
import { QUIT_GRACE_MS } from './policy.ts'
import type { State } from './state.ts'

/** `now`: what runs is ended, too. */
export function pause(state: State, now: boolean, nowMs: number): void {
  state.pausing.set(true)
  if (state.mode === 'active') {
    state.mode = 'paused'
    returnUnbegun(state, PAUSED)
  }
  if (!now) return
  for (const id of state.held.ids()) if (state.phaseOf(id) === 'running') end(state, id, { fault: PAUSED_NOW, graceMs: QUIT_GRACE_MS }, nowMs)
}

export function resume(state: State): void {
  state.pausing.set(false)
  if (state.mode === 'paused') state.mode = 'active'
}

/** Nothing more is taken; what runs goes on and is reported. */
export function drain(state: State): void {
  if (state.mode === 'quitting') return
  state.mode = 'draining'
  returnUnbegun(state, LEAVING)
}

/** Everything ends now. */
export function quit(state: State, nowMs: number): void {
  state.mode = 'quitting'
  returnUnbegun(state, LEAVING)
  for (const id of state.held.ids()) if (state.phaseOf(id) !== 'reported') end(state, id, { fault: LEAVING, graceMs: QUIT_GRACE_MS }, nowMs)
}

/** Whether the engines can run things now. */
export function engine(state: State, up: boolean): void {
  const rises = up && !state.engineUp
  state.engineUp = up
  if (!up) returnUnbegun(state, ENGINE_DOWN)
  if (!rises) return
  for (const [id, { replica }] of state.held.entries())
    if (replica.phase === 'preparing') state.prompt({ kind: 'prepare', replica: id, manifest: replica.lease.manifest })
}

/** A node that goes says so when it may, and is gone when the coordinator knows. */
export function leave(state: State, nowMs: number): void {
  const { held, mode, welcomed } = state
  if (mode !== 'draining' && mode !== 'quitting') return
  state.leaving ??= new Leaving()
  const atWork = held.size > held.kept
  const settled = isSettled(state)
  const next = state.leaving.next(
    {
      waits: mode === 'draining',
      atWork,
      saves: welcomed && held.leavesSnapshots(),
      settled,
      released: settled && held.size === 0,
      parked: atWork ? 'none' : parkingProgress(state, nowMs),
      connected: welcomed
    },
    nowMs
  )
  if (next === 'bye') state.say.bye()
  else if (next === 'done') state.effect({ kind: 'done' })
}

/** The coordinator knows all that we have to say. */
function isSettled({ gathered, outbox }: State): boolean {
  return gathered?.outgoing === undefined && outbox.unacknowledged === 0
}
