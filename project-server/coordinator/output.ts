/**
 * What the core wants done, gathered until the shell takes it. Records are marked and encoded once per take, however many
 * events touched them; frames are coalesced to one of each kind and node.
 */
import type { ReplicaId } from '#protocol/ids'
import type { Receipt } from '#protocol/result/receipt'
import type { Signer } from '#protocol/signing/keys'
import type { Change } from '../ports.ts'
import { encodeBatchRecord } from './batch-records.ts'
import { clientKey, encodeClientRecord } from './client-records.ts'
import type { Client } from './clients.ts'
import type { AcceptedBundle, Effect, Unsigned } from './events.ts'
import { drain, encodeFrame, encodeNext, type Said, saidAgain } from './frames.ts'
import { Journal, journalKey } from './journal.ts'
import { batchKey, keyOfTask, linkKey, nodeKey, outKey } from './keys.ts'
import type { Ledger } from './ledger.ts'
import { encodeLinkRecord, encodeOutgoing, type Outgoing } from './link-records.ts'
import { ACK, LINK, Marked, NEXT_TOLD, RECORD, REPLAY, SPEAK, WATCHED } from './marks.ts'
import { type Batch, isOver, type Node, type Replica, type Task } from './model.ts'
import { nextManifests } from './next.ts'
import { encodeNodeRecord } from './node-records.ts'
import { LINK_MESSAGE_REPLICAS_MAX, LINK_MESSAGES_MAX, OUTBOX_FRAMES_MAX } from './policy.ts'
import { encodeStoredResult, PAGE_RECEIPTS_MAX, type ReceiptPlace, receiptPageKey, resultKey, type SealRef } from './receipt-records.ts'
import { batchRecord, encodeTask } from './snapshots.ts'
import { isTerminal } from './states.ts'
import { SubmittedTasks } from './submitted-records.ts'

/** Signs what a node is to run. Must be a function of its arguments, as Ed25519 is. */
export type LeaseSigner = Pick<Signer, 'sign'>

const NO_FRAME = new Uint8Array(0)

export interface Taken {
  readonly changes: readonly Change[]
  readonly effects: readonly Effect[]
  readonly unsigned: readonly Unsigned[]
}

export class Output {
  /** Nodes that let more frames wait for their acknowledgement than they may: the sweep cuts them off. */
  readonly overrun = new Set<Node>()
  /** What happened, for people. */
  readonly journal = new Journal()
  /** What nodes earned. */
  readonly ledger: Ledger
  readonly #changes = new Map<string, Uint8Array | null>()
  /** Records written once and never looked for here. */
  #added: Change[] = []
  /** Keys that did not exist at the last take. */
  readonly #created = new Set<string>()
  readonly #submitted = new SubmittedTasks()
  readonly #tasks = new Marked<Task>(RECORD)
  readonly #watched = new Marked<Task>(WATCHED)
  readonly #batches = new Marked<Batch>(RECORD)
  readonly #clients = new Marked<Client>(RECORD)
  readonly #nodes = new Marked<Node>(RECORD)
  readonly #links = new Marked<Node>(LINK)
  readonly #speaking = new Marked<Node>(SPEAK)
  readonly #replaying = new Marked<Node>(REPLAY)
  readonly #acks = new Marked<Node>(ACK)
  readonly #next = new Marked<Node>(NEXT_TOLD)
  /** Those that reported since the last take. */
  #reported: Replica[] = []
  #recording = true
  #framing = true
  readonly #find: (id: ReplicaId) => Replica | undefined
  readonly #signer: LeaseSigner
  #effects: Effect[] = []
  #unsigned: Unsigned[] = []
  /** Of receipts: how many were begun, and the key of the last. */
  #pages = 0
  #page = ''

  /** `find` gives the replicas of live tasks. */
  constructor(find: (id: ReplicaId) => Replica | undefined, signer: LeaseSigner, ledger: Ledger) {
    this.#find = find
    this.ledger = ledger
    this.#signer = signer
  }

  /** See `Coordinator`. */
  set recording(on: boolean) {
    this.#recording = on
    this.journal.recording = on
    this.ledger.recording = on
  }

  /** See `Coordinator`. */
  set framing(on: boolean) {
    this.#framing = on
  }

  put(key: string, value: Uint8Array): void {
    this.#changes.set(key, value)
  }

