/**
 * Tasks that may wait only so long for a node (policy `queueLimitMs`): the sweep kills those that no node was ever given in
 * that time. What is held or still lacks what it takes from other tasks does not wait; a release and a task that has it all begin
 * the wait of the batch anew.
 */
import type { TaskFailure } from './events.ts'
import type { Batch, Task } from './model.ts'
import type { State } from './state.ts'
import { isUnmade } from './sweeps.ts'
import { kill } from './tasks.ts'

export class QueueLimits {
  /** Of each batch with a limit, the index of the task to be looked at next: they came in this order. */
  readonly #next = new Map<Batch, number>()

  add(batch: Batch): void {
    if (batch.policy.queueLimitMs > 0) this.#next.set(batch, 0)
  }

  delete(batch: Batch): void {
    this.#next.delete(batch)
  }

  restart(batch: Batch): void {
    if (this.#next.has(batch)) this.#next.set(batch, 0)
  }

  /** Those that have waited too long, each once. */
  takeDue(nowMs: number): Task[] {
    const due: Task[] = []
    for (const [batch, from] of this.#next) {
      if (batch.open || batch.held !== null) continue
      const { tasks, queuedAtMs, policy } = batch
      let next = from
      // Those of a sweep that come yet are looked at when they are there.
      for (; next < tasks.length && !isUnmade(batch, next); next++) {
        const task = tasks.get(next)
        if (task === undefined || task.startedAtMs !== null || task.held !== null || task.waits !== null) continue
        if (nowMs - Math.max(task.createdAtMs, queuedAtMs) < policy.queueLimitMs) break
        due.push(task)
      }
      if (next !== from) this.#next.set(batch, next)
    }
    return due
  }
}

/** For the slow sweep. */
export function endWaiting(state: State, nowMs: number): void {
  for (const task of state.queueLimits.takeDue(nowMs)) kill(state, task, nowMs, waitedTooLong(task))
}

function waitedTooLong({ batch }: Task): TaskFailure {
  const seconds = Math.round(batch.policy.queueLimitMs / 1000)
  return { code: 'queue_limit', message: `no node took it within ${seconds} s, as long as it may wait (--queue-limit)` }
}
