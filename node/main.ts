/** The volunteer daemon's front door: makes a node's folder, and starts a node in it. */

import type { ContentStore } from '#protocol/content/content'
import type { PeerIdString } from '#protocol/ids'
import type { AgentView } from './agent/events.ts'
import type { Executor, Logger } from './ports.ts'

export interface NodeSettings {
  /** The project's id: the peer id of its key. */
  readonly project: PeerIdString
  /** Pinned multiaddrs of the coordinator; may be empty when `bootstrap` is not. */
  readonly addresses: readonly string[]
  /** Multiaddrs of DHT peers, to find the project's record when no pinned address answers. */
  readonly bootstrap?: readonly string[]
  readonly name: string
  readonly slots: number
  readonly engines: readonly ('docker' | 'process')[]
  /** What is lent; default all of the machine. */
  readonly cpuMillis?: number
  readonly memoryBytes?: number
}

export interface ExecutorTools {
  readonly store: ContentStore
  readonly nodeId: PeerIdString
  readonly folder: string
  readonly logger: Logger
}

export interface NodeStatus extends AgentView {
  readonly peerId: PeerIdString
  readonly name: string
  readonly project: PeerIdString
  readonly engines: readonly string[]
  /** Why no work is taken, or why there is no connection; empty when all is well. */
  readonly trouble: string
}

export interface StartNodeOptions {
  readonly dir: string
  /** In place of the engines named in node.json. */
  readonly executors?: readonly Executor[] | ((tools: ExecutorTools) => Promise<readonly Executor[]>)
  readonly logger?: Logger
}

export interface StartedNode {
  readonly peerId: PeerIdString
  status(): NodeStatus
  pause(): void
  resume(): void
  /** `finish` takes nothing more, waits for what runs and for its results to be taken; `now` kills what runs and gives it back. Resolves when all is closed. */
  stop(mode: 'finish' | 'now'): Promise<void>
  /** Resolves when the node has stopped, also when it was asked to through `node.sock`; rejects with NodeError when it cannot go on. */
  readonly stopped: Promise<void>
}

/** Makes the node's folder: `node.json` and its key. Throws NodeError `exists` when there is a node in it already, `bad_settings`. */
export async function initNode(dir: string, settings: NodeSettings): Promise<{ readonly peerId: PeerIdString }> {
  throw new Error(`not built yet: ${dir} ${settings.name}`)
}

/** Starts the node of a folder. Throws NodeError `not_a_node_folder`, `bad_settings`, `bad_key`, `in_use`. */
export async function startNode(options: StartNodeOptions): Promise<StartedNode> {
  throw new Error(`not built yet: ${options.dir}`)
}
