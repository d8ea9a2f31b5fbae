/** The project's clients, as the coordinator knows them: what each is entitled to, and what it has. */
import type { PeerIdString } from '#protocol/ids'
import { type Claim, newClaim } from './fair-share.ts'
import type { Group } from './model.ts'
import type { State } from './state.ts'

export interface Client extends Claim {
  readonly id: PeerIdString
  /** Of its live tasks. */
  readonly groups: Set<Group>
}

/** Made when it is first heard of. */
export function clientOf(state: Pick<State, 'clients'>, id: PeerIdString): Client {
  let client = state.clients.get(id)
  if (client === undefined) {
    client = { ...newClaim(1), id, groups: new Set() }
    state.clients.set(id, client)
  }
  return client
}
