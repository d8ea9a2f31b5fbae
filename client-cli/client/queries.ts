/** Questions to the coordinator, each with its answer checked. */
import type { SignedPage } from '#protocol/credit/ledger'
import type { BanView } from '#protocol/owner/bans'
import type { ClientView } from '#protocol/owner/clients'
import type { CreditRow } from '#protocol/owner/credit'
import type { BatchView, DifferenceView, NodeView, ProjectView, QueryWhat, Resolved, TaskView, WhyView } from '#protocol/owner/messages'
import { QUERY_ROWS_MAX } from '#protocol/owner/messages'
import { decodeSignedReceipt, type SignedReceipt } from '#protocol/result/receipt'
import { ClientError } from '../errors.ts'
import { type Selection, selectionOf } from './manage.ts'
import type { OwnerLink } from './owner-link.ts'
import {
  banView,
  batchView,
  clientView,
  creditRow,
  differenceView,
  listOf,
  nodeView,
  projectView,
  readBody,
  resolved,
  signedPage,
  taskView,
  whyView
} from './views.ts'

type Link = Pick<OwnerLink, 'ask'>

function query(
  link: Link,
  what: QueryWhat,
  of: string,
  signal: AbortSignal | undefined,
  page: { limit?: number; after?: string; of?: Selection | undefined } = {}
): Promise<Uint8Array | undefined> {
  const question = {
    query: { what, of, limit: page.limit ?? QUERY_ROWS_MAX, after: page.after ?? '', ...(page.of === undefined ? {} : { selection: selectionOf(page.of) }) }
  }
  return link.ask(question, signal === undefined ? {} : { signal })
}

/** One task with its replicas. Throws ClientError `not_found`. */
export async function queryTask(link: Link, of: string, signal?: AbortSignal): Promise<TaskView> {
  return readBody(await query(link, 'task', of, signal), taskView)
}

/** What a task waits for. Throws ClientError `not_found`; `refused` of a batch that is over. */
export async function queryWhy(link: Link, of: string, signal?: AbortSignal): Promise<WhyView> {
  return readBody(await query(link, 'why', of, signal), whyView)
}

/** How the outputs of two decided tasks differ. Throws ClientError `not_found`. */
export async function queryDifference(link: Link, a: string, b: string, signal?: AbortSignal): Promise<DifferenceView> {
  return readBody(await query(link, 'difference', a, signal, { after: b }), differenceView)
}

/** The tasks of a batch in order, from the one after `after` on; fetched a page at a time. */
export async function* queryTasks(
  link: Link,
  batch: string,
  options: { after?: string; signal?: AbortSignal } = {}
): AsyncGenerator<TaskView, void, undefined> {
  let after = options.after ?? ''
  for (;;) {
    const rows = readBody(await query(link, 'tasks', batch, options.signal, { after }), listOf(taskView))
    yield* rows
    const last = rows.at(-1)
    if (last === undefined || rows.length < QUERY_ROWS_MAX || last.id === after) return
    after = last.id
  }
}

/** Batches, all or those that are selected, as the coordinator lists them (newest first), at most `limit`. */
export async function queryBatches(link: Link, limit: number, { of, signal }: { of?: Selection; signal?: AbortSignal } = {}): Promise<BatchView[]> {
  const all: BatchView[] = []
  while (all.length < limit) {
    const asked = Math.min(QUERY_ROWS_MAX, limit - all.length)
    const rows = readBody(await query(link, 'batches', '', signal, { limit: asked, after: all.at(-1)?.id ?? '', of }), listOf(batchView))
    all.push(...rows)
    if (rows.length < asked) break
  }
  return all
}

export async function queryNodes(link: Link, signal?: AbortSignal): Promise<NodeView[]> {
  const all: NodeView[] = []
  for (;;) {
    const rows = readBody(await query(link, 'nodes', '', signal, { after: all.at(-1)?.id ?? '' }), listOf(nodeView))
    all.push(...rows)
    if (rows.length < QUERY_ROWS_MAX) return all
  }
}

export async function queryBans(link: Link, signal?: AbortSignal): Promise<BanView[]> {
  return readBody(await query(link, 'bans', '', signal), listOf(banView))
}

/** Who has most credit. */
export async function queryCredit(link: Link, of: 'nodes' | 'owners', limit: number, signal?: AbortSignal): Promise<CreditRow[]> {
  return readBody(await query(link, 'credit', of, signal, { limit }), listOf(creditRow))
}

/** The ledger of credit page by page, to its end. */
export async function* queryLedger(link: Link, signal?: AbortSignal): AsyncGenerator<SignedPage, void, undefined> {
  for (let seen = 0; ; ) {
    const pages = readBody(await query(link, 'ledger', '', signal, { after: `${seen}` }), listOf(signedPage))
    if (pages.length === 0) return
    yield* pages
    seen += pages.length
  }
}

/** Clients with what they are granted and used. */
export async function queryClients(link: Link, signal?: AbortSignal): Promise<ClientView[]> {
  return readBody(await query(link, 'clients', '', signal), listOf(clientView))
}

export async function queryProject(link: Link, signal?: AbortSignal, of: '' | 'programs' = ''): Promise<ProjectView> {
  return readBody(await query(link, 'project', of, signal), projectView)
}

/** What an id, unique prefix or name means to the project. Throws ClientError `not_found`, `ambiguous`. */
export async function queryResolve(link: Link, of: string, signal?: AbortSignal): Promise<Resolved> {
  return readBody(await query(link, 'resolve', of, signal), resolved)
}

/** The signed receipt of a decided task. Throws ClientError `not_found` while there is none. */
export async function queryReceipt(link: Link, of: string, signal?: AbortSignal): Promise<SignedReceipt> {
  const body = await query(link, 'receipt', of, signal)
  const receipt = body === undefined ? undefined : decodeSignedReceipt(body)
  if (receipt === undefined) throw new ClientError('refused', 'the project answered with something that is no receipt')
  return receipt
}
