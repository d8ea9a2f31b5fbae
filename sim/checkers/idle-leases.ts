/** Leases that their nodes do nothing with, looked at when the faults have stopped: by the records of tasks alone, and the time since a lease was first seen so. */
import type { TaskRecord } from '#project-server/coordinator/task-records'
import type { PeerIdString, TaskId } from '#protocol/ids'
import type { Complaints } from './complaints.ts'

/** A node that moves bytes at all has moved what is moved here long before. */
const IDLE_MS_MAX = 900_000

export class IdleLeases {
  readonly #complaints: Complaints
  readonly #sinceMs = new Map<string, number>()

  constructor(complaints: Complaints) {
    this.#complaints = complaints
  }

  /** [33] What is leased is begun, or taken back, unless its node has something else to do. */
  look(open: Iterable<TaskId>, last: ReadonlyMap<TaskId, TaskRecord>, nowMs: number): void {
    const busy = new Set<PeerIdString>()
    const idle = new Map<string, PeerIdString>()
    for (const id of open)
      for (const { attempt, node, state, granted } of last.get(id)?.replicas ?? []) {
        if (state === 'leased' || state === 'preparing') idle.set(`${id}.${attempt}`, node)
        else if (granted && (state === 'running' || state === 'uploading')) busy.add(node)
      }
    for (const replica of this.#sinceMs.keys()) if (!idle.has(replica)) this.#sinceMs.delete(replica)
    for (const [replica, node] of idle) {
      if (busy.has(node) || !this.#sinceMs.has(replica)) this.#sinceMs.set(replica, nowMs)
      const forMs = nowMs - (this.#sinceMs.get(replica) ?? nowMs)
      this.#complaints.expect(
        forMs < IDLE_MS_MAX,
        () => `${replica} was leased to ${node} ${Math.round(forMs / 60_000)} minutes ago, and it does nothing with it`
      )
    }
  }
}
