/**
 * What the core wants done, gathered until the shell takes it. Records are marked and encoded once per take, however many
 * events touched them; frames are coalesced to one of each kind and node.
 */
import type { Receipt } from '#protocol/result/receipt'
import type { Change } from '../ports.ts'
import type { Effect, Unsigned } from './events.ts'
import { buildFrames } from './frames.ts'
import type { Batch, Node, Task } from './model.ts'
import {
  batchKey,
  encodeBatchRecord,
  encodeLinkRecord,
  encodeNodeRecord,
  encodeOutgoing,
  encodeTaskRecord,
  linkKey,
  nodeKey,
  outKey,
  receiptKey,
  taskKey
} from './records.ts'
import { batchRecord, nodeRecord, taskRecord } from './snapshots.ts'

export interface Taken {
  readonly changes: readonly Change[]
  readonly effects: readonly Effect[]
  readonly unsigned: readonly Unsigned[]
}

export class Output {
  readonly #changes = new Map<string, Uint8Array | null>()
  /** Keys that did not exist at the last take. */
  readonly #created = new Set<string>()
  readonly #tasks = new Set<Task>()
  readonly #batches = new Set<Batch>()
  readonly #nodes = new Set<Node>()
  readonly #links = new Set<Node>()
  readonly #speaking = new Set<Node>()
  readonly #acks = new Set<Node>()
  readonly #watched = new Set<Task>()
  #effects: Effect[] = []
  #unsigned: Unsigned[] = []

  put(key: string, value: Uint8Array): void {
    this.#changes.set(key, value)
  }

  /** Puts a key that no earlier commit wrote: if it is deleted before the next take, nothing is written at all. */
  create(key: string, value: Uint8Array): void {
    this.#created.add(key)
    this.#changes.set(key, value)
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

  receipt(receipt: Receipt): void {
    this.#unsigned.push({ key: receiptKey(receipt.task), receipt })
  }

  /** Its stream ended: what was to be sent on it is not; what was numbered will be replayed. A welcome still answers its hello. */
  unsend(node: Node): void {
    this.#acks.delete(node)
    if (this.#effects.some((effect) => effect.kind === 'send'))
      this.#effects = this.#effects.filter((effect) => effect.kind !== 'send' || effect.node !== node.id)
  }

  /** It has opened a new stream: what was wrong with the old one does not end this one. */
  stay(node: Node): void {
    if (this.#effects.some((effect) => effect.kind === 'disconnect'))
      this.#effects = this.#effects.filter((effect) => effect.kind !== 'disconnect' || effect.node !== node.id)
  }

  take(): Taken {
    for (const node of this.#speaking) this.#number(node)
    this.#speaking.clear()
    for (const node of this.#acks) if (node.connected && node.link !== null) this.#effects.push({ kind: 'ack', node: node.id, seq: node.link.received })
    this.#acks.clear()
    for (const task of this.#watched) this.#effects.push({ kind: 'changed', batch: task.batch.id, task: task.id })
    this.#watched.clear()
    for (const task of this.#tasks) this.#changes.set(taskKey(task.id), encodeTaskRecord(taskRecord(task)))
    this.#tasks.clear()
    for (const batch of this.#batches) this.#changes.set(batchKey(batch.id), encodeBatchRecord(batchRecord(batch)))
    this.#batches.clear()
    for (const node of this.#nodes) this.#changes.set(nodeKey(node.id), encodeNodeRecord(nodeRecord(node)))
    this.#nodes.clear()
    for (const node of this.#links) if (node.link !== null) this.#changes.set(linkKey(node.id), encodeLinkRecord(node.link.record))
    this.#links.clear()
    const changes: Change[] = []
    for (const [key, value] of this.#changes) changes.push({ key, value })
    this.#changes.clear()
    this.#created.clear()
    const taken = { changes, effects: this.#effects, unsigned: this.#unsigned }
    this.#effects = []
    this.#unsigned = []
    return taken
  }

  #number(node: Node): void {
    const { link } = node
    // Without a link there is nobody to tell: the next hello starts from nothing.
    for (const { outgoing, frame } of buildFrames(node)) {
      if (link === null) continue
      const seq = link.push(outgoing)
      this.#changes.set(outKey(node.id, seq), encodeOutgoing(outgoing))
      this.#links.add(node)
      if (node.connected) this.#effects.push({ kind: 'send', node: node.id, seq, frame: frame(seq) })
    }
  }
}
