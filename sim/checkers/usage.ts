/** What clients are said to have used, looked at after every commit: it is what their runs took, by the records of their tasks. */

import { decodeBatchRecord } from '#project-server/coordinator/batch-records'
import { clientKey, decodeClientRecord } from '#project-server/coordinator/client-records'
import { batchKey } from '#project-server/coordinator/keys'
import type { Change } from '#project-server/ports'
import type { PeerIdString, TaskId } from '#protocol/ids'
import type { MemoryStore } from '../store.ts'
import { changedTasks } from '../stored-tasks.ts'
import type { Complaints } from './complaints.ts'

export class Usage {
  readonly #records: MemoryStore
  readonly #complaints: Complaints
  readonly #ofTasks = new Map<TaskId, number>()
  readonly #ofClients = new Map<PeerIdString, number>()

  constructor(records: MemoryStore, complaints: Complaints) {
    this.#records = records
    this.#complaints = complaints
  }

  committed(changes: readonly Change[]): void {
    const changed = new Set<PeerIdString>()
    for (const { id, replicas } of changedTasks(changes)) {
      const ms = replicas.reduce((sum, { ranMs }) => sum + ranMs, 0)
      const before = this.#ofTasks.get(id) ?? 0
      if (ms === before) continue
      const client = this.#clientOf(id)
      if (client === undefined) continue
      this.#ofTasks.set(id, ms)
      this.#ofClients.set(client, (this.#ofClients.get(client) ?? 0) + ms - before)
      changed.add(client)
    }
    for (const client of changed) {
      const stored = this.#records.peek(clientKey(client))
      const said = stored === undefined ? 0 : decodeClientRecord(stored).ranMs
      const took = this.#ofClients.get(client) ?? 0
      this.#complaints.expect(said === took, () => `client ${client} is said to have used ${said} ms, and its runs took ${took} ms`)
    }
  }

  #clientOf(task: TaskId): PeerIdString | undefined {
    const stored = this.#records.peek(batchKey(task.slice(0, task.indexOf('.'))))
    return stored === undefined ? undefined : decodeBatchRecord(stored).by
  }
}
