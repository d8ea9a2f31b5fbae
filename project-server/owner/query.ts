import { parseTaskId, taskId } from '#protocol/ids'
import type { BatchView, ProjectView, Query, QueryWhat, WhyView } from '#protocol/owner/messages'
import { QUERY_ROWS_MAX } from '#protocol/owner/messages'
import type { Comparators } from '../comparators.ts'
import { clip } from '../control/inbound.ts'
import type { Coordinator } from '../coordinator/coordinator.ts'
import { type CreditPorts, credit, ledger } from './credit.ts'
import { type DifferencePorts, difference } from './difference.ts'
import type { Members } from './grants.ts'
import { type OpenRequest, OwnerError } from './request.ts'
import { resolve, resolveBatch, resolveTask } from './resolve.ts'
import { selectionOf } from './select.ts'
import type { Page } from './views.ts'

export interface QueryPorts extends DifferencePorts, CreditPorts {
  readonly project: () => ProjectView
  readonly comparators: Pick<Comparators, 'state' | 'agreeInTurn'>
  readonly members: Pick<Members, 'viewsFor' | 'isAdministrator'>
  readonly coordinator: Pick<Coordinator, 'bans' | 'nodeCredits' | 'ownerCredits'>
}

/** The body that answers a Query. */
export async function query(request: Query, { client, signal }: Pick<OpenRequest, 'client' | 'signal'>, ports: QueryPorts): Promise<unknown> {
  const { of, after } = request
  const what = request.what as QueryWhat
  const page = { limit: request.limit === 0 ? QUERY_ROWS_MAX : Math.min(request.limit, QUERY_ROWS_MAX), after }
  switch (what) {
    case 'tasks':
      return ports.views.tasks(await resolveBatch(of, ports), page)
    case 'task':
      return ports.views.task(await resolveTask(of, ports))
    case 'batches':
      return of === '' ? batches(request, page, ports) : [await ports.views.batch(await resolveBatch(of, ports))]
    case 'nodes':
      return ports.views.nodes(page)
    case 'why':
      return why(of, ports)
    case 'receipt': {
      const task = await resolveTask(of, ports)
      const receipt = await ports.views.receipt(task)
      if (receipt === undefined) throw new OwnerError('not_found', `task ${task} has no receipt: it is not decided, or no quorum agreed`)
      return receipt
    }
    case 'difference':
      return difference({ a: of, b: after }, ports, signal)
    case 'bans':
      return ports.coordinator.bans()
    case 'credit':
      return credit(of, page.limit, ports)
    case 'ledger':
      return ledger(page, client, ports)
    case 'clients':
      return ports.members.viewsFor(client)
    case 'project':
      return of === 'programs' ? { ...ports.project(), programs: await ports.comparators.state() } : ports.project()
    case 'resolve':
      return resolve(of, ports)
    default:
      throw new OwnerError('malformed', `unknown query ${JSON.stringify(clip(request.what, 32))}`)
  }
}

async function batches(request: Query, page: Page, { views }: QueryPorts): Promise<readonly BatchView[]> {
  const selection = request.selection === undefined ? undefined : selectionOf(request.selection)
  if (selection === undefined) return views.batches(page)
  const all = await views.select(selection)
  const from = page.after === '' ? 0 : all.findIndex(({ id }) => id === page.after) + 1
  return all.slice(from, from + page.limit)
}

/** Of a task; of a batch, what its first waiting task waits for. */
async function why(of: string, ports: QueryPorts): Promise<WhyView> {
  const { kind, id } = parseTaskId(of) === undefined ? await resolve(of, ports) : { kind: 'task' as const, id: of }
  const batch = kind === 'batch' ? await ports.views.batch(id) : undefined
  const found = kind === 'data' ? undefined : await ports.views.why(batch?.tasks === 1 ? taskId(id, 0) : id)
  if (found !== undefined) return found
  if (batch !== undefined) throw new OwnerError('not_running', `all ${batch.tasks} tasks of batch ${id} are over; talko ps ${id} shows how they ended`)
  throw new OwnerError('not_found', kind === 'data' ? `${JSON.stringify(clip(of, 64))} is data, and waits for nothing` : `there is no task ${id}`)
}
