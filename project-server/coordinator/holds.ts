/**
 * Hold and release: a batch or a single task that is held stands in no queue and gets no new replica, until it is released.
 * What runs goes on and may decide it, unless it is to be stopped: then its nodes give it back unharmed. Durable, with who
 * held it and why.
 */
import type { PeerIdString } from '#protocol/ids'
import { aimed } from './batches.ts'
import type { Aim, Event } from './events.ts'
import type { Batch, Task } from './model.ts'
import { HOLD_REASON_CHARS_MAX } from './policy.ts'
import { takeBack } from './replicas.ts'
import { requeue } from './scheduler.ts'
import type { State } from './state.ts'
import { isLive } from './states.ts'
import { makeNow } from './sweeps.ts'

export interface Hold {
  /** A client; the project's own id when the coordinator itself does it. */
  readonly by: PeerIdString
  /** For people; cut to HOLD_REASON_CHARS_MAX. */
  readonly reason: string
  readonly nowMs: number
  /** What runs is taken back, too. */
  readonly stop?: boolean
}

/** A batch with all that it has and will have, or a live task of one. What is held already stays as it was held; a release undoes it. */
export function hold(state: State, what: Batch | Task, { by, reason, nowMs, stop = false }: Hold): void {
  const tasks = tasksOf(what)
  if (what.held === null) {
    what.held = { by, reason: reason.slice(0, HOLD_REASON_CHARS_MAX), atMs: nowMs }
    save(state, what)
    requeue(state, tasks)
  }
  if (!stop) return
  for (const { replicas } of tasks)
    for (const replica of replicas) if (isLive(replica.state)) takeBack(state, replica, { class: 'owner', message: 'its task is held' }, nowMs)
}

/** A batch and whatever of it was held by itself, or a live task; a task of a held batch goes on only with its batch. */
export function release(state: State, what: Batch | Task, nowMs: number): void {
  const tasks = tasksOf(what)
  const batch = 'batch' in what ? what.batch : what
  const held = [what, ...tasks].filter((one) => one.held !== null)
  if (held.length === 0) return
  for (const one of held) {
    one.held = null
    save(state, one)
  }
  // Nobody who releases something wants it to end for how long it was held.
  batch.queuedAtMs = nowMs
  batch.releasedAtMs = nowMs
  state.out.batch(batch)
  state.queueLimits.restart(batch)
  state.sweeps.touch(batch)
  requeue(state, tasks)
}

export function holdEvent(state: State, event: Extract<Event, { kind: 'hold' }>, nowMs: number): void {
  if (event.task !== undefined) makeNow(state, event.task, nowMs)
  for (const what of targetsOf(state, event)) hold(state, what, { ...event, nowMs })
}

export function releaseEvent(state: State, event: Extract<Event, { kind: 'release' }>, nowMs: number): void {
  for (const what of targetsOf(state, event)) release(state, what, nowMs)
}

/** The batch as a whole, or tasks of it. */
function targetsOf(state: State, aim: Aim): readonly (Batch | Task)[] {
  if (aim.task !== undefined || aim.only !== undefined) return aimed(state, aim)
  const batch = state.batches.get(aim.batch)
  return batch === undefined ? [] : [batch]
}

function tasksOf(what: Batch | Task): readonly Task[] {
  return 'batch' in what ? [what] : [...what.tasks]
}

function save(state: State, what: Batch | Task): void {
  const moved = what.held === null ? 'released' : 'held'
  const reason = what.held === null || what.held.reason === '' ? null : what.held.reason
  if ('batch' in what) {
    state.out.task(what)
    state.out.journal.task(what.batch.id, what.index, moved, reason)
  } else {
    state.out.batch(what)
    state.out.journal.batch(what.id, moved, reason)
  }
}