  /** Puts a key that is neither deleted nor put in another way: cheaper, as most records of a task are its own. The last of two is kept. */
  add(key: string, value: Uint8Array): void {
    this.#added.push({ key, value })
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

  /** A task that came, and waits for no other. */
  submitted(task: Task, bundle: AcceptedBundle): void {
    if (!this.#recording) return
    this.#submitted.add(task, bundle)
    this.#watched.add(task)
  }

  task(task: Task): void {
    if (!this.#recording) return
    this.#tasks.add(task)
    this.#watched.add(task)
  }

  /** Something of it to look at changed that need not be written. */
  watched(task: Task): void {
    if (this.#recording) this.#watched.add(task)
  }

  batch(batch: Batch): void {
    this.#batches.add(batch)
  }

  client(client: Client): void {
    if (this.#recording) this.#clients.add(client)
  }

  node(node: Node): void {
    if (this.#recording) this.#nodes.add(node)
  }

  link(node: Node): void {
    if (this.#recording) this.#links.add(node)
  }

  /** Its result is kept until its task is terminal: never written when it is so by the next take. */
  result(replica: Replica): void {
    if (this.#recording) this.#reported.push(replica)
  }

  /** Something was put into the node's `outgoing`. */
  speak(node: Node): void {
    this.#speaking.add(node)
  }

  ack(node: Node): void {
    this.#acks.add(node)
  }

  /** What is next at the node is not what it was told. */
  next(node: Node): void {
    this.#next.add(node)
  }

  effect(effect: Effect): void {
    this.#effects.push(effect)
  }

  /** Answers where it will be found. */
  receipt(receipt: Receipt, seals: readonly SealRef[]): ReceiptPlace {
    const index = this.#unsigned.length % PAGE_RECEIPTS_MAX
    const { epoch } = receipt
    if (index === 0) this.#page = receiptPageKey({ epoch, page: ++this.#pages })
    this.#unsigned.push({ page: this.#page, receipt, seals })
    return { epoch, page: this.#pages, index }
  }

  /** A new stream was welcomed: what the node does not have yet is sent again on it, as it is when it leaves. */
  replay(node: Node): void {
    this.#replaying.add(node)
    // What was wrong with the old stream does not end this one.
    if (this.#effects.some((effect) => effect.kind === 'disconnect'))
      this.#effects = this.#effects.filter((effect) => effect.kind !== 'disconnect' || effect.node !== node.id)
  }

  take(): Taken {
    for (const node of this.#replaying.items) this.#replay(node)
    this.#replaying.clear()
    for (const node of this.#speaking.items) this.#number(node)
    this.#speaking.clear()
    // Behind the leases: what was next and is leased now is needed on.
    for (const node of this.#next.items) if (node.connected) this.#effects.push({ kind: 'send', node: node.id, seq: 0, frame: encodeNext(nextManifests(node)) })
    this.#next.clear()
    for (const node of this.#acks.items) if (node.connected && node.link !== null) this.#effects.push({ kind: 'ack', node: node.id, seq: node.link.received })
    this.#acks.clear()
    for (const { batch, id } of this.#watched.items) this.#effects.push({ kind: 'changed', batch: batch.id, task: id })
    this.#watched.clear()
    const taken = { changes: this.#takeChanges(), effects: this.#effects, unsigned: this.#unsigned }
    this.#effects = []
    this.#unsigned = []
    return taken
  }

  #takeChanges(): Change[] {
    const changes = this.#added
    this.#added = []
    changes.push(...this.#submitted.take())
    for (const task of this.#tasks.items) changes.push({ key: keyOfTask(task), value: encodeTask(task) })
    this.#tasks.clear()
    for (const batch of this.#batches.items)
      if (this.#recording || isOver(batch)) changes.push({ key: batchKey(batch.id), value: encodeBatchRecord(batchRecord(batch)) })
    this.#batches.clear()
    for (const client of this.#clients.items) changes.push({ key: clientKey(client.id), value: encodeClientRecord(client) })
    this.#clients.clear()
    for (const node of this.#nodes.items) changes.push({ key: nodeKey(node.id), value: encodeNodeRecord(node) })
    this.#nodes.clear()
    for (const { id, link } of this.#links.items) changes.push({ key: linkKey(id), value: link === null ? null : encodeLinkRecord(link) })
    this.#links.clear()
    for (const { task, attempt, report } of this.#reported) {
      if (report === null || isTerminal(task.state)) continue
      report.stored = true
      changes.push({ key: resultKey(task, attempt), value: encodeStoredResult(report.signed) })
    }
    this.#reported = []
    for (const [key, value] of this.#changes) changes.push({ key, value })
    this.#changes.clear()
    this.#created.clear()
    changes.push(...this.ledger.take(this.journal.nowMs))
    const entry = this.journal.take()
    if (entry !== undefined) changes.push({ key: journalKey(entry.first), value: entry.value })
    for (const first of entry?.gone ?? []) changes.push({ key: journalKey(first), value: null })
    return changes
  }

  #replay(node: Node): void {
    if (!node.connected || node.link === null) return
    for (const { seq, payload } of node.link.pending()) this.#send(node, seq, saidAgain(payload.said, this.#find))
  }

  #number(node: Node): void {
    const { link } = node
    // Without a link there is nobody to tell: the next hello starts from nothing.
    for (const said of drain(node)) {
      if (link === null) continue
      const filed = link.waiting >= LINK_MESSAGES_MAX || replicasIn(said.outgoing) > LINK_MESSAGE_REPLICAS_MAX
      const seq = link.push({ said: said.outgoing, filed })
      for (const replica of said.leases) replica.assignSeq = seq
      if (link.waiting > OUTBOX_FRAMES_MAX) this.overrun.add(node)
      if (filed) this.#changes.set(outKey(node.id, seq), encodeOutgoing(said.outgoing))
      this.link(node)
      if (node.connected) this.#send(node, seq, said)
    }
  }

  #send(node: Node, seq: number, said: Said): void {
    const frame = this.#framing ? encodeFrame(seq, said, this.#signer) : NO_FRAME
    this.#effects.push({ kind: 'send', node: node.id, seq, frame, said: said.outgoing })
  }
}

function replicasIn(outgoing: Outgoing): number {
  return outgoing.kind === 'grant' ? outgoing.granted.length + outgoing.refused.length : outgoing.replicas.length
}
