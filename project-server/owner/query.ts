import type { ProjectView, Query } from '#protocol/owner/messages'
import { QUERY_ROWS_MAX } from '#protocol/owner/messages'
import { clip } from '../control/inbound.ts'
import { OwnerError } from './request.ts'
import { type Names, resolve, resolveBatch, resolveTask } from './resolve.ts'

export interface QueryPorts extends Names {
  readonly project: () => ProjectView
}

/** The body that answers a Query. */
export async function query(request: Query, ports: QueryPorts): Promise<unknown> {
  const { what, of, after } = request
  const page = { limit: request.limit === 0 ? QUERY_ROWS_MAX : Math.min(request.limit, QUERY_ROWS_MAX), after }
  switch (what) {
    case 'tasks':
      return ports.views.tasks(await resolveBatch(of, ports), page)
    case 'task':
      return ports.views.task(await resolveTask(of, ports))
    case 'batches':
      return of === '' ? ports.views.batches(page) : [await ports.views.batch(await resolveBatch(of, ports))]
    case 'nodes':
      return ports.views.nodes(page)
    case 'receipt': {
      const task = await resolveTask(of, ports)
      const receipt = await ports.views.receipt(task)
      if (receipt === undefined) throw new OwnerError('not_found', `task ${task} has no receipt: it is not decided, or no quorum agreed`)
      return receipt
    }
    case 'project':
      return ports.project()
    case 'resolve':
      return resolve(of, ports)
    default:
      throw new OwnerError('malformed', `unknown query ${JSON.stringify(clip(what, 32))}`)
  }
}
