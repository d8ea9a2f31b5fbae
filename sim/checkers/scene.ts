/** What a world shows to those who look at it, whatever its machines and its network are made of. */
import type { NodeService } from '#node/service'
import type { CoordinatorPolicy } from '#project-server/coordinator/policy'
import type { PeerIdString } from '#protocol/ids'
import type { Machine } from '../protocol/machine.ts'
import type { Speaker } from '../protocol/witness.ts'
import type { Sometimes } from '../sometimes.ts'
import type { MemoryStore } from '../store.ts'

export interface SceneNode {
  readonly id: PeerIdString
  readonly machine: Machine
  readonly service: Pick<NodeService, 'view'> | undefined
  /** It was never there. */
  readonly absent: boolean
  /** How often it was started. */
  readonly lives: number
}

export interface Scene {
  readonly sometimes: Sometimes
  /** Of the project. */
  readonly policy: CoordinatorPolicy
  readonly engine: { readonly nowMs: number }
  /** The server's. */
  readonly disk: { readonly records: MemoryStore }
  /** Content that the project holds. */
  readonly roots: ReadonlySet<string>
  readonly project: Speaker
  readonly network: { readonly server: Speaker | undefined }
  readonly owner: { readonly waiting: number }
  readonly nodes: readonly SceneNode[]
  nodeOf(peer: PeerIdString): SceneNode | undefined
  isNode(peer: PeerIdString): boolean
  /** Whether the server hears that node; not every world can tell. */
  serves?(peer: PeerIdString): boolean
  /** Until its calm, nothing befalls it but floods. */
  readonly onlyFloods?: boolean
  see(name: string): void
  tell(text: string): void
}
