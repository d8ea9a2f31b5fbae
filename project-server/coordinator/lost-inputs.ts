/**
 * Inputs that are lost after a task was complete (D19). When so many nodes found an input at fault that the task would fail for
 * it, the shell first looks on the disk:
 *
 * ```
 * asked ──(all is here)────────────────────> the task fails: nodes were right about what is in it
 *   └────(something is gone)──> waiting for those who compute it again ──(ready)──> nobody's fault counts, it is run
 *                                       └──(failed, killed)──> the task fails
 * ```
 *
 * It lives in memory: after a restart the task would fail for the same faults, and is asked about again.
 */
import type { Event } from './events.ts'
import type { Task } from './model.ts'
import { INPUT_LOSSES_MAX } from './policy.ts'
import { lookPastAgain } from './replicas.ts'
import { expects, waitOn } from './sources.ts'
import type { State } from './state.ts'
import { LOST_INPUT } from './states.ts'
import type { Next } from './validator.ts'

export type Look =
  | { readonly kind: 'asked' }
  /** For so many tasks. */
  | { readonly kind: 'waits'; left: number }
  /** What the shell says beside the nodes; nothing when it found nothing wrong. */
  | { readonly kind: 'hopeless'; readonly message: string }

const ASKED: Look = { kind: 'asked' }

/** True while nothing more is to be run, and the task does not fail either. Asks the shell when it would fail for its input. */
export function missesInputs(state: State, task: Task, next: Next): boolean {
  const fails = next.kind === 'failed' && next.code === 'input'
  const look = state.lostInputs.get(task)
  if (look !== undefined) return look.kind !== 'hopeless' && (fails || (next.kind === 'wait' && look.kind === 'waits'))
  if (!fails || lossesOf(task) >= INPUT_LOSSES_MAX) return false
  state.lostInputs.set(task, ASKED)
  state.out.effect({ kind: 'inputs', task: task.id })
  return true
}

/** Its inputs are looked for, or computed again: who is given it now would lack them as others did. */
export function lacksInputs({ lostInputs }: State, task: Task): boolean {
  const look = lostInputs.get(task)
  return look !== undefined && look.kind !== 'hopeless'
}

/** What the shell found. */
export function inputsLooked(state: State, { task: id, lost, through, message }: Extract<Event, { kind: 'inputs' }>): void {
  const task = state.task(id)
  if (task === undefined || state.lostInputs.get(task) !== ASKED) return
  state.touched.add(task)
  if (!lost || through.some((of) => !expects(state, of))) {
    state.lostInputs.set(task, { kind: 'hopeless', message })
    return
  }
  forgive(state, task)
  if (through.length === 0) state.lostInputs.delete(task)
  else {
    for (const of of through) waitOn(state, of, task)
    state.lostInputs.set(task, { kind: 'waits', left: through.length })
  }
}

/** One of those that compute its inputs again is over. `fault`: how it failed, or null. */
export function inputOver(state: State, task: Task, fault: string | null): void {
  const look = state.lostInputs.get(task)
  if (look?.kind !== 'waits') return
  state.touched.add(task)
  // Who was still fetching when it was lost found that out only now.
  if (fault === null) forgive(state, task)
  if (fault !== null) state.lostInputs.set(task, { kind: 'hopeless', message: `an input is no longer here, and ${fault}` })
  else if (--look.left === 0) state.lostInputs.delete(task)
}

/** For so many others it waits until an input is here again. */
export function awaitedInputs(state: State, task: Task): number {
  const look = state.lostInputs.get(task)
  return look?.kind === 'waits' ? look.left : 0
}

/** Its nodes could not have had what was not here: none is blamed, and each may have the task again. */
function forgive(state: State, task: Task): void {
  for (const replica of task.replicas) {
    if (replica.state !== 'returned' || replica.fault?.class !== 'input') continue
    replica.fault = { class: LOST_INPUT, message: replica.fault.message }
    lookPastAgain(replica)
  }
  state.out.task(task)
}

function lossesOf({ replicas }: Task): number {
  return replicas.filter(({ fault }) => fault?.class === LOST_INPUT).length
}
