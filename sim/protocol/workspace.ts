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
}

/** What a machine's folders hold at a path. */
export function textAt({ folders }: Machine, path: string): string {
  const folder = folders.get(replicaIn(path))
  const file = path.split('/')[3]
  return (file === 'stdout' ? folder?.stdout : file === 'stderr' ? folder?.stderr : folder?.out) ?? ''
}

/** Of a place in its content store. */
export function rootIn(path: string): string {
  return path.split('/')[2] ?? ''
}

export function replicaIn(path: string): ReplicaId {
  return path.split('/')[2] ?? ''
}
