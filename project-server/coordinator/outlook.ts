/** What the validator makes of a task's replicas as they are, or would be. */
import { isContinued } from './checkpoints.ts'
import { isSealed } from './commitments.ts'
import { agreesIn } from './comparisons.ts'
import { tiesOf } from './independence.ts'
import type { Replica, Task } from './model.ts'
import { BANNED, isLive, LOST_INPUT } from './states.ts'
import { type Ballot, judge, type Next } from './validator.ts'

/** What follows from them, one left out. A copy that came to nothing is as if it had never been made, and so are what a ban took away and what was given back with a checkpoint. */
export function outlook(task: Task, without?: Replica): Next {
  const ballots: Ballot[] = []
  let copies = 0
  for (const replica of task.replicas) {
    if (replica === without || !counts(replica)) continue
    if (replica.copy) copies++
    ballots.push(ballotOf(replica))
  }
  return judge(ballots, task.batch.policy, agreesIn(task), copies)
}

/** It was not taken away by a ban, nor given back for what the project had lost or with a checkpoint. */
export function wasTried(replica: Replica): boolean {
  const kind = replica.fault?.class
  return kind !== BANNED && kind !== LOST_INPUT && !isContinued(replica)
}

function counts(replica: Replica): boolean {
  const { copy, state, report, commitment } = replica
  if (!wasTried(replica)) return false
  return !copy || isLive(state) || report !== null || commitment !== null
}

/** Without the copy its task would want nothing: it may go. One that has taken a lost run's place may not. */
export function isSpare(copy: Replica): boolean {
  const next = outlook(copy.task, copy)
  return (next.kind === 'wait' || next.kind === 'compare') && next.count === 0
}

export function ballotOf(replica: Replica): Ballot {
  const node = replica.node.id
  if (isSealed(replica)) return { kind: 'live', node, straggles: false, standing: replica.standing }
  if (isLive(replica.state)) return { kind: 'live', node, straggles: replica.straggles, standing: replica.standing }
  if (replica.report !== null && replica.verdict !== 'inconclusive')
    return { kind: 'vote', node, vote: replica.report.vote, ties: tiesOf(replica), standing: replica.standing }
  if (replica.state === 'lost') return { kind: 'error', node, hung: false }
  if (replica.fault?.class === 'node' || replica.fault?.class === 'task') return { kind: 'error', node, hung: replica.fault.class === 'task' }
  if (replica.fault?.class === 'input') return { kind: 'input', node, message: replica.fault.message }
  return { kind: 'given_back', node }
}
