/** Which executions of a task can be looked into now. */
import type { ReplicaView, TaskView } from '#protocol/owner/messages'
import type { LiveNodes } from './live.ts'
import { OwnerError } from './request.ts'

/** Their files are on their node, from those that still grow on. */
const LIVE_STATES = ['running', 'uploading', 'reported']

/** Those that run come first, and of them the one that was given first; only that of `attempt`, unless it is 0. Throws OwnerError for one that there is not, or that is over. */
export function readable(view: TaskView, attempt: number, nodes: Pick<LiveNodes, 'isConnected'>): readonly ReplicaView[] {
  const all = view.replicas ?? []
  const one = all.find((replica) => replica.attempt === attempt)
  if (attempt !== 0 && one === undefined) {
    const there = all.length === 0 ? 'none yet' : all.map((replica) => replica.attempt).join(', ')
    throw new OwnerError('not_found', `task ${view.id} has no execution ${attempt}; there are: ${there}`)
  }
  if (one !== undefined && ['returned', 'lost', 'cancelled'].includes(one.state))
    throw new OwnerError('not_running', `execution ${attempt} of task ${view.id} is over (${one.state}); without --replica another is read`)
  return all
    .filter(({ state, node, attempt: number }) => LIVE_STATES.includes(state) && nodes.isConnected(node) && (attempt === 0 || number === attempt))
    .toSorted((a, b) => LIVE_STATES.indexOf(a.state) - LIVE_STATES.indexOf(b.state) || a.attempt - b.attempt)
}

export function isOver({ status }: TaskView): boolean {
  return status === 'ready' || status === 'failed' || status === 'killed'
}

/** What of one execution was asked for is not there any more when its task is decided. */
export function overFor({ id }: TaskView, attempt: number): OwnerError {
  return new OwnerError('not_running', `task ${id} is over, and what the project keeps is of no one execution: leave out --replica (${attempt})`)
}
