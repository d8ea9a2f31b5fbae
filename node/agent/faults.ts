/** Why the agent itself gives a replica back. */
import type { Fault } from './events.ts'
import { REPLICAS_HELD_MAX } from './policy.ts'

export const PAUSED: Fault = { class: 'owner', code: 'paused', message: 'the volunteer paused this node before the task began' }
export const LEAVING: Fault = { class: 'owner', code: 'leaving', message: 'this node is being stopped' }
export const ENGINE_DOWN: Fault = { class: 'node', code: 'engine_down', message: 'the engine of this node that runs tasks does not answer' }
export const LOST: Fault = { class: 'node', code: 'lost', message: 'the run was gone when the node started again' }
export const FULL: Fault = { class: 'node', code: 'full', message: `this node holds ${REPLICAS_HELD_MAX} replicas already` }
export const OUTSIDE: Fault = { class: 'node', code: 'killed_outside', message: 'something on this machine, not talko, ended the run' }

/** The exit status by which a run says that it left a snapshot and is to go on later, here or elsewhere (X18). */
export const CHECKPOINT_EXIT = 85
export const CHECKPOINTED: Fault = { class: 'owner', code: 'checkpoint', message: `the run ended with status ${CHECKPOINT_EXIT} to go on from its checkpoint` }
export const PAUSED_NOW: Fault = { class: 'owner', code: 'paused', message: 'the volunteer paused this node' }

/** `reason` is the coordinator's: killed, decided, lost, held or yield. */
export function cancelled(reason: string): Fault {
  return { class: 'cancelled', code: reason === '' ? 'cancelled' : reason, message: 'ended by the coordinator' }
}

/** Somebody will go on with what comes to its end by this: not with what hung, nor with what nobody wants. */
export function isToGoOn({ class: kind, code }: Fault): boolean {
  return kind === 'owner' || kind === 'node' || (kind === 'cancelled' && code === 'held')
}
