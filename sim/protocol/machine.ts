/**
 * A volunteer's machine: what outlives its node's process. Its disk, its containers and the folders they write; and how all
 * of that misbehaves. The process sees it through the ports `NodeStore`, `Workspace`, `Executor` (executor.ts) and `ContentStore`.
 */

import type { CID } from 'multiformats/cid'
import type { Change } from '#node/agent/events'
import { decodeReplica, REPLICA_PREFIX } from '#node/agent/records'
import type { NodeStore, Workspace } from '#node/ports'
import { SmallMap, SmallSet } from '#node/small-map'
import { manifestCid } from '#protocol/bundle/manifest'
import type { ReplicaId } from '#protocol/ids'
import type { Engine } from '../engine/engine.ts'
import { type Process, RIGHT, type Skew } from '../engine/process.ts'
import type { Random } from '../random.ts'
import { openDisk } from './disk.ts'
import type { Container } from './executor.ts'
import type { Path } from './lane.ts'
import { type Pace, USUAL_PACE } from './pace.ts'
import { Roots } from './roots.ts'
import type { Tear } from './tear.ts'
import { idOf, type Outcome } from './truth.ts'
import { SimWorkspace } from './workspace.ts'

export interface PageWrite {
  readonly put: { readonly key: string; readonly value: Uint8Array } | undefined
  readonly deleted: readonly string[]
  /** What the page stands for. */
  readonly changes: readonly Change[]
  readonly onApplied: (changes: readonly Change[]) => void
}

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
  /** Outputs that are handed over are not what was asked for, or inputs that come are not. */
  corruptOutput: boolean
  corruptInput: boolean
  /** Its process is killed when it has put something into its content store, before it can say so. */
  crashAtPublish: (() => void) | undefined
}

const NO_FAULTS: Readonly<MachineFaults> = {
  diskSlowMs: 0,
  diskFull: false,
  diskErrors: 0,
  engineHung: false,
  engineDown: false,
  runsBreak: 0,
  withholds: false,
  noInput: false,
  contentFull: false,
  corruptOutput: false,
  corruptInput: false,
  crashAtPublish: undefined
}

const names = new Map<string, string>()

interface Write {
  apply(): void
}

export interface MachinePorts {
  readonly engine: Engine
  readonly random: Random
  readonly path: Path
  readonly pace?: Pace
}

/** What runs left on a machine, or leave while they run. */
class Left {
  readonly containers = new SmallMap<ReplicaId, Container>()
  readonly folders = new SmallMap<ReplicaId, Outcome>()
  /** Snapshots that runs left: the newest, and the one that the node took; texts. */
  readonly snapshots = new SmallMap<ReplicaId, { readonly next: string; readonly taken: string }>()
  readonly content: Roots
  readonly kept = new SmallSet<string>()
  readonly strays = new SmallSet<string>()

  constructor(engine: Engine) {
    this.content = new Roots(engine)
  }

  wipe(): void {
    for (const container of this.containers.values()) container.vanish()
    for (const left of [this.containers, this.folders, this.snapshots, this.content, this.kept, this.strays]) left.clear()
  }
}

export class Machine {
  readonly name: string
  readonly engine: Engine
  readonly random: Random
  readonly path: Path
  readonly pace: Pace
  skew: Skew = RIGHT
  #faults: MachineFaults | undefined
  /** The node's records as they were written last, and the pages on its disk that hold them: bytes as text, which takes half the room. */
  readonly #records = new SmallMap<string, string>()
  readonly #entries = new SmallMap<string, string>()
  #left: Left | undefined
  /** How often it was switched on. */
  boots = 1
  /** Its disk has lied. */
  damaged = false
  /** Writes that are on their way to the disk. */
  #writes: Set<Write> | undefined

  constructor(name: string, { engine, random, path, pace = USUAL_PACE }: MachinePorts) {
    this.name = name
    this.engine = engine
    this.random = random
    this.path = path
    this.pace = pace
  }

  get containers(): SmallMap<ReplicaId, Container> {
    return this.#leavings.containers
  }

  get folders(): SmallMap<ReplicaId, Outcome> {
    return this.#leavings.folders
  }

  get snapshots(): SmallMap<ReplicaId, { readonly next: string; readonly taken: string }> {
    return this.#leavings.snapshots
  }

  /** Roots that the content store holds. */
  get content(): Roots {
    return this.#leavings.content
  }

  /** Roots of files that a power cut tore: a life that published them, and did not come to say so, cannot be cleaned up after. Some rows of an index are lost with each. */
  get strays(): SmallSet<string> {
    return this.#leavings.strays
  }

  /** Roots that it keeps for others. */
  get kept(): SmallSet<string> {
    return this.#leavings.kept
  }

