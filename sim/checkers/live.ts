/** Who has how many live replicas, by the records of tasks alone: those of a node, or those of a client. */
import type { ReplicaRecord } from '#project-server/coordinator/task-records'
import type { Change } from '#project-server/ports'
import type { PeerIdString, TaskId } from '#protocol/ids'
import { changedTasks } from '../stored-tasks.ts'

export const LIVE: readonly string[] = ['leased', 'preparing', 'running', 'uploading']

/** Of one commit. */
export interface Given {
  /** Those that were given a replica, and those of which one that was over was found to live on. */
  readonly given: ReadonlySet<PeerIdString>
  readonly found: ReadonlySet<PeerIdString>
  /** How many each had before. */
  readonly before: ReadonlyMap<PeerIdString, number>
}

export class LiveReplicas {
  /** How many each has now. */
  readonly live = new Map<PeerIdString, number>()
  readonly #whose: (replica: ReplicaRecord, task: TaskId) => PeerIdString
  readonly #replicas = new Map<string, readonly ReplicaRecord[]>()

  constructor(whose: (replica: ReplicaRecord, task: TaskId) => PeerIdString) {
    this.#whose = whose
  }

  committed(changes: readonly Change[]): Given {
    const given = new Set<PeerIdString>()
    const found = new Set<PeerIdString>()
    const before = new Map(this.live)
    for (const { id, replicas } of changedTasks(changes)) {
      const were = this.#replicas.get(id) ?? []
      for (const [index, replica] of replicas.entries()) {
        const was = were[index]
        const [lived, lives] = [was !== undefined && LIVE.includes(was.state), LIVE.includes(replica.state)]
        if (lived === lives) continue
        const whose = this.#whose(replica, id)
        this.live.set(whose, (this.live.get(whose) ?? 0) + (lives ? 1 : -1))
        if (lives) (was === undefined ? given : found).add(whose)
      }
      this.#replicas.set(id, replicas)
    }
    return { given, found, before }
  }
}
