/** The folders of a machine's runs, as its node sees them. */
import type { Workspace } from '#node/ports'
import type { ReplicaId } from '#protocol/ids'
import type { Machine } from './machine.ts'

const NAMES: ReadonlySet<string> = new Set(['out', 'stdout', 'stderr'])
const NONE: ReadonlySet<string> = new Set()

export class SimWorkspace implements Workspace {
  readonly #machine: Machine

  constructor(machine: Machine) {
    this.#machine = machine
  }

  pathOf(replica: ReplicaId): string {
    return `/run/${replica}`
  }

  async remove(replica: ReplicaId): Promise<void> {
    this.#machine.folders.delete(replica)
    this.#machine.snapshots.delete(replica)
  }

  async all(): Promise<readonly ReplicaId[]> {
    return this.#machine.replicas.folders
  }

  async names(replica: ReplicaId): Promise<ReadonlySet<string>> {
    return this.#machine.folders.has(replica) ? NAMES : NONE
  }

  async fileBytes(path: string): Promise<number | undefined> {
    return this.#machine.folders.has(replicaIn(path)) ? textAt(this.#machine, path).length : undefined
  }

  async isEmpty(path: string): Promise<boolean> {
    return textAt(this.#machine, path) === ''
  }

  async read(path: string): Promise<Uint8Array> {
    return new TextEncoder().encode(textAt(this.#machine, path))
  }

  async progress(): Promise<undefined> {
    return undefined
  }

  async takeSnapshot(replica: ReplicaId, replaces: () => Promise<void>): Promise<string | undefined> {
    if ((this.#machine.snapshots.get(replica)?.next ?? '') === '') return undefined
    await replaces()
    const { next = '' } = this.#machine.snapshots.get(replica) ?? {}
    if (next === '') return undefined
    this.#machine.snapshots.set(replica, { next: '', taken: next })
    return `/run/${replica}/snapshot`
  }

  async takenSnapshot(replica: ReplicaId): Promise<string | undefined> {
    return (this.#machine.snapshots.get(replica)?.taken ?? '') === '' ? undefined : `/run/${replica}/snapshot`
  }

  async dropSnapshots(replica: ReplicaId): Promise<void> {
    this.#machine.snapshots.delete(replica)
  }
}

/** What a machine's folders hold at a path. */
export function textAt({ folders, snapshots }: Machine, path: string): string {
  const file = path.split('/')[3]
  if (file === 'snapshot') return snapshots.get(replicaIn(path))?.taken ?? ''
  const folder = folders.get(replicaIn(path))
  return (file === 'stdout' ? folder?.stdout : file === 'stderr' ? folder?.stderr : folder?.out) ?? ''
}

/** Of a place in its content store. */
export function rootIn(path: string): string {
  return path.split('/')[2] ?? ''
}

export function replicaIn(path: string): ReplicaId {
  return path.split('/')[2] ?? ''
}
