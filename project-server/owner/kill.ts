import { parseTaskId } from '#protocol/ids'
import type { Resolved } from '#protocol/owner/messages'
import type { Committer } from '../commit.ts'
import { type OpenRequest, OwnerError } from './request.ts'
import { type Names, resolve } from './resolve.ts'

/** Ends a batch or one task; answers once that is durable. Killing what has ended is harmless. */
export async function kill(of: string, open: OpenRequest, ports: Names & { readonly committer: Pick<Committer, 'commit'> }): Promise<Resolved> {
  const target = await resolve(of, ports)
  const task = parseTaskId(target.id)
  if (target.kind === 'data') throw new OwnerError('not_found', `${target.id} is data, which cannot be killed`)
  await ports.committer.commit({
    kind: 'kill',
    batch: task?.batch ?? target.id,
    ...(task === undefined ? {} : { task: target.id }),
    by: open.client
  })
  return target
}
