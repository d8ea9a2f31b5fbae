/** The replicas a node holds, counted by what the agent asks about most, and which of them have changed since the last commit. */
import type { ReplicaId } from '#protocol/ids'
import { decodeResult } from '#protocol/result/result'
import type { Figure } from '../progress-file.ts'
import type { Change, CheckedLease, Replica } from './events.ts'
import { FIGURE_AGAIN_MS, PROGRESS_AFTER_MS, PROGRESS_AGAIN_MS } from './policy.ts'
import { decodeReplica, encodeReplica, REPLICA_PREFIX } from './records.ts'

interface Held {
  /** Of its record. */
  readonly key: string
  /** Undefined when it is gone. */
  replica: Replica | undefined
  sinceMs: number
  /** When the coordinator was told of this phase last; undefined when it was not. */
  toldMs: number | undefined
  /** Something of it moved since. */
  moved: boolean
  /** How far its run says that it is, until the coordinator was told. */
  figure: Figure | undefined
  /** What it was told last. */
  figureTold: Figure | undefined
}

type Here = Held & { readonly replica: Replica }

/** How far a replica is. */
interface Progress {
  readonly replica: ReplicaId
  readonly state: 'preparing' | 'running' | 'uploading'
  /** Of one that runs. */
  readonly figure?: Figure
}

export class Holdings {
  #held: Map<ReplicaId, Here> | undefined
  #ready: Map<ReplicaId, CheckedLease> | undefined
  /** In the order of their first change. */
  #dirty: Set<Held> | undefined
  #busy = 0
  #kept = 0
  #saving = 0
  /** Looked up last: who changes a replica has just asked for it. */
  #lastId: ReplicaId = ''
  #last: Here | undefined

  get size(): number {
    return this.#held?.size ?? 0
  }
  /** Replicas that take a slot: asked for, running, or being ended. */
  get busy(): number {
    return this.#busy
  }
  /** Replicas that only wait to be released. */
  get kept(): number {
    return this.#kept
  }
  /** Replicas that have ended and wait for the project to take what they left of themselves. */
  get saving(): number {
    return this.#saving
  }
  /** Replicas that are prepared and were not asked for. */
  get readyCount(): number {
    return this.#ready?.size ?? 0
  }

  get(id: ReplicaId): Replica | undefined {
    return this.#find(id)?.replica
  }

  /** Bytes of its inputs came, or of its output were added. */
  moved(id: ReplicaId): void {
    const held = this.#find(id)
    if (held !== undefined) held.moved = true
  }

  figure(id: ReplicaId, figure: Figure): void {
    const held = this.#find(id)
    if (held?.replica.phase === 'running') held.figure = figure
  }

  /** A coordinator that was started again knows nothing of what it was told. */
  untold(): void {
    for (const held of this.#held?.values() ?? []) {
      held.toldMs = undefined
      held.figure ??= held.figureTold
    }
  }

  /** What the coordinator is to be told, and counts as told: figures of runs; and of what takes long before a run or after it, that it goes on. */
  *progress(nowMs: number): Generator<Progress> {
    for (const [replica, held] of this.entries()) {
      const { toldMs, figure, sinceMs, moved } = held
      const { phase } = held.replica
      if (figure !== undefined && (toldMs === undefined || nowMs - toldMs >= FIGURE_AGAIN_MS)) {
        held.toldMs = nowMs
        held.figureTold = figure
        held.figure = undefined
        yield { replica, state: 'running', figure }
      }
      if ((phase !== 'preparing' && phase !== 'publishing') || nowMs - sinceMs < PROGRESS_AFTER_MS) continue
      if (toldMs !== undefined && (!moved || nowMs - toldMs < PROGRESS_AGAIN_MS)) continue
      held.toldMs = nowMs
      held.moved = false
      yield { replica, state: phase === 'preparing' ? 'preparing' : 'uploading' }
    }
  }

