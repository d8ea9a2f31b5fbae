/**
 * How many replicas each client has at once, looked at after every commit: from the records of tasks and clients alone,
 * without slots and lines. Only what was given in the commit is judged, and only where the client's limit was the same
 * before it: what happened first, a record does not say. Who has more than it may, since it was granted less, or because
 * what was lost was found again, gets no more.
 */
import { decodeBatchRecord } from '#project-server/coordinator/batch-records'
import { CLIENT_PREFIX, decodeClientRecord } from '#project-server/coordinator/client-records'
import { batchKey } from '#project-server/coordinator/keys'
import type { Change } from '#project-server/ports'
import type { PeerIdString } from '#protocol/ids'
import type { Sometimes } from '../sometimes.ts'
import type { MemoryStore } from '../store.ts'
import type { Complaints } from './complaints.ts'
import { LiveReplicas } from './live.ts'

export class Limits {
  readonly #records: MemoryStore
  readonly #complaints: Complaints
  readonly #sometimes: Sometimes
  readonly #parallel = new Map<PeerIdString, number | null>()
  readonly #replicas = new LiveReplicas((_, task) => this.#clientOf(task))

  constructor(records: MemoryStore, complaints: Complaints, sometimes: Sometimes) {
    this.#records = records
    this.#complaints = complaints
    this.#sometimes = sometimes
  }

  committed(changes: readonly Change[]): void {
    const granted = new Set<PeerIdString>()
    for (const { key, value } of changes) {
      if (value === null || !key.startsWith(CLIENT_PREFIX)) continue
      const { id, settings } = decodeClientRecord(value)
      if ((this.#parallel.get(id) ?? null) !== settings.parallel) granted.add(id)
      this.#parallel.set(id, settings.parallel)
    }
    const { given, found, before } = this.#replicas.committed(changes)
    if ([...this.#replicas.live.values()].filter((live) => live > 0).length > 1) this.#sometimes.see('replicas of two clients ran at once')
    for (const client of given) if (!granted.has(client) && !found.has(client)) this.#look(client, before.get(client) ?? 0)
  }

  #look(client: PeerIdString, had: number): void {
    const parallel = this.#parallel.get(client) ?? null
    if (parallel === null) return
    const live = this.#replicas.live.get(client) ?? 0
    if (live === parallel) this.#sometimes.see('a client had as many replicas as it may')
    this.#complaints.expect(live <= Math.max(parallel, had), () => `client ${client} has ${live} replicas at once, ${parallel} are allowed`)
  }

  #clientOf(task: string): PeerIdString {
    const stored = this.#records.peek(batchKey(task.slice(0, task.indexOf('.'))))
    return stored === undefined ? '' : decodeBatchRecord(stored).by
  }
}
