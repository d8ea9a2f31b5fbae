/**
 * A volunteer's machine: what outlives its node's process. Its disk, its containers and the folders they write; and how all
 * of that misbehaves. The process sees it through the ports `NodeStore`, `Workspace`, `Executor` (executor.ts) and `ContentStore`.
 */

import type { CID } from 'multiformats/cid'
import type { Change } from '#node/agent/events'
import { decodeReplica, REPLICA_PREFIX } from '#node/agent/records'
import { openPages } from '#node/pages'
import type { NodeStore, Workspace } from '#node/ports'
import { manifestCid } from '#protocol/bundle/manifest'
import type { ReplicaId } from '#protocol/ids'
import type { Engine } from '../engine/engine.ts'
import type { Process, Skew } from '../engine/process.ts'
import type { Random } from '../random.ts'
import type { Container } from './executor.ts'
import type { Path } from './lane.ts'
import { type Pace, USUAL_PACE } from './pace.ts'
import type { Outcome } from './truth.ts'

/** What faults change while they last. */
export interface MachineFaults {
  /** Added to every write. */
  diskSlowMs: number
  diskFull: boolean
  /** The next write fails. */
  diskErrors: number
  /** Nothing that the engine is asked answers. */
  engineHung: boolean
  engineDown: boolean
  /** Of the runs that are started, so many break: their share. */
  runsBreak: number
  /** Outputs are not handed over. */
  withholds: boolean
  /** Inputs cannot be fetched. */
  noInput: boolean
  /** Nothing can be published. */
  contentFull: boolean
}

export class Machine {
  readonly name: string
  readonly engine: Engine
  readonly random: Random
  readonly path: Path
  readonly pace: Pace
  readonly skew: Skew = { offsetMs: 0, perMille: 1000 }
  readonly faults: MachineFaults = {
    diskSlowMs: 0,
    diskFull: false,
    diskErrors: 0,
    engineHung: false,
    engineDown: false,
    runsBreak: 0,
    withholds: false,
    noInput: false,
    contentFull: false
  }
  /** The node's records as they are on disk. */
  records = new Map<string, Uint8Array>()
  /** What holds them there. */
  #entries = new Map<string, Uint8Array>()
  readonly containers = new Map<ReplicaId, Container>()
  readonly folders = new Map<ReplicaId, Outcome>()
  /** Roots that the content store holds. */
  readonly content = new Set<string>()
  /** Writes that are on their way to the disk. */
  readonly #writes = new Set<{ apply(): void }>()

  constructor(name: string, ports: { readonly engine: Engine; readonly random: Random; readonly path: Path; readonly pace?: Pace }) {
    this.name = name
    this.engine = ports.engine
    this.random = ports.random
    this.path = ports.path
    this.pace = ports.pace ?? USUAL_PACE
  }

  /** Its process ends: a write that is on its way is on disk as a whole, or not at all. */
  crash(): void {
    for (const write of this.#writes) if (this.random.chance(0.5)) write.apply()
    this.#writes.clear()
  }

  /** A new disk: nothing is left. */
  wipe(): void {
    this.records = new Map()
    this.#entries = new Map()
    for (const container of this.containers.values()) container.vanish()
    this.containers.clear()
    this.folders.clear()
    this.content.clear()
  }

  /** The node's store, whose entries are on this disk. `onWritten` is told of each batch once it is, `onDamage` when what is found is not what was written. */
  async store(process: Process, onWritten: (changes: readonly Change[]) => void, onDamage: (what: string) => void): Promise<NodeStore> {
    /** Batches that were asked for and are not written yet: one entry each, in order. */
    const asked: (readonly Change[])[] = []
    const written = (): void => {
      const changes = asked.shift() ?? []
      for (const { key, value } of changes) {
        if (value === null) this.records.delete(key)
        else this.records.set(key, value)
      }
      onWritten(changes)
    }
    const pages = await openPages({
      write: (put, deleted) =>
        this.#write(process, () => {
          if (put !== undefined) this.#entries.set(put.key, put.value)
          for (const key of deleted) this.#entries.delete(key)
          written()
        }),
      all: () => this.#all(),
      get: async (key) => this.#entries.get(key),
      close: async () => undefined
    })
    const found = new Map<string, Uint8Array>()
    for await (const [key, value] of pages.range('')) found.set(key, value)
    const key = [...found.keys(), ...this.records.keys()].find((one) => !isSame(found.get(one), this.records.get(one)))
    if (key !== undefined) onDamage(`${key} of ${this.name} is not on its disk as it was written`)
    return {
      batch: (changes) => {
        asked.push(changes)
        return pages.batch(changes)
      },
      range: (prefix) => pages.range(prefix),
      close: () => pages.close()
    }
  }

  #write(process: Process, apply: () => void): Promise<void> {
    if (!process.alive) return new Promise(() => undefined)
    const { faults } = this
    if (faults.diskErrors > 0 || faults.diskFull) {
      if (faults.diskErrors > 0) faults.diskErrors--
      return process.later(1, () => {
        throw new Error(faults.diskFull ? 'no space left on device' : 'input/output error')
      })
    }
    const write = { apply }
    this.#writes.add(write)
    return new Promise((resolve) => {
      this.engine.after(this.pace.nodeWriteMs(this.random) + faults.diskSlowMs, () => {
        if (!this.#writes.delete(write)) return
        write.apply()
        process.enter(resolve)
      })
    })
  }

  async *#all(): AsyncGenerator<readonly [string, Uint8Array]> {
    for (const key of [...this.#entries.keys()].sort()) {
      const value = this.#entries.get(key)
      if (value !== undefined) yield [key, value]
    }
  }

  /** What its disk says that it holds and has not reported. */
  leases(): { readonly replica: ReplicaId; readonly bundle: CID }[] {
    const leases: { readonly replica: ReplicaId; readonly bundle: CID }[] = []
    for (const [key, value] of this.records) {
      if (!key.startsWith(REPLICA_PREFIX)) continue
      const replica = decodeReplica(key.slice(REPLICA_PREFIX.length), value)
      if (replica.phase !== 'reported') leases.push({ replica: replica.lease.replica, bundle: manifestCid(replica.lease.bytes) })
    }
    return leases
  }

  workspace(): Workspace {
    const folderOf = (path: string): Outcome | undefined => this.folders.get(path.split('/')[2] ?? '')
    const textOf = (path: string): string => {
      const folder = folderOf(path)
      const file = path.split('/')[3]
      return (file === 'stdout' ? folder?.stdout : file === 'stderr' ? folder?.stderr : folder?.out) ?? ''
    }
    return {
      pathOf: (replica) => `/run/${replica}`,
      remove: async (replica) => {
        this.folders.delete(replica)
      },
      sweep: async (keep) => {
        for (const replica of [...this.folders.keys()]) if (!keep.has(replica)) this.folders.delete(replica)
      },
      names: async (replica) => new Set(this.folders.has(replica) ? ['out', 'stdout', 'stderr'] : []),
      fileBytes: async (path) => (folderOf(path) === undefined ? undefined : textOf(path).length),
      isEmpty: async (path) => textOf(path) === '',
      read: async (path) => new TextEncoder().encode(textOf(path))
    }
  }
}

function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a !== undefined && b !== undefined && Buffer.compare(a, b) === 0
}