  get #leavings(): Left {
    this.#left ??= new Left(this.engine)
    return this.#left
  }

  /** What runs, and what runs left; nothing is made for those that never ran anything. */
  get replicas(): { readonly containers: readonly ReplicaId[]; readonly folders: readonly ReplicaId[] } {
    return { containers: this.#left?.containers.keys() ?? [], folders: this.#left?.folders.keys() ?? [] }
  }

  /** What is the matter with it. */
  get faults(): Readonly<MachineFaults> {
    return this.#faults ?? NO_FAULTS
  }

  /** The same, to be changed. */
  get trouble(): MachineFaults {
    this.#faults ??= { ...NO_FAULTS }
    return this.#faults
  }

  /** One of the node's records as it is on disk. */
  recordOf(key: string): Uint8Array | undefined {
    const text = this.#records.get(key)
    return text === undefined ? undefined : bytesOf(text)
  }

  /** Its process ends: of the writes that are on their way the first are on disk, the last of those as a whole: a log whose tail is torn ends before it. */
  crash(): void {
    const writes = [...(this.#writes ?? [])]
    for (const write of writes.slice(0, this.random.below(writes.length + 1))) write.apply()
    this.#writes = undefined
  }

  /** It stands without power: what ran is gone, and what was written of late without waiting for the disk is torn. */
  losePower(tear: Tear): void {
    this.boots++
    const left = this.#left
    if (left === undefined) return
    for (const [replica, container] of left.containers) {
      const outcome = left.folders.get(replica)
      if (outcome !== undefined && container.wroteAfter(this.engine.nowMs - tear.unsyncedMs)) {
        left.folders.set(replica, tear.outcome(outcome))
        for (const text of [outcome.out, outcome.stdout, outcome.stderr]) left.strays.add(idOf(text).toString())
      }
      container.powerless()
    }
    left.content.losePower(tear)
  }

  /** A bit of what its disk holds of the node's records flips. */
  flip(amount: number): void {
    const key = this.pages[amount % Math.max(1, this.pages.length)]
    const page = key === undefined ? undefined : this.pageOf(key)
    if (key === undefined || page === undefined || page.length === 0) return
    const at = amount % page.length
    page[at] = (page[at] ?? 0) ^ (1 << (amount % 8))
    this.#entries.set(key, textOf(page))
    this.damaged = true
  }

  /** A new disk: nothing is left. */
  wipe(): void {
    this.damaged = false
    this.#records.clear()
    this.#entries.clear()
    this.#left?.wipe()
  }

  /** Resolves when the page is on disk, and so are the changes that it stands for. */
  write(process: Process, page: PageWrite): Promise<void> {
    if (!process.alive) return new Promise(() => undefined)
    const { faults } = this
    if (faults.diskErrors > 0 || faults.diskFull) {
      if (faults.diskErrors > 0) this.trouble.diskErrors--
      return process.later(1, () => {
        throw new Error(faults.diskFull ? 'no space left on device' : 'input/output error')
      })
    }
    const write: Write = { apply: () => this.#apply(page) }
    this.#writes ??= new Set()
    this.#writes.add(write)
    return new Promise((resolve) => {
      this.engine.after(this.pace.nodeWriteMs(this.random) + faults.diskSlowMs, () => {
        if (this.#writes?.delete(write) !== true) return
        if (this.#writes.size === 0) this.#writes = undefined
        write.apply()
        process.enter(resolve)
      })
    })
  }

  /** The node's store on this disk. `onWritten` is told of each batch once it is there, `onDamage` when what is found is not what was written. */
  store(process: Process, onWritten: (changes: readonly Change[]) => void, onDamage: (what: string) => void): Promise<NodeStore> {
    return openDisk({ machine: this, process, onWritten, onDamage })
  }

  workspace(): Workspace {
    return new SimWorkspace(this)
  }

  /** A page on its disk. */
  pageOf(key: string): Uint8Array | undefined {
    const text = this.#entries.get(key)
    return text === undefined ? undefined : bytesOf(text)
  }

  get pages(): readonly string[] {
    return this.#entries.keys().sort()
  }

  get recordKeys(): readonly string[] {
    return this.#records.keys()
  }

  #apply({ put, deleted, changes, onApplied }: PageWrite): void {
    if (put !== undefined) this.#entries.set(nameOf(put.key), textOf(put.value))
    for (const key of deleted) this.#entries.delete(key)
    for (const { key, value } of changes) {
      if (value === null) this.#records.delete(key)
      else this.#records.set(key, textOf(value))
    }
    onApplied(changes)
  }

  /** What its disk says that it holds and has not reported. */
  leases(): { readonly replica: ReplicaId; readonly bundle: CID }[] {
    const leases: { readonly replica: ReplicaId; readonly bundle: CID }[] = []
    for (const [key, value] of this.#records) {
      if (!key.startsWith(REPLICA_PREFIX)) continue
      const replica = decodeReplica(key.slice(REPLICA_PREFIX.length), bytesOf(value))
      if (replica.phase !== 'reported') leases.push({ replica: replica.lease.replica, bundle: manifestCid(replica.lease.bytes) })
    }
    return leases
  }
}

/** The pages of all machines have the same names: one string for each. */
function nameOf(page: string): string {
  const known = names.get(page)
  if (known !== undefined) return known
  names.set(page, page)
  return page
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
}

function bytesOf(text: string): Uint8Array {
  return Buffer.from(text, 'latin1')
}
