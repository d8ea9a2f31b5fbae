/** What is asked of credit: who has most (of everybody), and the pages of the ledger (of the administrator). */
import type { PeerIdString } from '#protocol/ids'
import { type CreditRow, LEDGER_PART_BYTES_MAX, type LedgerPart } from '#protocol/owner/credit'
import type { Coordinator } from '../coordinator/coordinator.ts'
import { CREDIT_PREFIX, creditKey, decodeSignedPage } from '../coordinator/ledger.ts'
import type { Store } from '../ports.ts'
import type { Members } from './grants.ts'
import { OwnerError } from './request.ts'
import type { Page } from './views.ts'

export interface CreditPorts {
  readonly coordinator: Pick<Coordinator, 'nodeCredits' | 'ownerCredits'>
  readonly members: Pick<Members, 'isAdministrator'>
  readonly store: Pick<Store, 'range'>
}

/** Throws OwnerError `malformed`. */
export function credit(of: string, limit: number, { coordinator }: Pick<CreditPorts, 'coordinator'>): readonly CreditRow[] {
  if (of === 'nodes') return coordinator.nodeCredits(limit)
  if (of === 'owners') return coordinator.ownerCredits(limit)
  throw new OwnerError('malformed', 'credit is asked for of "nodes" or "owners"')
}

/** From the page after `after` on, as many as fit. Throws OwnerError `not_owner`, `malformed`. */
export async function ledger({ limit, after }: Page, client: PeerIdString, { members, store }: Pick<CreditPorts, 'members' | 'store'>): Promise<LedgerPart> {
  if (!members.isAdministrator(client))
    throw new OwnerError('not_owner', 'the ledger names the tasks of all clients: only the administrator of the project, the first of its owners, gets it')
  const from = after === '' ? 0 : Number(after)
  if (!Number.isSafeInteger(from) || from < 0) throw new OwnerError('malformed', 'pages of the ledger are asked for by the number of the last one seen')
  const pages: (readonly [Uint8Array, Uint8Array])[] = []
  let bytes = 0
  for await (const [, value] of store.range(creditKey(from + 1), `${CREDIT_PREFIX}~`, { limit })) {
    const { body, signature } = decodeSignedPage(value)
    bytes += body.length
    if (pages.length > 0 && bytes > LEDGER_PART_BYTES_MAX) break
    pages.push([body, signature])
  }
  return pages
}
