/** The one place where a task changes its state: the table is checked, the batch's counts follow. */
import type { Batch, Task } from './model.ts'
import type { State } from './state.ts'
import { assertTaskMove, type TaskState } from './states.ts'

export function moveTask(state: State, task: Task, to: TaskState): void {
  assertTaskMove(task.state, to, task.id)
  count(task.batch, task.state, -1)
  task.state = to
  count(task.batch, to, 1)
  state.out.task(task)
  state.out.batch(task.batch)
  if (task.batch.maker !== null) state.sweeps.touch(task.batch)
  state.out.journal.task(task.batch.id, task.index, to, task.failure?.message ?? null)
}

/** Created and staged tasks are counted together: no replica of them runs. */
export function count({ counts }: Batch, taskState: TaskState, by: number): void {
  counts[taskState === 'staged' ? 'created' : taskState] += by
}
