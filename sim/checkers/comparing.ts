/** Comparing by programs of owners: of equal outputs nobody asks, and a program that was at fault is not run again for its task before somebody says so. */
import type { Effect } from '#project-server/coordinator/events'
import { type BatchId, parseTaskId, type TaskId } from '#protocol/ids'
import type { Complaints } from './complaints.ts'

export class Comparing {
  readonly #complaints: Complaints
  /** Tasks whose program was at fault, and in which epoch that was known: a crash may forget it. */
  readonly #faulty = new Map<TaskId, number>()

  constructor(complaints: Complaints) {
    this.#complaints = complaints
  }

  faulty(epoch: number, task: TaskId): void {
    this.#faulty.set(task, epoch)
  }

  mended(batch: BatchId): void {
    for (const task of [...this.#faulty.keys()]) if (parseTaskId(task)?.batch === batch) this.#faulty.delete(task)
  }

  effects(epoch: number, effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind !== 'compare') continue
      const { task, pairs } = effect
      this.#complaints.expect(
        pairs.every(([a, b]) => a !== b),
        () => `${task}: equal outputs are to be compared`
      )
      this.#complaints.expect(
        this.#faulty.get(task) !== epoch,
        () => `${task}: the program that compares was at fault, and is to be run again before anybody mended it`
      )
    }
  }
}
