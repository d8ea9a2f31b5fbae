/** What every phase of a replica can end in: it is held no more. */
import type { ReplicaId } from '#protocol/ids'
import type { Fault, Replica } from './events.ts'
import type { State } from './state.ts'

type Begun = Extract<Replica, { phase: 'running' | 'killing' | 'saving' | 'publishing' }>

/** It goes, with what it left; the coordinator is told why, unless `fault` is null. */
export function drop(state: State, id: ReplicaId, fault: Fault | null): void {
  const replica = state.held.get(id)
  if (replica === undefined) return
  if (replica.phase === 'preparing' || replica.phase === 'publishing') state.prompt({ kind: 'abandon', replica: id })
  if (fault !== null) state.say.returned(id, fault)
  const began = hasBegun(replica) ? replica.lease : null
  state.stock?.unused(id)
  state.snapshots?.forget(id)
  state.parking?.forget(id)
  state.effect({ kind: 'remove', replica: id, began })
  state.held.delete(id)
}

function hasBegun(replica: Replica): replica is Begun {
  const { phase } = replica
  return phase === 'running' || phase === 'killing' || phase === 'saving' || phase === 'publishing'
}
