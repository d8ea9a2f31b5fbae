/** Holds every task, as its record would be written, against the second model of the quorum's rules (sim/checkers/quorum.ts): what was decided, and what was not, from the records alone. */
import { decodeBatchRecord } from '#project-server/coordinator/batch-records'
import type { TaskRecord } from '#project-server/coordinator/task-records'
import type { Change } from '#project-server/ports'
import type { TaskPolicy } from '#protocol/bundle/policy'
import type { BatchId, TaskId } from '#protocol/ids'
import { disagreement } from '../checkers/quorum.ts'
import { changedTasks } from '../stored-tasks.ts'

/** How its complaints begin. */
export const DISAGREES = 'the second model disagrees'

const BATCH = 'batch/'
const OPEN = 'open/'
const TERMINAL: readonly string[] = ['ready', 'failed', 'killed']

export class SecondModel {
  /** Records that were looked at, and of them those of tasks that had come to an end. */
  checked = 0
  ended = 0
  readonly #policies = new Map<BatchId, TaskPolicy>()
  /** What is decided stays, whoever reports later: looked at no more until it has ended. */
  readonly #decided = new Set<TaskId>()

  /** Throws when the two do not agree. */
  committed(changes: readonly Change[]): void {
    for (const { key, value } of changes) {
      const batch = key.startsWith(BATCH) ? key.slice(BATCH.length) : undefined
      if (batch !== undefined && value !== null && !this.#policies.has(batch)) this.#policies.set(batch, decodeBatchRecord(value).policy)
    }
    for (const task of changedTasks(changes)) this.#look(task)
    for (const { key, value } of changes) if (value === null && key.startsWith(OPEN)) this.#policies.delete(key.slice(OPEN.length))
  }

  #look(task: TaskRecord): void {
    const policy = this.#policies.get(task.id.slice(0, task.id.indexOf('.')))
    if (policy === undefined) throw new Error(`${task.id} is of no batch`)
    this.checked++
    const ended = TERMINAL.includes(task.state)
    if (ended) this.ended++
    if (!this.#decided.has(task.id)) {
      // Here nobody knows a network.
      const wrong = disagreement(task, policy, () => '', 0)
      if (wrong !== undefined) throw new Error(`${DISAGREES}: ${wrong}`)
    }
    if (ended) this.#decided.delete(task.id)
    else if (task.decision !== null) this.#decided.add(task.id)
  }
}
