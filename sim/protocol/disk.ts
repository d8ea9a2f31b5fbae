/** A node's store on its machine's disk, page by page as in production; what is found there at its start is compared with what was written. */
import type { Change } from '#node/agent/events'
import { openPages, type PageStore } from '#node/pages'
import type { NodeStore } from '#node/ports'
import type { Process } from '../engine/process.ts'
import type { Machine } from './machine.ts'

/** Whose store it is: told of each batch once it is on disk, and when what is found is not what was written. */
export interface DiskOwner {
  readonly machine: Machine
  readonly process: Process
  onWritten(changes: readonly Change[]): void
  onDamage(what: string): void
}

export async function openDisk(owner: DiskOwner): Promise<NodeStore> {
  const disk = new Disk(owner)
  disk.pages = await openPages(disk)
  await disk.check()
  return disk
}

class Disk implements NodeStore, PageStore {
  pages: NodeStore | undefined
  readonly #owner: DiskOwner
  /** What the next pages stand for, in order. */
  #asked: readonly (readonly Change[])[] = NOTHING

  constructor(owner: DiskOwner) {
    this.#owner = owner
  }

  batch(changes: readonly Change[]): Promise<void> {
    this.#asked = [...this.#asked, changes]
    return this.#open.batch(changes)
  }

  range(prefix: string): AsyncIterable<readonly [string, Uint8Array]> {
    return this.#open.range(prefix)
  }

  close(): Promise<void> {
    return this.#open.close()
  }

  // What the pages ask of the disk.

  write(put: { readonly key: string; readonly value: Uint8Array } | undefined, deleted: readonly string[]): Promise<void> {
    const [changes = [], ...later] = this.#asked
    this.#asked = later.length === 0 ? NOTHING : later
    const { machine, process } = this.#owner
    return machine.write(process, { put, deleted, changes, onApplied: (written) => this.#owner.onWritten(written) })
  }

  async *all(): AsyncGenerator<readonly [string, Uint8Array]> {
    const { machine } = this.#owner
    for (const key of machine.pages) {
      const value = machine.pageOf(key)
      if (value !== undefined) yield [key, value]
    }
  }

  async get(key: string): Promise<Uint8Array | undefined> {
    return this.#owner.machine.pageOf(key)
  }

  /** [11] */
  async check(): Promise<void> {
    const { machine } = this.#owner
    const found = new Map<string, Uint8Array>()
    for await (const [key, value] of this.range('')) found.set(key, value)
    const key = [...found.keys(), ...machine.recordKeys].find((one) => !isSame(found.get(one), machine.recordOf(one)))
    if (key !== undefined) this.#owner.onDamage(`${key} of ${machine.name} is not on its disk as it was written`)
  }

  get #open(): NodeStore {
    if (this.pages === undefined) throw new Error('the store is not open yet')
    return this.pages
  }
}

const NOTHING: readonly (readonly Change[])[] = []

function isSame(a: Uint8Array | undefined, b: Uint8Array | undefined): boolean {
  return a !== undefined && b !== undefined && Buffer.compare(a, b) === 0
}
