/** Who has most credit, for people and leaderboards. */
import type { CreditRow } from '#protocol/owner/credit'
import type { Node } from './model.ts'
import type { State } from './state.ts'

/** Nodes that earned something, those with most first. */
export function nodeCredits({ nodes }: Pick<State, 'nodes'>, limit: number): CreditRow[] {
  const rows = [...nodes.values()].filter(({ credit }) => credit > 0)
  return rows.sort(byCredit).slice(0, limit).map(rowOf)
}

/** Owners whose nodes earned something while they were theirs. */
export function ownerCredits({ nodes, out }: Pick<State, 'nodes' | 'out'>, limit: number): CreditRow[] {
  const rows = [...out.ledger.owners].filter(([, credit]) => credit > 0).map(([id, credit]) => ({ id, credit }))
  const most = rows.sort(byCredit).slice(0, limit)
  const counts = new Map(most.map(({ id }) => [id, 0]))
  for (const { offer } of nodes.values()) {
    const count = counts.get(offer.owner ?? '')
    if (count !== undefined) counts.set(offer.owner ?? '', count + 1)
  }
  return most.map(({ id, credit }) => ({ id, credit, nodes: counts.get(id) ?? 0 }))
}

function rowOf({ id, credit, offer, valid, invalid, errorPpm }: Node): CreditRow {
  const { name, owner } = offer
  return { id, credit, name, ...(owner === null ? {} : { owner }), valid, invalid, errorRate: errorPpm / 1_000_000 }
}

/** Of equals the one whose id comes first, so that nobody changes places by being asked for again. */
function byCredit(a: Pick<CreditRow, 'id' | 'credit'>, b: Pick<CreditRow, 'id' | 'credit'>): number {
  return b.credit - a.credit || (a.id < b.id ? -1 : 1)
}
