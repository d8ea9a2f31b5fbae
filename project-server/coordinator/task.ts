/** A task in memory. */
import { type TaskId, taskId } from '#protocol/ids'
import { NONE } from '#protocol/lists'
import type { Batch, Bundle, Group, Needs, Node, Pull, Replica, Task } from './model.ts'
import { BATCH_TASKS_MAX } from './policy.ts'
import type { OrderedQueue } from './queue.ts'
import type { State } from './state.ts'

/** What a task is created with, or is loaded with; what is left out is as it is at first. */
export type NewTask = Pick<Task, 'batch' | 'index' | 'bundle' | 'group' | 'needs' | 'state' | 'createdAtMs'> &
  Partial<Pick<Task, 'decision' | 'repeats' | 'startedAtMs' | 'endedAtMs' | 'held' | 'waits' | 'failure' | 'outputLosses'>>

/** Of a task: it was given no replica yet, or it is over. */
const NOWHERE = -1
const OVER = -2

/**
 * The replicas of all live tasks that had any, side by side: a decision gives its task a list that is new in memory, and of a
 * million tasks each would be on another page. See NodeLists. Tasks go, so that places are used again.
 */
export class ReplicaLists {
  readonly given: (readonly Replica[])[] = []
  readonly #free: number[] = []

  /** A place for one more. */
  begin(): number {
    return this.#free.pop() ?? this.given.push(NONE) - 1
  }

  end(place: number): void {
    this.given[place] = NONE
    this.#free.push(place)
  }
}

/** What a decision looks at comes first: its lines of the cache are fetched from the memory. */
class LiveTask implements Task {
  readonly id: TaskId
  readonly batch: Batch
  readonly index: number
  readonly order: number
  bundle: Bundle
  group: Group
  needs: Needs
  state: Task['state']
  wanted = 0
  queue: OrderedQueue | null = null
  #place = NOWHERE
  readonly #lists: ReplicaLists
  nextAt: readonly Node[] | null = null
  decision: Task['decision']
  heldBackMs: number | null = null
  passed = 0
  startedAtMs: number | null
  marks = 0
  held: Task['held']
  waits: Task['waits']
  repeats: TaskId | null
  failure: Task['failure']
  readonly createdAtMs: number
  endedAtMs: number | null
  outputLosses: number
  pull: Pull | null = null
  comparison: Task['comparison'] = null
  /** Once it is over. */
  #own: readonly Replica[] = NONE

  constructor(lists: ReplicaLists, { batch, index, bundle, group, needs, state, createdAtMs, ...known }: NewTask) {
    this.id = taskId(batch.id, index)
    this.batch = batch
    this.index = index
    this.order = batch.order * BATCH_TASKS_MAX + index
    this.bundle = bundle
    this.group = group
    this.needs = needs
    this.state = state
    this.#lists = lists
    this.decision = known.decision ?? null
    this.startedAtMs = known.startedAtMs ?? null
    this.held = known.held ?? null
    this.waits = known.waits ?? null
    this.repeats = known.repeats ?? null
    this.failure = known.failure ?? null
    this.createdAtMs = createdAtMs
    this.endedAtMs = known.endedAtMs ?? null
    this.outputLosses = known.outputLosses ?? 0
  }

  get replicas(): readonly Replica[] {
    return this.#place < 0 ? this.#own : (this.#lists.given[this.#place] as readonly Replica[])
  }

  set replicas(replicas: readonly Replica[]) {
    if (this.#place === NOWHERE) this.#place = this.#lists.begin()
    if (this.#place === OVER) this.#own = replicas
    else this.#lists.given[this.#place] = replicas
  }

  keepReplicas(): void {
    if (this.#place >= 0) {
      this.#own = this.replicas
      this.#lists.end(this.#place)
    }
    this.#place = OVER
  }
}

/** It counts from now on as one of its batch, its bundle and its client. */
export function addTask(state: State, given: NewTask): Task {
  const task = new LiveTask(state.replicaLists, given)
  const { batch, bundle } = task
  bundle.users++
  batch.tasks.add(task)
  state.liveTasks++
  batch.client.tasks++
  return task
}
