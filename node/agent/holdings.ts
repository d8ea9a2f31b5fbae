/** The replicas a node holds, counted by what the agent asks about most, and which of them have changed since the last commit. */
import type { ReplicaId } from '#protocol/ids'
import type { Change, CheckedLease, Replica } from './events.ts'
import { decodeReplica, encodeReplica, REPLICA_PREFIX } from './records.ts'

interface Held {
  readonly replica: Replica
  readonly sinceMs: number
  /** People were told of this phase. */
  told: boolean
}

export class Holdings {
  readonly #held = new Map<ReplicaId, Held>()
  readonly #ready = new Map<ReplicaId, CheckedLease>()
  readonly #dirty = new Set<ReplicaId>()
  #busy = 0
  #kept = 0

  get size(): number {
    return this.#held.size
  }
  /** Replicas that take a slot: asked for, running, or being ended. */
  get busy(): number {
    return this.#busy
  }
  /** Replicas that only wait to be released. */
  get kept(): number {
    return this.#kept
  }

  get(id: ReplicaId): Replica | undefined {
    return this.#held.get(id)?.replica
  }

  ids(): ReplicaId[] {
    return [...this.#held.keys()]
  }

  *entries(): Generator<readonly [ReplicaId, Held]> {
    yield* this.#held
  }

  /** The oldest prepared leases that were not asked for. */
  ready(count: number): CheckedLease[] {
    const oldest: CheckedLease[] = []
    for (const lease of this.#ready.values()) {
      if (oldest.length >= count) break
      oldest.push(lease)
    }
    return oldest
  }

  set(id: ReplicaId, replica: Replica, nowMs: number): void {
    this.#count(id, -1)
    this.#held.set(id, { replica, sinceMs: nowMs, told: false })
    this.#count(id, 1)
    if (needsRecord(replica)) this.#dirty.add(id)
  }

  delete(id: ReplicaId): void {
    this.#count(id, -1)
    this.#held.delete(id)
    this.#dirty.add(id)
  }

  /** From a durable record; throws when it is damaged. Undefined when the key is not a replica's. */
  restore(key: string, value: Uint8Array, nowMs: number): { readonly id: ReplicaId; readonly replica: Replica } | undefined {
    if (!key.startsWith(REPLICA_PREFIX)) return undefined
    const id = key.slice(REPLICA_PREFIX.length)
    const replica = decodeReplica(id, value)
    this.set(id, replica, nowMs)
    this.#dirty.delete(id)
    return { id, replica }
  }

  takeChanges(): Change[] {
    const changes: Change[] = []
    for (const id of this.#dirty) {
      const replica = this.get(id)
      changes.push({ key: REPLICA_PREFIX + id, value: replica === undefined ? null : encodeReplica(replica) })
    }
    this.#dirty.clear()
    return changes
  }

  #count(id: ReplicaId, by: 1 | -1): void {
    const replica = this.get(id)
    if (replica === undefined) return
    switch (replica.phase) {
      case 'ready':
        if (by === 1) this.#ready.set(id, replica.lease)
        else this.#ready.delete(id)
        break
      case 'preparing':
        if (replica.asked) this.#busy += by
        break
      case 'reported':
        this.#kept += by
        break
      case 'publishing':
        break
      default:
        this.#busy += by
    }
  }
}

function needsRecord(replica: Replica): boolean {
  return replica.phase !== 'publishing' || replica.ended.reason !== 'exit' || replica.ended.exitCode !== 0
}
