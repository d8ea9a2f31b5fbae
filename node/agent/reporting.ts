/** publishing -> reported -> (gone): what a run left is added, signed and told, and kept until the coordinator has it. */
import type { ReplicaId } from '#protocol/ids'
import { commitmentOf, saltOf } from '#protocol/result/commitment'
import type { Ended } from '../ports.ts'
import { unkeep } from './custody.ts'
import type { CheckedLease, Published } from './events.ts'
import { resultOf } from './report.ts'
import type { State } from './state.ts'

export function publish(state: State, lease: CheckedLease, ended: Ended, nowMs: number): void {
  state.held.set(lease.replica, { phase: 'publishing', lease, ended }, nowMs)
  state.prompt({ kind: 'publish', replica: lease.replica, manifest: lease.manifest })
}

/** publishing -> reported: what it left is in the content store. */
export function published(state: State, id: ReplicaId, left: Published, nowMs: number): void {
  const { held, options, signer } = state
  const replica = held.get(id)
  if (replica?.phase !== 'publishing') return
  const { ended, lease } = replica
  const { project } = options
  const { peerId: node } = signer
  const content = [left.output, left.stdout, left.stderr]
  // Nobody agrees on what its owner ended.
  if (lease.sealed === true && ended.reason !== 'killed') {
    const sealed = resultOf({ project, node, lease, ended, published: left, salt: saltOf(signer, id) })
    state.say.commit(id, commitmentOf(sealed))
    held.set(id, { phase: 'reported', content, sealed }, nowMs)
  } else {
    const body = resultOf({ project, node, lease, ended, published: left })
    state.say.result(body)
    held.set(id, { phase: 'reported', content, ...(ended.reason === 'killed' ? {} : { body }) }, nowMs)
  }
  state.stock?.unused(id)
  state.snapshots?.forget(id)
  state.effect({ kind: 'clean', lease })
}

/** Its sealed result is reported, once. */
export function reveal(state: State, id: ReplicaId, nowMs: number): void {
  const replica = state.held.get(id)
  if (replica?.phase !== 'reported' || replica.sealed === undefined) return
  state.say.result(replica.sealed)
  state.held.set(id, { phase: 'reported', content: replica.content, body: replica.sealed }, nowMs)
}

/** reported -> (gone). The coordinator has what it left: from now on that is data like any other. */
export function release(state: State, id: ReplicaId): void {
  const replica = state.held.get(id)
  if (replica === undefined) unkeep(state, id)
  if (replica?.phase !== 'reported') return
  state.parking?.forget(id)
  state.effect({ kind: 'release', replica: id, content: replica.content })
  state.held.delete(id)
}
