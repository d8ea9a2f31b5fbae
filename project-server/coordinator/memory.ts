/**
 * How much memory the runs of a task get. What its bundle says, until a run is ended for it: then the task is tried once more
 * with what its owner's policy says (F09), and what the first runs say of their memory is no vote. Leases tell their nodes.
 */
import type { Needs, Replica } from './model.ts'
import { withMemory } from './needs.ts'
import { moveToNeeds } from './scheduler.ts'
import type { State } from './state.ts'
import { TOO_LITTLE_MEMORY } from './states.ts'

/** The vote of a run that was ended for its memory. */
export const OUT_OF_MEMORY = 'ended:memory'

/** What was asked for, with other memory; 0 for what was asked for. */
export function memoryNeeds(state: State, asked: Needs, memoryBytes: number): Needs {
  if (memoryBytes === 0 || memoryBytes === asked.memoryBytes) return asked
  const found = withMemory(asked, memoryBytes)
  const needs = state.needs.get(found.key) ?? found
  state.needs.set(needs.key, needs)
  return needs
}

/** Its run was ended for its memory, and there may be more for another try. What is decided is decided. */
export function hadTooLittle({ report, needs, task }: Replica): boolean {
  return report?.vote === OUT_OF_MEMORY && task.decision === null && needs.memoryBytes < task.batch.policy.retryMemoryBytes
}

/** From now on every run of the task gets more; this one said nothing but that. */
export function tryWithMore(state: State, replica: Replica): void {
  const { task, needs } = replica
  const { retryMemoryBytes } = task.batch.policy
  replica.verdict = 'inconclusive'
  replica.fault = { class: TOO_LITTLE_MEMORY, message: `ended for its memory of ${needs.memoryBytes} bytes; the next try has ${retryMemoryBytes}` }
  if (task.needs.memoryBytes >= retryMemoryBytes) return
  task.needs = memoryNeeds(state, task.bundle.needs, retryMemoryBytes)
  moveToNeeds(state, task)
}
