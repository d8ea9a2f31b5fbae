/**
 * What the core wants done, gathered until the shell takes it. Records are marked and encoded once per take, however many
 * events touched them; frames are coalesced to one of each kind and node.
 */
import type { ReplicaId } from '#protocol/ids'
import type { Signer } from '#protocol/signing/keys'
import type { Change } from '../ports.ts'
import type { Effect, Unsigned } from './events.ts'
import { buildFrames, rebuildFrame } from './frames.ts'
import type { Batch, Node, Replica, Task } from './model.ts'
import { OUTBOX_FRAMES_MAX } from './policy.ts'
import { batchKey, encodeBatchRecord, encodeLinkRecord, encodeNodeRecord, encodeOutgoing, encodeTaskRecord, linkKey, nodeKey, outKey } from './records.ts'
import { batchRecord, nodeRecord, taskRecord } from './snapshots.ts'

/** Signs what a node is to run. Must be a function of its arguments, as Ed25519 is. */
export type LeaseSigner = Pick<Signer, 'sign'>

export interface Taken {
  readonly changes: readonly Change[]
  readonly effects: readonly Effect[]
  readonly unsigned: readonly Unsigned[]
}

export class Output {
  /** Nodes that let more frames wait for their acknowledgement than they may: the sweep cuts them off. */
  readonly overrun = new Set<Node>()
  readonly #changes = new Map<string, Uint8Array | (() => Uint8Array) | null>()
  /** Keys that did not exist at the last take. */
  readonly #created = new Set<string>()
  readonly #tasks = new Set<Task>()
  readonly #batches = new Set<Batch>()
  readonly #nodes = new Set<Node>()
  readonly #links = new Set<Node>()
  readonly #speaking = new Set<Node>()
  readonly #replaying = new Set<Node>()
  readonly #acks = new Set<Node>()
  readonly #watched = new Set<Task>()
  readonly #find: (id: ReplicaId) => Replica | undefined
  readonly #signer: LeaseSigner
  #effects: Effect[] = []
  #unsigned: Unsigned[] = []

  /** `find` gives the replicas of live tasks. */
  constructor(find: (id: ReplicaId) => Replica | undefined, signer: LeaseSigner) {
    this.#find = find
    this.#signer = signer
  }

  put(key: string, value: Uint8Array): void {
    this.#changes.set(key, value)
  }

  /** Puts a key that no earlier commit wrote: if it is deleted before the next take, nothing is written at all. */
  create(key: string, value: Uint8Array): void {
    this.#created.add(key)
    this.#changes.set(key, value)
  }

  /** The same, encoded only if it is still there when it is taken. */
  createLater(key: string, encode: () => Uint8Array): void {
    this.#created.add(key)
    this.#changes.set(key, encode)
  }

  delete(key: string): void {
    if (this.#created.delete(key)) this.#changes.delete(key)
    else this.#changes.set(key, null)
  }

  task(task: Task): void {
    this.#tasks.add(task)
    this.#watched.add(task)
  }

  /** Something of it to look at changed that need not be written. */
  watched(task: Task): void {
    this.#watched.add(task)
  }

  batch(batch: Batch): void {
    this.#batches.add(batch)
  }

  node(node: Node): void {
    this.#nodes.add(node)
  }

  link(node: Node): void {
    this.#links.add(node)
  }

  /** Something was put into the node's `outgoing`. */
  speak(node: Node): void {
    this.#speaking.add(node)
  }

  ack(node: Node): void {
    this.#acks.add(node)
  }

  effect(effect: Effect): void {
    this.#effects.push(effect)
  }

  receipt(unsigned: Unsigned): void {
    this.#unsigned.push(unsigned)
  }

  /** A new stream was welcomed: what the node does not have yet is sent again on it, as it is when it leaves. */
  replay(node: Node): void {
    this.#replaying.add(node)
    // What was wrong with the old stream does not end this one.
    if (this.#effects.some((effect) => effect.kind === 'disconnect'))
      this.#effects = this.#effects.filter((effect) => effect.kind !== 'disconnect' || effect.node !== node.id)
  }

  take(): Taken {
    for (const node of this.#replaying) this.#replay(node)
    this.#replaying.clear()
    for (const node of this.#speaking) this.#number(node)
    this.#speaking.clear()
    for (const node of this.#acks) if (node.connected && node.link !== null) this.#effects.push({ kind: 'ack', node: node.id, seq: node.link.received })
    this.#acks.clear()
    for (const task of this.#watched) this.#effects.push({ kind: 'changed', batch: task.batch.id, task: task.id })
    this.#watched.clear()
    for (const task of this.#tasks) this.#changes.set(task.key, encodeTaskRecord(taskRecord(task)))
    this.#tasks.clear()
    for (const batch of this.#batches) this.#changes.set(batchKey(batch.id), encodeBatchRecord(batchRecord(batch)))
    this.#batches.clear()
    for (const node of this.#nodes) this.#changes.set(nodeKey(node.id), encodeNodeRecord(nodeRecord(node)))
    this.#nodes.clear()
    for (const node of this.#links) if (node.link !== null) this.#changes.set(linkKey(node.id), encodeLinkRecord(node.link))
    this.#links.clear()
    const changes: Change[] = []
    for (const [key, value] of this.#changes) changes.push({ key, value: typeof value === 'function' ? value() : value })
    this.#changes.clear()
    this.#created.clear()
    const taken = { changes, effects: this.#effects, unsigned: this.#unsigned }
    this.#effects = []
    this.#unsigned = []
    return taken
  }

  #replay(node: Node): void {
    if (!node.connected || node.link === null) return
    for (const { seq, payload } of node.link.pending())
      this.#effects.push({ kind: 'send', node: node.id, seq, frame: rebuildFrame(seq, payload, this.#find, this.#signer) })
  }

  #number(node: Node): void {
    const { link } = node
    // Without a link there is nobody to tell: the next hello starts from nothing.
    for (const { outgoing, frame } of buildFrames(node, this.#signer)) {
      if (link === null) continue
      const seq = link.push(outgoing)
      if (link.waiting > OUTBOX_FRAMES_MAX) this.overrun.add(node)
      this.#changes.set(outKey(node.id, seq), encodeOutgoing(outgoing))
      this.#links.add(node)
      if (node.connected) this.#effects.push({ kind: 'send', node: node.id, seq, frame: frame(seq) })
    }
  }
}
