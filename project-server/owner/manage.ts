/** What a client does to its batches and tasks, one or all that it selects: durable when it is answered, and harmless when it is asked again. */
import { parseTaskId } from '#protocol/ids'
import { unended } from '#protocol/owner/counts'
import { changedLabels, LABELS_MAX, labelChangeFault, labelsFault } from '#protocol/owner/labels'
import { type BatchView, MANAGE_VERBS, type Manage, type Managed, type ManagedTarget, type ManageVerb, type Resolved } from '#protocol/owner/messages'
import type { Committer } from '../commit.ts'
import { clip } from '../control/inbound.ts'
import type { Aim, Event } from '../coordinator/events.ts'
import { HOLD_REASON_CHARS_MAX } from '../coordinator/policy.ts'
import { isTerminal } from '../coordinator/states.ts'
import { noteChanges, readNotes } from './notes.ts'
import { type OpenRequest, OwnerError } from './request.ts'
import { type Names, resolve } from './resolve.ts'
import { type RetryPorts, retry } from './retry.ts'
import { selectionOf } from './select.ts'

export interface ManagePorts extends Names, RetryPorts {
  readonly committer: Pick<Committer, 'commit' | 'write'>
}

export async function manage(request: Manage, open: OpenRequest, ports: ManagePorts): Promise<Managed> {
  const verb = verbOf(request.verb)
  const selection = request.selection === undefined ? undefined : selectionOf(request.selection)
  if ((selection === undefined) === (request.of === '')) throw new OwnerError('malformed', 'either an id, or labels, a name or a state say what is meant')
  const targets =
    selection === undefined ? [await one(verb, request.of, ports)] : (await ports.views.select(selection)).filter((view) => mayBe(verb, view)).map(target)
  if (verb === 'retry') return { targets: await retryAll(request, targets, open, ports) }
  if (verb === 'label') await label(request, targets, open, ports)
  else if (!request.dryRun) await Promise.all(targets.map((each) => ports.committer.commit(eventOf(verb, each, request, open))))
  return { targets }
}

function verbOf(verb: string): ManageVerb {
  const known = MANAGE_VERBS.find((one) => one === verb)
  if (known !== undefined) return known
  throw new OwnerError('malformed', `there is nothing called ${JSON.stringify(clip(verb, 32))} to be done; the client may be newer than the server`)
}

function eventOf(verb: 'hold' | 'release' | 'kill', { id }: Resolved, { reason, stop, selection }: Manage, { client }: OpenRequest): Event {
  const task = parseTaskId(id)
  const state = selection?.state
  const some = state === 'waiting' || state === 'running' ? ({ only: state } as const) : {}
  const aim: Aim = { batch: task?.batch ?? id, ...(task === undefined ? some : { task: id }) }
  const by = client
  if (verb === 'hold') return { kind: 'hold', ...aim, by, reason: clip(reason, HOLD_REASON_CHARS_MAX), stop }
  return verb === 'kill' ? { kind: 'kill', ...aim, by } : { kind: 'release', ...aim, by }
}

/** What is named. Only what is not over can be held or released. */
async function one(verb: ManageVerb, of: string, ports: Names): Promise<Resolved> {
  const found = await resolve(of, ports)
  const { kind, id } = found
  if (kind === 'data') throw new OwnerError('not_found', `${id} is data, and never runs`)
  if (verb === 'label' && kind === 'task') throw new OwnerError('malformed', `${id} is a task; a batch has labels`)
  if (verb !== 'hold' && verb !== 'release') return found
  const task = kind === 'task' ? await ports.views.task(id) : undefined
  const batch = await ports.views.batch(task?.batch ?? id)
  if (batch === undefined) throw new OwnerError('not_found', `there is no batch ${id}`)
  const over = task === undefined ? unended(batch) === 0 : isTerminal(task.status)
  if (over) throw new OwnerError('not_running', `${kind} ${id} is over; talko ps ${batch.id} -a shows how it ended`)
  if (verb === 'release' && task !== undefined && batch.held !== undefined)
    throw new OwnerError('not_running', `task ${id} is held with its batch; release that (talko release ${batch.id})`)
  return found
}

/** Whether it makes sense for one of many. */
function mayBe(verb: ManageVerb, view: BatchView): boolean {
  if (verb === 'retry') return view.failed + view.killed > 0
  return verb === 'label' || unended(view) > 0
}

function target({ id, name }: BatchView): Resolved {
  return { kind: 'batch', id, ...(name === '' ? {} : { name }) }
}

async function label({ set, dryRun }: Manage, targets: readonly Resolved[], { client }: OpenRequest, { store, views, committer }: ManagePorts): Promise<void> {
  const fault =
    set.length === 0 || set.length > LABELS_MAX ? `1 to ${LABELS_MAX} labels are changed at once` : set.map(labelChangeFault).find((one) => one !== undefined)
  if (fault !== undefined) throw new OwnerError('malformed', fault)
  const changes = []
  for (const { id } of targets) {
    const before = await readNotes(store, id)
    const labels = changedLabels(before.labels, set)
    const wrong = labelsFault(labels)
    if (wrong !== undefined) throw new OwnerError('malformed', `batch ${id}: ${wrong}`)
    // An administrator's change is found by the batch's own client.
    const by = (await views.batch(id))?.by ?? client
    changes.push(...noteChanges({ id, by }, { ...before, labels }, before))
  }
  if (!dryRun && changes.length > 0) await committer.write(changes)
}

async function retryAll(request: Manage, targets: readonly Resolved[], { client }: OpenRequest, ports: ManagePorts): Promise<ManagedTarget[]> {
  const { id, selection, dryRun, of } = request
  const state = selection?.state ?? ''
  if (id.length !== 16) throw new OwnerError('malformed', 'a retry brings 16 random bytes, from which the new ids are made')
  if (state !== '' && state !== 'failed' && state !== 'killed')
    throw new OwnerError('malformed', 'tasks that failed or were killed are tried again: --state failed or killed')
  const states = new Set(state === '' ? ['failed', 'killed'] : [state])
  const made: ManagedTarget[] = []
  for (const each of targets) {
    const batch = await retry({ target: each, by: client, id, states, dryRun }, ports)
    if (batch !== undefined) made.push(batch)
  }
  if (made.length === 0 && of !== '')
    throw new OwnerError(
      'not_found',
      `nothing of ${JSON.stringify(clip(of, 64))} has ${state === '' ? 'failed or was killed' : state}: there is nothing to be tried again`
    )
  return made
}
