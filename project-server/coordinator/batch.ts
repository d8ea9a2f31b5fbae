/** A batch in memory. */
import { LiveTasks } from './live-tasks.ts'
import type { Batch } from './model.ts'
import type { State } from './state.ts'
import { RunTimes } from './stragglers.ts'

/** What a batch is created with, or is loaded with; what is left out is as it is at first. `length`: of its tasks, those that are over too. */
export type NewBatch = Pick<Batch, 'id' | 'name' | 'client' | 'createdAtMs' | 'order' | 'seed' | 'policy'> &
  Partial<Pick<Batch, 'open' | 'held' | 'queuedAtMs' | 'releasedAtMs' | 'ranFailed' | 'succeeded' | 'counts' | 'maker' | 'waits'>> & {
    readonly length?: number
  }

/** It counts from now on as one of its client, and against its queue limit. */
export function addBatch(state: State, given: NewBatch): Batch {
  // What a decision looks at comes first: its lines of the cache are fetched from the memory.
  const batch: Batch = {
    id: given.id,
    client: given.client,
    policy: given.policy,
    counts: given.counts ?? { created: 0, running: 0, validating: 0, ready: 0, failed: 0, killed: 0 },
    runs: new RunTimes(given.policy.estimateMs),
    maker: given.maker ?? null,
    marks: 0,
    held: given.held ?? null,
    rechecks: null,
    group: null,
    tasks: new LiveTasks(given.length),
    name: given.name,
    createdAtMs: given.createdAtMs,
    order: given.order,
    seed: given.seed,
    open: given.open ?? true,
    queuedAtMs: given.queuedAtMs ?? given.createdAtMs,
    releasedAtMs: given.releasedAtMs ?? 0,
    ranFailed: given.ranFailed ?? 0,
    succeeded: given.succeeded ?? false,
    secret: null,
    stored: new Set(),
    dependents: null,
    waits: given.waits ?? null
  }
  state.batches.set(batch.id, batch)
  batch.client.batches++
  state.queueLimits.add(batch)
  return batch
}
