import { unended } from '#protocol/owner/counts'
import type { BatchView } from '#protocol/owner/messages'
import { WATCH_MS } from '../policy.ts'
import type { Clock } from '../ports.ts'
import { type Changes, pause } from './changes.ts'
import { type OpenRequest, OwnerError } from './request.ts'
import { type Names, resolveBatch } from './resolve.ts'

export interface WatchPorts extends Names {
  readonly changes: Changes
  readonly clock: Clock
}

/** Sends the batch's view now and after each change, ten times a second at most; the last one when nothing is left to decide. */
export async function watch(of: string, open: OpenRequest, ports: WatchPorts): Promise<BatchView> {
  const id = await resolveBatch(of, ports)
  for (;;) {
    const changed = ports.changes.next(id, open.signal)
    const view = await ports.views.batch(id)
    if (view === undefined) throw new OwnerError('not_found', `there is no batch ${id}`)
    if (unended(view) === 0) return view
    await open.part({ body: view })
    await Promise.all([changed, pause(ports.clock, WATCH_MS, open.signal)])
    if (open.signal.aborted) throw new OwnerError('unavailable', 'the request was given up')
  }
}
