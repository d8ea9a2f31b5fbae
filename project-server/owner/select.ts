/** Which of its batches a client means when it does not name one: by labels, by name, by what state their tasks are in. */
import { labelsFault } from '#protocol/owner/labels'
import { BATCH_STATES, type BatchState, type BatchView } from '#protocol/owner/messages'
import { clip } from '../control/inbound.ts'
import { OwnerError } from './request.ts'
import type { Selection } from './views.ts'

/** A selection as it came from a client; undefined when it selects nothing in particular. */
export interface Asked {
  readonly labels: readonly string[]
  readonly name: string
  readonly state: string
}

const STATES: ReadonlySet<string> = new Set(BATCH_STATES)

/** Throws OwnerError `malformed`. */
export function selectionOf({ labels, name, state }: Asked): Selection | undefined {
  const fault = labelsFault(labels)
  if (fault !== undefined) throw new OwnerError('malformed', fault)
  if (state !== '' && !STATES.has(state))
    throw new OwnerError('malformed', `the state is one of ${BATCH_STATES.join(', ')}, not ${JSON.stringify(clip(state, 32))}`)
  if (labels.length === 0 && name === '' && state === '') return undefined
  const of = { labels, name, state: state as BatchState | '' }
  if (labels.length === 0 && name === '' && !isOfLive(of.state))
    throw new OwnerError('malformed', `batches that may be over are found by a label or a name: say which ones of those with ${state} tasks`)
  return of
}

/** Only batches that are not over have tasks in this state. */
function isOfLive(state: BatchState | ''): boolean {
  return state === 'waiting' || state === 'running' || state === 'held'
}

/** Whether some of its tasks are in this state; held: all that are not over. */
export function isIn(view: BatchView, state: BatchState | ''): boolean {
  switch (state) {
    case '':
      return true
    case 'waiting':
      return view.created > 0
    case 'running':
      return view.running + view.validating > 0
    case 'held':
      return view.held !== undefined
    default:
      return view[state] > 0
  }
}
