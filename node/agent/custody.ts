/** While the project is away: this node's results go into the keeping of others, and theirs into its own. */
import { Frame, PARKED_PER_FRAME_MAX } from '#protocol/control/messages'
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import type { ParkedResult } from '#protocol/parking/messages'
import type { Affairs } from './leaving.ts'
import { own } from './outgoing.ts'
import { type Neighbour, type Order, type Parked, Parking } from './parking.ts'
import { PARK_AFTER_MS } from './policy.ts'
import { type Parcel, taskOf } from './safekeeping.ts'
import type { State } from './state.ts'

/** Whom it may leave results with. */
export function meet(state: State, neighbours: readonly Neighbour[]): void {
  state.parking ??= new Parking(state.options.parkAfterMs ?? PARK_AFTER_MS)
  state.parking.meet(neighbours)
}

/** Leaves with others what the project cannot be told. */
export function park(state: State, nowMs: number): void {
  const { mode, parking } = state
  state.awaySinceMs ??= nowMs
  const leaving = mode === 'draining' || mode === 'quitting'
  if (parking?.isDue(leaving, nowMs - state.awaySinceMs) !== true) return
  for (const { replica, peer } of parking.orders(unheard(state), nowMs)) {
    const held = state.held.get(replica)
    if (held?.phase === 'reported' && held.body !== undefined) state.prompt({ kind: 'park', replica, peer, body: held.body })
  }
}

/** What came of an order. */
export function answered(state: State, order: Order, code: Parked, nowMs: number): void {
  state.parking?.answered(order, code, nowMs)
  if (state.phaseOf(order.replica) === undefined) state.parking?.forget(order.replica)
}

/** How far what the project was not told is with others. */
export function parkingProgress(state: State, nowMs: number): Affairs['parked'] {
  if (state.welcomed) return 'none'
  const results = [...unheard(state)]
  const progress = results.length === 0 ? 'none' : (state.parking?.progress(results, nowMs) ?? 'none')
  // What is sealed can only be told to the project itself.
  return progress === 'all' && results.length < state.held.size ? 'none' : progress
}

/** Results that others may be given, and that were not released. A sealed one nobody may know until as many are bound as must agree. */
function* unheard({ held }: State): Generator<ReplicaId> {
  for (const [id, { replica }] of held.entries()) if (replica.phase === 'reported' && replica.body !== undefined) yield id
}

/** Another node wants to leave a result here. */
export function offered(state: State, parcel: Parcel, nowMs: number): void {
  const { replica, from: peer } = parcel
  const task = taskOf(replica)
  const involved = peer === state.signer.peerId || state.held.ids().some((id) => taskOf(id) === task)
  const code = state.keeping.offer(parcel, involved, nowMs)
  if (code === 'collect') state.effect({ kind: 'collect', parcel })
  else state.effect({ kind: 'answer', peer, replica, code })
}

/** The answer leaves when the record is on the disk, as the content is. */
export function collected(state: State, replica: ReplicaId): void {
  const parcel = state.kept?.collected(replica)
  if (parcel === undefined) return
  state.effect({ kind: 'answer', peer: parcel.from, replica, code: 'kept' })
  if (state.welcomed) tellKept(state, [parcel])
}

/** It could not be fetched. */
export function uncollected(state: State, replica: ReplicaId): void {
  const from = unkeep(state, replica)
  if (from !== undefined) state.effect({ kind: 'answer', peer: from, replica, code: 'busy' })
}

/** It goes, with what no other result names. Answers whose it was. */
export function unkeep(state: State, replica: ReplicaId): PeerIdString | undefined {
  const gone = state.kept?.drop(replica)
  if (gone !== undefined && gone.content.length > 0) state.prompt({ kind: 'unkeep', content: gone.content })
  return gone?.from
}

/** Told without a number: it is told again with the next welcome, until it is released. */
export function tellKept(state: State, results: readonly ParkedResult[]): void {
  for (let from = 0; from < results.length; from += PARKED_PER_FRAME_MAX) {
    const some = results.slice(from, from + PARKED_PER_FRAME_MAX)
    state.effect({
      kind: 'send',
      frame: Frame.encode({ parked: { results: some.map(({ body, signature }) => ({ result: own(body), signature: own(signature) })) } })
    })
  }
}
