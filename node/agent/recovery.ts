/** What a node that starts takes up of its life before: its records, the runs that went on without it, and those that were lost. */
import { decodeFrame } from '#protocol/control/messages'
import type { ReplicaId } from '#protocol/ids'
import { hasNotBegun } from './admission.ts'
import { BOOT_KEY } from './boot.ts'
import { CRASH_KEY } from './crash.ts'
import { unkeep } from './custody.ts'
import { drop } from './drop.ts'
import { failed } from './ending.ts'
import type { CheckedLease } from './events.ts'
import { LOST } from './faults.ts'
import { PAUSED_KEY } from './pause.ts'
import { KILL_GRACE_MS } from './policy.ts'
import { REPLICA_PREFIX } from './records.ts'
import { KEPT_PREFIX } from './safekeeping.ts'
import type { State } from './state.ts'
import { STOCK_PREFIX } from './stock.ts'

/** Takes back one durable record. Throws when it is damaged. */
export function restore(state: State, key: string, value: Uint8Array, nowMs: number): void {
  if (key.startsWith(REPLICA_PREFIX)) restoreReplica(state, key, value, nowMs)
  else if (key.startsWith(STOCK_PREFIX)) state.stocking.restore(key, value)
  else if (key.startsWith(KEPT_PREFIX)) state.keeping.restore(key, value)
  else if (key === CRASH_KEY) state.crash.restore(value)
  else if (key === BOOT_KEY) state.boot?.restore(value)
  else if (key === PAUSED_KEY) {
    state.pausing.restore()
    state.mode = 'paused'
  } else state.outbox.restore(key, value)
}

function restoreReplica(state: State, key: string, value: Uint8Array, nowMs: number): void {
  const { id, replica } = state.holding.restore(key, value, nowMs)
  if (replica.phase === 'killing') state.prompt({ kind: 'kill', replica: id, graceMs: KILL_GRACE_MS })
}

/** All records were given. */
export function restored(state: State): void {
  const { held, outbox, stock, kept } = state
  outbox.restored()
  stock?.restored()
  if (!state.isAnotherBoot)
    for (const [replica, { replica: at }] of held.entries())
      if (at.phase === 'publishing') state.prompt({ kind: 'publish', replica, manifest: at.lease.manifest })
  for (const { replica } of kept?.restored() ?? []) unkeep(state, replica)
  for (const frame of outbox.pending()) for (const body of decodeFrame(frame)?.reports?.results ?? []) held.said(body)
}

/** Leases that were running (or being killed) when the node went down: the executors look for them. Before another start of the machine, those that were being published too. */
export function unrecovered({ held, isAnotherBoot }: State): CheckedLease[] {
  const leases: CheckedLease[] = []
  for (const [, { replica }] of held.entries())
    if (replica.phase === 'running' || replica.phase === 'killing' || (replica.phase === 'publishing' && isAnotherBoot)) leases.push(replica.lease)
  return leases
}

/** What the executors did not find of them is lost. */
export function recovered(state: State, found: ReadonlySet<ReplicaId>, nowMs: number): void {
  const { isAnotherBoot } = state
  for (const { replica } of unrecovered(state)) {
    if (found.has(replica)) continue
    // Nobody goes on from what a power cut may have torn.
    if (isAnotherBoot) drop(state, replica, LOST)
    else failed(state, replica, LOST, nowMs)
  }
  state.begun ||= isAnotherBoot
}

/** Held and neither reported nor given back, what had begun first. */
export function inHand(state: State): ReplicaId[] {
  const ids = state.held.ids().filter((id) => state.phaseOf(id) !== 'reported')
  return ids.sort((a, b) => Number(hasNotBegun(state, a)) - Number(hasNotBegun(state, b)))
}
