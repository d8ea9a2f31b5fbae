/**
 * Carries out the core's wish to hold snapshots of runs: fetched from their nodes, verified, bounded; dropped when nobody goes on
 * from them any more. What is fetched is noted first (`checkpoint/<cid>`), so that what a dead server left behind is found by the
 * next. Whatever concerns one root is done one after the other: equal snapshots of several runs are one tree.
 */
import { CID } from 'multiformats/cid'
import type { ContentStore } from '#protocol/content/content'
import type { ReplicaId } from '#protocol/ids'
import type { Host } from '#protocol/peer/host'
import type { Committer } from './commit.ts'
import type { Effect, Event } from './coordinator/events.ts'
import { fetchFrom, reason } from './fetch.ts'
import type { Logger } from './logger.ts'
import { CHECKPOINTS_AT_ONCE, PULL_SILENCE_MS_MAX } from './policy.ts'
import type { Clock, Store } from './ports.ts'

type Save = Extract<Effect, { kind: 'save' }>

export interface CheckpointsPorts {
  readonly content: Pick<ContentStore, 'fetch' | 'check' | 'drop' | 'sizeOf'>
  readonly host: Host
  readonly clock: Clock
  readonly logger: Logger
  readonly committer: Pick<Committer, 'write'>
  /** The core goes on from it, or may. */
  readonly keeps: (root: string) => boolean
  readonly done: (event: Extract<Event, { kind: 'saved' }>) => void
}

const NOTE = 'checkpoint/'
const NOTHING = new Uint8Array(0)

export class Checkpoints {
  readonly #ports: CheckpointsPorts
  /** The newest of each run. */
  readonly #waiting = new Map<ReplicaId, Save>()
  readonly #running = new Map<ReplicaId, Promise<void>>()
  /** By root, what is being done about it. */
  readonly #line = new Map<string, Promise<void>>()
  readonly #stop = new AbortController()

  constructor(ports: CheckpointsPorts) {
    this.#ports = ports
  }

  /** Drops what the last server fetched and nobody goes on from. */
  async begin(store: Pick<Store, 'range'>): Promise<void> {
    const left: string[] = []
    for await (const [key] of store.range(NOTE, `${NOTE.slice(0, -1)}0`)) if (!this.#ports.keeps(key.slice(NOTE.length))) left.push(key.slice(NOTE.length))
    for (const root of left) await this.#drop(root)
  }

  save(effect: Save): void {
    this.#waiting.set(effect.replica, effect)
    this.#next()
  }

  unsave(root: string): void {
    void this.#inLine(root, () => this.#drop(root))
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the project server stops'))
    this.#waiting.clear()
    await Promise.all([...this.#running.values(), ...this.#line.values()])
  }

  #next(): void {
    for (const [replica, effect] of this.#waiting) {
      if (this.#running.size >= CHECKPOINTS_AT_ONCE || this.#stop.signal.aborted) return
      if (this.#running.has(replica)) continue
      this.#waiting.delete(replica)
      const run = this.#inLine(effect.root, () => this.#save(effect)).finally(() => {
        this.#running.delete(replica)
        this.#next()
      })
      this.#running.set(replica, run)
    }
  }

  /** Told in line, too: what is dropped next is looked at when the core knows of this. */
  async #save({ replica, node, root, bytesMax }: Save): Promise<void> {
    const { content, logger, done } = this.#ports
    const { signal } = this.#stop
    let ok = false
    try {
      const cid = CID.parse(root)
      await this.#ports.committer.write([{ key: NOTE + root, value: NOTHING }])
      if (!(await content.check(cid))) await fetchFrom(node, cid, this.#ports, { pin: false, bytesMax, silenceMsMax: PULL_SILENCE_MS_MAX, signal })
      ok = true
    } catch (error) {
      logger.warn({ replica, node, reason: reason(error) }, 'a checkpoint could not be fetched')
    }
    if (!signal.aborted) done({ kind: 'saved', replica, node, root, ok, bytes: ok ? (content.sizeOf(CID.parse(root)) ?? 0) : 0 })
  }

  async #drop(root: string): Promise<void> {
    const { content, committer, keeps, logger } = this.#ports
    if (keeps(root) || this.#stop.signal.aborted) return
    try {
      await content.drop(CID.parse(root))
      await committer.write([{ key: NOTE + root, value: null }])
    } catch (error) {
      // Its note is left, and the next start drops it.
      logger.warn({ root, reason: reason(error) }, 'a checkpoint is not dropped yet')
    }
  }

  #inLine(root: string, work: () => Promise<void>): Promise<void> {
    const over = (this.#line.get(root) ?? Promise.resolve()).then(work).finally(() => {
      if (this.#line.get(root) === over) this.#line.delete(root)
    })
    this.#line.set(root, over)
    return over
  }
}
