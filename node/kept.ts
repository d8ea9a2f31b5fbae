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

export class KeptContent {
  readonly #store: ContentStore
  readonly #workspace: Workspace
  /** CID as text -> the replicas that need it and where it lies in each. */
  readonly #needed = new Map<string, Map<ReplicaId, string>>()

  constructor(store: ContentStore, workspace: Workspace) {
    this.#store = store
    this.#workspace = workspace
  }

  /** Adds what a run left. The tree is hostile: links and special files are left out, more than `diskBytes` is not kept at all. Throws ContentError. */
  async publish(replica: ReplicaId, { diskBytes, signal }: { readonly diskBytes: number; readonly signal: AbortSignal }): Promise<Published> {
    const folder = this.#workspace.pathOf(replica)
    const out = await this.#tree(replica, `${folder}/out`, diskBytes, signal)
    signal.throwIfAborted()
    const stdout = await this.#log(replica, `${folder}/stdout`, signal)
    const stderr = await this.#log(replica, `${folder}/stderr`, signal)
    return { output: out.cid, stdout: stdout.cid, stderr: stderr.cid, bytes: out.bytes + stdout.bytes + stderr.bytes, overDisk: out.over }
  }

  /** After a restart: a reported replica still needs these, in the order in which they were published. */
  remember(replica: ReplicaId, content: readonly string[]): void {
    for (const [index, cid] of content.entries()) this.#need(cid, replica, `${this.#workspace.pathOf(replica)}/${PLACES[index] ?? 'out'}`)
  }

  /** The replica's folder is about to go. What another replica also left is served from there afterwards. */
  async forget(replica: ReplicaId, content: readonly string[]): Promise<void> {
    for (const text of new Set(content)) {
      const holders = this.#needed.get(text)
      if (holders?.delete(replica) !== true) continue
      const cid = acceptCid(text)
      if (cid === undefined) continue
      await this.#store.remove(cid)
      const [next] = holders.values()
      if (next === undefined) this.#needed.delete(text)
      else await this.#again(cid, next)
    }
  }

  async #again(cid: CID, path: string): Promise<void> {
    const bytes = cid.code === RAW ? await this.#workspace.fileBytes(path) : undefined
    if (bytes !== undefined && bytes <= LOG_BLOCK_BYTES_MAX) await this.#store.putBlock(RAW, await this.#workspace.read(path))
    else await this.#store.addTree(path, { special: 'skip', entriesMax: OUTPUT_ENTRIES_MAX })
  }

  async #tree(replica: ReplicaId, path: string, bytesMax: number, signal: AbortSignal): Promise<{ cid: string; bytes: number; over: boolean }> {
    if (await this.#workspace.isEmpty(path)) return { cid: EMPTY_DIRECTORY, bytes: 0, over: false }
    try {
      const { root, bytes } = await this.#store.addTree(path, { special: 'skip', bytesMax, entriesMax: OUTPUT_ENTRIES_MAX, signal })
      this.#need(root.toString(), replica, path)
      return { cid: root.toString(), bytes, over: false }
    } catch (error) {
      if (error instanceof ContentError && error.code === 'too_large') return { cid: EMPTY_DIRECTORY, bytes: 0, over: true }
      throw error
    }
  }

  async #log(replica: ReplicaId, path: string, signal: AbortSignal): Promise<{ cid: string; bytes: number }> {
    const size = await this.#workspace.fileBytes(path)
    if (size === undefined || size === 0) return { cid: EMPTY_FILE, bytes: 0 }
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
    const holders = this.#needed.get(cid) ?? new Map<ReplicaId, string>()
    holders.set(replica, path)
    this.#needed.set(cid, holders)
  }
}
