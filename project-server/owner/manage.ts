/** What an owner does to its batches and tasks: durable when it is answered, and harmless when it is asked again. */
import { parseTaskId } from '#protocol/ids'
import type { Manage, Managed, ManageVerb, Resolved } from '#protocol/owner/messages'
import type { Committer } from '../commit.ts'
import { clip } from '../control/inbound.ts'
import type { Event } from '../coordinator/events.ts'
import { HOLD_REASON_CHARS_MAX } from '../coordinator/policy.ts'
import { isTerminal } from '../coordinator/states.ts'
import { type OpenRequest, OwnerError } from './request.ts'
import { type Names, resolve } from './resolve.ts'

export async function manage(request: Manage, open: OpenRequest, ports: Names & { readonly committer: Pick<Committer, 'commit'> }): Promise<Managed> {
  const verb = verbOf(request.verb)
  const target = await resolve(request.of, ports)
  await assertGoesOn(verb, target, ports)
  if (!request.dryRun) await ports.committer.commit(eventOf(verb, target, request, open))
  return { targets: [target] }
}

function verbOf(verb: string): ManageVerb {
  if (verb === 'hold' || verb === 'release') return verb
  throw new OwnerError('malformed', `there is nothing called ${JSON.stringify(clip(verb, 32))} to be done; the client may be newer than the server`)
}

function eventOf(verb: ManageVerb, { id }: Resolved, { reason, stop }: Manage, { client }: OpenRequest): Event {
  const task = parseTaskId(id)
  const target = { batch: task?.batch ?? id, ...(task === undefined ? {} : { task: id }), by: client }
  return verb === 'hold' ? { kind: 'hold', ...target, reason: clip(reason, HOLD_REASON_CHARS_MAX), stop } : { kind: 'release', ...target }
}

/** Only what is not over can be held or released. */
async function assertGoesOn(verb: ManageVerb, { kind, id }: Resolved, { views }: Names): Promise<void> {
  if (kind === 'data') throw new OwnerError('not_found', `${id} is data, and never runs`)
  const task = kind === 'task' ? await views.task(id) : undefined
  const batch = await views.batch(task?.batch ?? id)
  if (batch === undefined) throw new OwnerError('not_found', `there is no batch ${id}`)
  const over = task === undefined ? batch.created + batch.running + batch.validating === 0 : isTerminal(task.status)
  if (over) throw new OwnerError('not_running', `${kind} ${id} is over; talko ps ${batch.id} -a shows how it ended`)
  if (verb === 'release' && task !== undefined && batch.held !== undefined)
    throw new OwnerError('not_running', `task ${id} is held with its batch; release that (talko release ${batch.id})`)
}
