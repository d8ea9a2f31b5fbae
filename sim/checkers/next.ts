/**
 * What is brought to nodes ahead of their leases, by the records alone, after every commit that says something: only for tasks
 * that wait and that the node does not run itself, to nodes that asked for it and run others, no more than may end there.
 * Nothing is known here of queues, turns, places or data.
 */
import { decodeBatchRecord } from '#project-server/coordinator/batch-records'
import type { Effect } from '#project-server/coordinator/events'
import { decodeEntry, firstOf, JOURNAL_PREFIX } from '#project-server/coordinator/journal'
import type { TaskRecord } from '#project-server/coordinator/task-records'
import type { Change } from '#project-server/ports'
import { manifestCid } from '#protocol/bundle/manifest'
import { decodeFrame } from '#protocol/control/messages'
import { isNumbered } from '#protocol/control/sequence'
import type { BatchId, PeerIdString, TaskId } from '#protocol/ids'
import type { Sometimes } from '../sometimes.ts'
import { changedTasks } from '../stored-tasks.ts'
import type { Complaints } from './complaints.ts'
import { LIVE } from './live.ts'

/** States of a task that is over. */
const OVER: readonly string[] = ['ready', 'failed', 'killed']
/** After these a node hears nothing until it says hello again. */
const AWAY: readonly string[] = ['gone', 'lost', 'left', 'online']

export class Next {
  readonly #complaints: Complaints
  readonly #sometimes: Sometimes
  readonly #open = new Map<TaskId, TaskRecord>()
  readonly #held = new Set<BatchId>()
  /** As many bundles as each asked for with its last hello. */
  readonly #asked = new Map<PeerIdString, number>()
  /** What each was told last. */
  readonly #told = new Map<PeerIdString, readonly string[]>()

  constructor(complaints: Complaints, sometimes: Sometimes) {
    this.#complaints = complaints
    this.#sometimes = sometimes
  }

  fromNode(node: PeerIdString, bytes: Uint8Array): void {
    const hello = isNumbered(bytes) ? undefined : decodeFrame(bytes)?.hello
    if (hello !== undefined) this.#asked.set(node, hello.next ?? 0)
  }

  /** Another server leads: its streams begin anew. */
  led(): void {
    this.#told.clear()
  }

  committed(changes: readonly Change[]): void {
    for (const task of changedTasks(changes)) {
      if (OVER.includes(task.state)) this.#open.delete(task.id)
      else this.#open.set(task.id, task)
    }
    for (const { key, value } of changes) {
      if (value === null) continue
      if (key.startsWith('batch/')) {
        const { id, held } = decodeBatchRecord(value)
        if (held === null) this.#held.delete(id)
        else this.#held.add(id)
      } else if (key.startsWith(JOURNAL_PREFIX)) {
        for (const { kind, id, state } of decodeEntry(firstOf(key), value)) if (kind === 'node' && AWAY.includes(state)) this.#told.delete(id)
      }
    }
  }

  /** The server carries these out, after their commit. */
  effects(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind === 'welcome' || effect.kind === 'disconnect') this.#told.delete(effect.node)
      else if (effect.kind === 'send' && (effect.seq === 0 || this.#told.has(effect.node))) this.#sent(effect.node, effect.frame)
    }
    if (this.#told.size > 0) this.#look()
  }

  #sent(node: PeerIdString, frame: Uint8Array): void {
    const { next, assign } = decodeFrame(frame) ?? {}
    const told = this.#told.get(node) ?? []
    for (const { manifest } of assign?.leases ?? [])
      if (told.includes(manifestCid(manifest).toString())) this.#sometimes.see('what was brought ahead was leased there')
    if (next === undefined) return
    const bundles = next.manifests.map((manifest) => manifestCid(manifest).toString())
    if (bundles.some((bundle) => !told.includes(bundle))) this.#sometimes.see('content was brought ahead of a lease')
    const asked = this.#asked.get(node) ?? 0
    this.#complaints.expect(bundles.length <= asked, () => `${node} is to bring ${bundles.length} bundles to itself, and asked for ${asked}`)
    if (bundles.length === 0) this.#told.delete(node)
    else this.#told.set(node, bundles)
  }

  #look(): void {
    const runs = new Map<PeerIdString, number>()
    /** Who runs each task that waits, by its bundle: of equal ones several may wait. */
    const waiting = new Map<string, ReadonlySet<PeerIdString>[]>()
    for (const { id, bundle, held, replicas } of this.#open.values()) {
      const live = replicas.filter(({ state }) => LIVE.includes(state))
      for (const { node, granted } of live) if (granted) runs.set(node, (runs.get(node) ?? 0) + 1)
      if (held !== null || this.#held.has(id.slice(0, id.indexOf('.')))) continue
      waiting.set(bundle, [...(waiting.get(bundle) ?? []), new Set(live.map(({ node }) => node))])
    }
    for (const [node, bundles] of this.#told) {
      this.#complaints.expect(
        bundles.length <= (runs.get(node) ?? 0),
        () => `${node} brings ${bundles.length} bundles to itself and runs ${runs.get(node) ?? 0}`
      )
      for (const bundle of bundles) {
        const waits = waiting.get(bundle)?.some((by) => !by.has(node)) === true
        this.#complaints.expect(waits, () => `${node} brings ${bundle} to itself, for which no task waits`)
      }
    }
  }
}