  /** Something that is being ended may leave what another goes on from, or has left it. */
  leavesSnapshots(): boolean {
    for (const { replica } of this.#held?.values() ?? [])
      if (replica.phase === 'saving' || (replica.phase === 'killing' && replica.fault !== null && replica.lease.checkpoint !== undefined)) return true
    return false
  }

  ids(): ReplicaId[] {
    return [...(this.#held?.keys() ?? [])]
  }

  *entries(): Generator<readonly [ReplicaId, Here]> {
    if (this.#held !== undefined) yield* this.#held
  }

  /** The oldest prepared leases that were not asked for. */
  ready(count: number): CheckedLease[] {
    const oldest: CheckedLease[] = []
    for (const lease of this.#ready?.values() ?? []) {
      if (oldest.length >= count) break
      oldest.push(lease)
    }
    return oldest
  }

  /** One that is not held yet. */
  add(id: ReplicaId, replica: Replica, nowMs: number): void {
    const made = { key: REPLICA_PREFIX + id, replica, sinceMs: nowMs, toldMs: undefined, moved: false, figure: undefined, figureTold: undefined }
    this.#held ??= new Map()
    this.#held.set(id, made)
    this.#lastId = id
    this.#last = made
    this.#note(made, replica)
    this.#count(id, replica, 1)
  }

  /** Another phase of one that is held. */
  set(id: ReplicaId, replica: Replica, nowMs: number): void {
    const held: Held | undefined = this.#find(id)
    if (held?.replica === undefined) throw new Error(`${id} is not held`)
    this.#count(id, held.replica, -1)
    held.replica = replica
    held.sinceMs = nowMs
    held.toldMs = undefined
    held.moved = false
    held.figure = undefined
    held.figureTold = undefined
    this.#note(held, replica)
    this.#count(id, replica, 1)
  }

  /** After a restart: what it reported of a replica that it still has. Nobody is shown what its owner ended. */
  said(body: Uint8Array): void {
    const result = decodeResult(body)
    const held: Held | undefined = result === undefined || result.reason === 'killed' ? undefined : this.#held?.get(result.replica)
    if (held?.replica?.phase === 'reported' && held.replica.sealed === undefined) held.replica = { ...held.replica, body }
  }

  delete(id: ReplicaId): void {
    const held: Held | undefined = this.#find(id)
    if (held?.replica === undefined) return
    this.#count(id, held.replica, -1)
    this.#held?.delete(id)
    this.#lastId = ''
    this.#last = undefined
    held.replica = undefined
    this.#changed(held)
  }

  /** From its durable record; throws when it is damaged. */
  restore(key: string, value: Uint8Array, nowMs: number): { readonly id: ReplicaId; readonly replica: Replica } {
    const id = key.slice(REPLICA_PREFIX.length)
    const replica = decodeReplica(id, value)
    this.add(id, replica, nowMs)
    this.#dirty = undefined
    return { id, replica }
  }

  takeChanges(): Change[] {
    const changes: Change[] = []
    for (const { key, replica } of this.#dirty ?? []) changes.push({ key, value: replica === undefined ? null : encodeReplica(replica) })
    this.#dirty = undefined
    return changes
  }

  #find(id: ReplicaId): Here | undefined {
    if (this.#held === undefined) return undefined
    if (id !== this.#lastId) {
      this.#last = this.#held.get(id)
      this.#lastId = id
    }
    return this.#last
  }

  #note(held: Held, replica: Replica): void {
    if (needsRecord(replica)) this.#changed(held)
  }

  #changed(held: Held): void {
    this.#dirty ??= new Set()
    this.#dirty.add(held)
  }

  #count(id: ReplicaId, replica: Replica, by: 1 | -1): void {
    switch (replica.phase) {
      case 'ready':
        this.#ready ??= new Map()
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
      case 'saving':
        this.#saving += by
        break
      default:
        this.#busy += by
    }
  }
}

function needsRecord(replica: Replica): boolean {
  return replica.phase !== 'publishing' || replica.ended.reason !== 'exit' || replica.ended.exitCode !== 0
}
