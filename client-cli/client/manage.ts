/** What is done to batches and tasks. */
import type { Manage, Managed } from '#protocol/owner/messages'
import type { OwnerLink } from './owner-link.ts'
import { managed, readBody } from './views.ts'

/** Durable when it resolves. Throws ClientError `not_found`, `ambiguous`, `refused` of what is over. */
export async function manage(link: Pick<OwnerLink, 'ask'>, asked: Manage, options: { readonly signal?: AbortSignal }): Promise<Managed> {
  return readBody(await link.ask({ manage: asked }, options), managed)
}
