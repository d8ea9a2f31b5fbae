/**
 * What the node keeps of ended replicas until the coordinator releases them: their output and logs, served from where they
 * lie. Replicas often leave equal content (equal ids), so each id is counted, and the last one that needs it takes it along.
 */
import type { CID } from 'multiformats/cid'
import { acceptCid, RAW } from '#protocol/content/cid'
import { ContentError, type ContentStore, EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import type { ReplicaId } from '#protocol/ids'
import type { Published } from './agent/events.ts'
import { LOG_BLOCK_BYTES_MAX, OUTPUT_ENTRIES_MAX } from './policy.ts'
import type { Workspace } from './ports.ts'

/** Which of a replica's files a piece of content is. */
const PLACES = ['out', 'stdout', 'stderr'] as const
/** The store remembers so many places of one root, the last ones added; with fewer here none of them is forgotten. */
const PLACES_OF_A_ROOT = 3

const NO_TREE = { cid: EMPTY_DIRECTORY, bytes: 0, over: false }
const NO_LOG = { cid: EMPTY_FILE, bytes: 0 }
/** What a run published that made no folder. */
export const NOTHING_LEFT: Published = { output: EMPTY_DIRECTORY, stdout: EMPTY_FILE, stderr: EMPTY_FILE, bytes: 0, overDisk: false }

interface Need {
  /** The replicas that need it, and where it lies in each. */
  readonly holders: Map<ReplicaId, string>
  /** Holders whose place the store remembers, the last added last. */
  places: ReplicaId[]
}

interface Publishing {
  readonly diskBytes: number
  readonly signal: AbortSignal
  /** Something of it was added. */
  readonly moved?: () => void
}

export class KeptContent {
  readonly #store: ContentStore
  readonly #workspace: Workspace
  readonly #isStocked: (root: string) => boolean
  /** By CID as text. */
  #needed: Map<string, Need> | undefined
  #left: Map<ReplicaId, Set<string>> | undefined

  /** `isStocked`: the tree is kept as data for later runs too. */
  constructor(store: ContentStore, workspace: Workspace, isStocked: (root: string) => boolean) {
    this.#isStocked = isStocked
    this.#store = store
    this.#workspace = workspace
  }

  /** Adds what a run left. The tree is hostile: links and special files are left out, more than `diskBytes` is not kept at all. Throws ContentError. */
  async publish(replica: ReplicaId, options: Publishing): Promise<Published> {
    const { signal } = options
    const folder = this.#workspace.pathOf(replica)
    const names = await this.#workspace.names(replica)
    const out = names.has('out') ? await this.#tree(replica, `${folder}/out`, options) : NO_TREE
    signal.throwIfAborted()
    const stdout = names.has('stdout') ? await this.#log(replica, `${folder}/stdout`, signal) : NO_LOG
    const stderr = names.has('stderr') ? await this.#log(replica, `${folder}/stderr`, signal) : NO_LOG
    return { output: out.cid, stdout: stdout.cid, stderr: stderr.cid, bytes: out.bytes + stdout.bytes + stderr.bytes, overDisk: out.over }
  }

  /** Adds what a run left of itself, in place of what it left before. As hostile as an output. Throws ContentError. */
  async addSnapshot(replica: ReplicaId, path: string, { diskBytes, signal }: Publishing): Promise<{ readonly root: string; readonly bytes: number }> {
    await this.forgetSnapshot(replica)
    const { root, bytes } = await this.#store.addTree(path, { special: 'skip', bytesMax: diskBytes, entriesMax: OUTPUT_ENTRIES_MAX, signal })
    this.#need(root.toString(), snapshotOf(replica), path)
    return { root: root.toString(), bytes }
  }

  async forgetSnapshot(replica: ReplicaId): Promise<void> {
    await this.#forget(snapshotOf(replica))
  }

  /** What an earlier life of the node may have published of a replica, without having come to say so: found by publishing it again. False when there is no room to do so now. */
  async takeUp(replica: ReplicaId, diskBytes = Number.POSITIVE_INFINITY): Promise<boolean> {
    try {
      const signal = new AbortController().signal
      await this.publish(replica, { diskBytes, signal })
      const snapshot = await this.#workspace.takenSnapshot(replica)
      if (snapshot !== undefined) await this.addSnapshot(replica, snapshot, { diskBytes, signal })
      return true
    } catch (error) {
      // What else keeps it from being published now did so then.
      return !(error instanceof ContentError && error.code === 'disk_full')
    }
  }

  /** After a restart: a reported replica still needs these, in the order in which they were published. */
  remember(replica: ReplicaId, content: readonly string[]): void {
    for (const [index, cid] of content.entries()) this.#need(cid, replica, `${this.#workspace.pathOf(replica)}/${PLACES[index] ?? 'out'}`)
  }

  /** The replica's folder has gone. What another replica also left is served from there. */
  async forget(replica: ReplicaId): Promise<void> {
    await this.#forget(replica)
    await this.forgetSnapshot(replica)
  }

  async #forget(replica: ReplicaId): Promise<void> {
    const left = this.#left?.get(replica) ?? []
    this.#left?.delete(replica)
    for (const text of left) {
      const need = this.#needed?.get(text)
      const cid = acceptCid(text)
      if (need?.holders.delete(replica) !== true || cid === undefined) continue
      need.places = need.places.filter((holder) => holder !== replica)
      const [next] = need.holders
      if (next === undefined) {
        this.#needed?.delete(text)
        if (!this.#isStocked(text)) await this.#store.remove(cid)
      } else if (need.places.length === 0) {
        const [holder, path] = next
        need.places = [holder]
        if (!(await this.#isBlock(cid, path))) await this.#store.addTree(path, { special: 'skip', entriesMax: OUTPUT_ENTRIES_MAX })
      }
    }
  }

  /** A fetched tree is not kept any longer; it stays while a replica that was not released left the same. */
  async removeFetched(cid: CID): Promise<void> {
    if (this.#needed?.has(cid.toString()) !== true) await this.#store.remove(cid)
  }

  /** Kept in the store itself: no file is needed to serve it. */
  async #isBlock(cid: CID, path: string): Promise<boolean> {
    return cid.code === RAW && ((await this.#workspace.fileBytes(path)) ?? 0) <= LOG_BLOCK_BYTES_MAX
  }

  async #tree(replica: ReplicaId, path: string, { diskBytes, signal, moved = () => {} }: Publishing): Promise<{ cid: string; bytes: number; over: boolean }> {
    if (await this.#workspace.isEmpty(path)) return NO_TREE
    try {
      const { root, bytes } = await this.#store.addTree(path, {
        special: 'skip',
        bytesMax: diskBytes,
        entriesMax: OUTPUT_ENTRIES_MAX,
        signal,
        onProgress: moved
      })
      this.#need(root.toString(), replica, path)
      return { cid: root.toString(), bytes, over: false }
    } catch (error) {
      if (error instanceof ContentError && error.code === 'too_large') return { cid: EMPTY_DIRECTORY, bytes: 0, over: true }
      throw error
    }
  }

  async #log(replica: ReplicaId, path: string, signal: AbortSignal): Promise<{ cid: string; bytes: number }> {
    const size = await this.#workspace.fileBytes(path)
    if (size === undefined || size === 0) return NO_LOG
    if (size <= LOG_BLOCK_BYTES_MAX) {
      const cid = await this.#store.putBlock(RAW, await this.#workspace.read(path))
      this.#need(cid.toString(), replica, path)
      return { cid: cid.toString(), bytes: size }
    }
    const { root, bytes } = await this.#store.addTree(path, { special: 'skip', signal })
    this.#need(root.toString(), replica, path)
    return { cid: root.toString(), bytes }
  }

  #need(cid: string, replica: ReplicaId, path: string): void {
    if (cid === EMPTY_DIRECTORY || cid === EMPTY_FILE) return
    this.#needed ??= new Map()
    this.#left ??= new Map()
    const need = this.#needed.get(cid) ?? { holders: new Map<ReplicaId, string>(), places: [] }
    need.holders.set(replica, path)
    need.places = [...need.places, replica].slice(-PLACES_OF_A_ROOT)
    this.#needed.set(cid, need)
    const left = this.#left.get(replica) ?? new Set<string>()
    this.#left.set(replica, left.add(cid))
  }
}

/** Whose a run's snapshot is, among those that need content: no replica is called so. */
function snapshotOf(replica: ReplicaId): ReplicaId {
  return `${replica}/snapshot`
}
