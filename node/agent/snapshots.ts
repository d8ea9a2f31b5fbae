/** Snapshots of runs that the project was told of and has not taken yet: told without a number, and again with every welcome. */
import { Frame } from '#protocol/control/messages'
import type { ReplicaId } from '#protocol/ids'

export interface Snapshot {
  /** CID as text. */
  readonly root: string
  readonly bytes: number
  /** Its run has ended. */
  readonly last: boolean
}

export class Snapshots {
  readonly #told = new Map<ReplicaId, Snapshot>()

  /** The newest of its run. Answers what is to be said of it. */
  add(replica: ReplicaId, snapshot: Snapshot): Uint8Array {
    this.#told.set(replica, snapshot)
    return frameOf([[replica, snapshot]])
  }

  /** The project has it, or does not want it; undefined when it means another. */
  taken(replica: ReplicaId, root: string): Snapshot | undefined {
    const told = this.#told.get(replica)
    if (told?.root !== root) return undefined
    this.#told.delete(replica)
    return told
  }

  forget(replica: ReplicaId): void {
    this.#told.delete(replica)
  }

  /** All that is to be said with a welcome; undefined for nothing. */
  all(): Uint8Array | undefined {
    return this.#told.size === 0 ? undefined : frameOf([...this.#told])
  }
}

function frameOf(told: readonly (readonly [ReplicaId, Snapshot])[]): Uint8Array {
  return Frame.encode({ checkpoints: { replicas: told.map(([replica, { root, bytes, last }]) => ({ replica, root, bytes, ...(last ? { last } : {}) })) } })
}
