/** A task in memory. */
import { taskId } from '#protocol/ids'
import { NONE } from '#protocol/lists'
import type { Task } from './model.ts'
import { BATCH_TASKS_MAX } from './policy.ts'
import type { State } from './state.ts'

/** What a task is created with, or is loaded with; what is left out is as it is at first. */
export type NewTask = Pick<Task, 'batch' | 'index' | 'bundle' | 'group' | 'needs' | 'state' | 'createdAtMs'> &
  Partial<Pick<Task, 'decision' | 'repeats' | 'startedAtMs' | 'endedAtMs' | 'held' | 'waits' | 'failure' | 'outputLosses'>>

/** It counts from now on as one of its batch, its bundle and its client. */
export function addTask(state: State, given: NewTask): Task {
  const { batch, index, bundle } = given
  // What a decision looks at comes first: its lines of the cache are fetched from the memory.
  const task: Task = {
    id: taskId(batch.id, index),
    batch,
    index,
    order: batch.order * BATCH_TASKS_MAX + index,
    bundle,
    group: given.group,
    needs: given.needs,
    state: given.state,
    wanted: 0,
    queue: null,
    replicas: NONE,
    nextAt: null,
    decision: given.decision ?? null,
    heldBackMs: null,
    passed: 0,
    startedAtMs: given.startedAtMs ?? null,
    marks: 0,
    held: given.held ?? null,
    waits: given.waits ?? null,
    repeats: given.repeats ?? null,
    failure: given.failure ?? null,
    createdAtMs: given.createdAtMs,
    endedAtMs: given.endedAtMs ?? null,
    outputLosses: given.outputLosses ?? 0,
    pull: null,
    comparison: null
  }
  bundle.users++
  batch.tasks.add(task)
  state.liveTasks++
  batch.client.tasks++
  return task
}
