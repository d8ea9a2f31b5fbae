/** The two state machines and their legal moves. Terminal states absorb; any other move is a bug and throws. */

/** created -> staged -> running -> validating -> ready | failed | killed (README.md has the diagram). */
export type TaskState = 'created' | 'staged' | 'running' | 'validating' | 'ready' | 'failed' | 'killed'

/** leased -> preparing -> running -> uploading -> reported | returned | lost | cancelled. */
export type ReplicaState = 'leased' | 'preparing' | 'running' | 'uploading' | 'reported' | 'returned' | 'lost' | 'cancelled'

/** How a result compared with what was agreed. */
export type Verdict = 'valid' | 'invalid' | 'inconclusive'

export const TASK_MOVES: Readonly<Record<TaskState, readonly TaskState[]>> = {
  created: ['staged', 'failed', 'killed'],
  // Ready at once: what was decided before is not run again.
  staged: ['running', 'validating', 'ready', 'failed', 'killed'],
  running: ['staged', 'validating', 'failed', 'killed'],
  validating: ['running', 'ready', 'failed', 'killed'],
  ready: [],
  failed: [],
  killed: []
}

export const REPLICA_MOVES: Readonly<Record<ReplicaState, readonly ReplicaState[]>> = {
  leased: ['preparing', 'running', 'returned', 'lost', 'cancelled'],
  preparing: ['running', 'returned', 'lost', 'cancelled'],
  running: ['uploading', 'reported', 'returned', 'lost', 'cancelled'],
  uploading: ['reported', 'returned', 'lost', 'cancelled'],
  reported: [],
  returned: [],
  // Only the loss of a node can turn out wrong: it comes back with the replica in hand, or its result arrives late.
  lost: ['leased', 'running', 'reported'],
  cancelled: []
}

export function isTerminal(state: TaskState): boolean {
  return TASK_MOVES[state].length === 0
}

/** Class of the fault of a result that does not count, or a run that was taken back, its node having been banned. Neither counts as issued. */
export const BANNED = 'banned'

/** Of a run that was given back for an input which the project had lost. It does not count as issued either. */
export const LOST_INPUT = 'lost_input'

/** The same where its run was ended for its memory, and the task is tried once more with more of it. */
export const TOO_LITTLE_MEMORY = 'memory'

/** The same of a run whose checkpoint could not be had. */
export const CHECKPOINT_GONE = 'checkpoint'

const UNHARMED: ReadonlySet<string> = new Set(['owner', BANNED, LOST_INPUT, CHECKPOINT_GONE])

/** Of a replica that was given back: its node did nothing wrong, and may have the task again. */
export function isUnharmed(fault: { readonly class: string } | null): boolean {
  return fault !== null && UNHARMED.has(fault.class)
}

/** It runs, or its result counts beside others. What was given back, taken away or lost says nothing: should a lost one report after all, its vote has a tie with that of who took its place, and counts once. */
export function hasVoice({ state, fault }: { readonly state: ReplicaState; readonly fault: { readonly class: string } | null }): boolean {
  return isLive(state) || (state === 'reported' && fault?.class !== BANNED && fault?.class !== TOO_LITTLE_MEMORY)
}

/** Held by its node: it takes a slot there. */
export function isLive(state: ReplicaState): boolean {
  return state === 'leased' || state === 'preparing' || state === 'running' || state === 'uploading'
}

export function assertTaskMove(from: TaskState, to: TaskState, what: string): void {
  if (!TASK_MOVES[from].includes(to)) throw new Error(`task ${what}: ${from} -> ${to} is not a legal move`)
}

export function assertReplicaMove(from: ReplicaState, to: ReplicaState, what: string): void {
  if (!REPLICA_MOVES[from].includes(to)) throw new Error(`replica ${what}: ${from} -> ${to} is not a legal move`)
}
