/** A coordinator with its store in memory and scripted nodes around it, for tests of the core: messages go both ways at once and in order, unless a test says otherwise. */

import assert from 'node:assert/strict'
import type { CID } from 'multiformats/cid'
import { Coordinator } from '#project-server/coordinator/coordinator'
import type { AcceptedBundle, Effect, Event, NodeOffer, Unsigned } from '#project-server/coordinator/events'
import { type CoordinatorPolicy, DEFAULT_COORDINATOR_POLICY } from '#project-server/coordinator/policy'
import type { TaskRecord } from '#project-server/coordinator/task-records'
import { decodeManifest, manifestCid } from '#protocol/bundle/manifest'
import { DEFAULT_POLICY, type TaskPolicy } from '#protocol/bundle/policy'
import { decodeFrame, type Frame } from '#protocol/control/messages'
import type { ReplicaId, TaskId } from '#protocol/ids'
import { MemoryStore } from '../../sim/store.ts'
import { peekTask } from '../../sim/stored-tasks.ts'
import { batchId, MIB, type Outcome, offer, PROJECT, result, SEAL, SIGNER, signedResult } from './coordinator-parts.ts'
import { completion, recheckFrom } from './coordinator-shell.ts'

/** A node that does as it is told by the test, and remembers what it was told. */
export class ScriptedNode {
  readonly id: string
  link: string
  sent = 0
  received = 0
  /** Leases it has: replica to the epoch and the bundle. */
  readonly leases = new Map<ReplicaId, { epoch: number; bundle: CID }>()
  /** Of them, what goes on from a checkpoint: its root. And snapshots that the project has taken. */
  readonly resumed = new Map<ReplicaId, string>()
  readonly taken: string[] = []
  readonly granted = new Set<ReplicaId>()
  readonly refused: ReplicaId[] = []
  readonly cancelled: ReplicaId[] = []
  readonly released: ReplicaId[] = []
  readonly revealed: ReplicaId[] = []
  readonly welcomes: Extract<Effect, { kind: 'welcome' }>[] = []
  readonly disconnects: string[] = []
  /** Arguments of the bundles whose content it brings to itself ahead of their leases, as it was told last. */
  next: readonly string[] = []
  /** As many as its hello asks for. */
  nextMax = 0

  constructor(id: string) {
    this.id = id
    this.link = `link of ${id}`
  }

  take(frame: Frame): void {
    if (frame.next !== undefined) this.next = frame.next.manifests.map((bytes) => decodeManifest(bytes).command[1] ?? '')
    for (const { root } of frame.taken?.replicas ?? []) this.taken.push(root)
    if (frame.seq <= this.received) return
    if (frame.seq !== this.received + 1) throw new Error(`node ${this.id} has message ${this.received} and got ${frame.seq}`)
    this.received = frame.seq
    for (const { replica, epoch, manifest, granted, checkpoint } of frame.assign?.leases ?? []) {
      if (checkpoint?.root !== undefined) this.resumed.set(replica, checkpoint.root)
      this.leases.set(replica, { epoch, bundle: manifestCid(manifest) })
      if (granted === true) this.granted.add(replica)
    }
    for (const replica of frame.grant?.granted ?? []) this.granted.add(replica)
    this.refused.push(...(frame.grant?.refused ?? []))
    this.cancelled.push(...(frame.cancel?.replicas ?? []))
    this.released.push(...(frame.release?.replicas ?? []))
    this.revealed.push(...(frame.reveal?.replicas ?? []))
    for (const replica of [...(frame.cancel?.replicas ?? []), ...(frame.release?.replicas ?? []), ...(frame.grant?.refused ?? [])]) this.leases.delete(replica)
  }
}

export class CoordinatorWorld {
  readonly store = new MemoryStore()
  readonly nodes = new Map<string, ScriptedNode>()
  readonly effects: Effect[] = []
  readonly receipts = new Map<string, Unsigned['receipt']>()
  /** Outputs arrive by themselves unless a test takes that over. */
  pulls = true
  /** So do snapshots of runs. */
  saves = true
  /** So does what comes of comparing them: by default nothing is close. */
  compares = true
  close: (a: string, b: string) => boolean = () => false
  nowMs = 1_000_000
  epoch = 0
  readonly #policy: CoordinatorPolicy
  #coordinator: Coordinator | undefined
  readonly #pulled: Event[] = []
  /** Bundles are completed at once unless a test takes that over. */
  completes = true
  /** Nothing of a sweep was decided before unless a test takes that over. */
  looks = true
  /** What the shell finds when a task's nodes say that an input is at fault. */
  inputs: (task: TaskId) => readonly Event[] = (task) => [{ kind: 'inputs', task, lost: false, through: [], message: '' }]
  #rechecks = 0

  constructor(policy: CoordinatorPolicy = DEFAULT_COORDINATOR_POLICY) {
    this.#policy = policy
  }

  get coordinator(): Coordinator {
    if (this.#coordinator === undefined) throw new Error('not started')
    return this.#coordinator
  }

  /** Starts, or starts again after a crash: only what was committed is left. */
  async start(): Promise<this> {
    this.epoch = await this.store.beginEpoch()
    this.#coordinator = new Coordinator({ project: PROJECT, epoch: this.epoch, policy: this.#policy, signer: SIGNER })
    await this.#coordinator.load(this.store, this.nowMs)
    this.commit()
    return this
  }

  apply(...events: readonly Event[]): void {
    for (const event of events) this.coordinator.apply(event, this.nowMs)
    this.commit()
  }

  /** One group commit, then its effects. */
  commit(): void {
    const { changes, effects, unsigned } = this.coordinator.take()
    this.store.write(this.epoch, [...changes, ...unsigned.map(({ page }) => ({ key: page, value: Uint8Array.of(1) }))])
    for (const { receipt } of unsigned) {
      if (this.receipts.has(receipt.task)) throw new Error(`a second receipt for ${receipt.task}`)
      this.receipts.set(receipt.task, receipt)
    }
    this.effects.push(...effects)
    for (const effect of effects) this.#carryOut(effect)
    const pulled = this.#pulled.splice(0)
    if (pulled.length > 0) this.apply(...pulled)
  }

  #carryOut(effect: Effect): void {
    if (effect.kind === 'pull') {
      const [node = ''] = effect.nodes
      if (this.pulls) this.#pulled.push({ kind: 'pulled', task: effect.task, node, ok: true, message: '' })
      return
    }
    if (effect.kind === 'recheck') {
      this.#pulled.push(this.#recheck(effect))
      return
    }
    if (effect.kind === 'compare') {
      const pairs = effect.pairs.map(([a, b]) => ({ a, b, agree: this.close(a, b) }))
      if (this.compares) this.#pulled.push({ kind: 'compared', task: effect.task, pairs, missing: [] })
      return
    }
    if (effect.kind === 'complete') {
      if (this.completes) this.#pulled.push(completion(this.store, effect.task))
      return
    }
    if (effect.kind === 'inputs') {
      this.#pulled.push(...this.inputs(effect.task))
      return
    }
    if (effect.kind === 'look') {
      if (this.looks) this.#pulled.push({ kind: 'looked', batch: effect.batch, to: effect.to, repeats: new Map() })
      return
    }
    if (effect.kind === 'save') {
      if (this.saves) this.#pulled.push({ kind: 'saved', replica: effect.replica, node: effect.node, root: effect.root, ok: true, bytes: 1 })
      return
    }
    if (effect.kind === 'changed' || effect.kind === 'unsave' || effect.kind === 'hint' || effect.kind === 'compared_enough') return
    const node = this.nodes.get(effect.node)
    if (node === undefined) return
    if (effect.kind === 'welcome') {
      node.welcomes.push(effect)
      // Of a link that is new both sides number from 1.
      if (!effect.resumed) {
        node.received = 0
        node.sent = 0
      }
      for (const replica of effect.unknown) node.leases.delete(replica)
    } else if (effect.kind === 'disconnect') node.disconnects.push(effect.code)
    else if (effect.kind === 'send') {
      const frame = decodeFrame(effect.frame)
      if (frame === undefined || frame.seq !== effect.seq) throw new Error('a sent frame does not decode')
      if (effect.seq > 0) assert.deepEqual(effect.said, saidIn(frame))
      node.take(frame)
      if (effect.seq > 0) this.coordinator.apply({ kind: 'ack', node: node.id, seq: effect.seq }, this.nowMs)
    }
  }

  /** As the shell does. */
  #recheck(wish: Extract<Effect, { kind: 'recheck' }>): Event {
    return recheckFrom(this.store, wish, { batch: batchId(0x10000 + this.#rechecks++), seed: 11 })
  }

  /** The task as it is in memory before it is terminal, as it is stored then. */
  record(task: TaskId): TaskRecord {
    const live = this.coordinator.task(task)
    if (live !== undefined) return live
    const stored = peekTask(this.store, task)
    if (stored === undefined) throw new Error(`no task ${task}`)
    return stored
  }

  /** Who has or had it, in the order of the attempts. */
  states(task: TaskId): string {
    return this.record(task)
      .replicas.map(({ node, state }) => `${node} ${state}`)
      .join(', ')
  }

  counts(id: string): { valid: number; invalid: number; errors: number; lost: number } {
    const view = this.coordinator.nodes().find((node) => node.id === id)
    if (view === undefined) throw new Error(`no node ${id}`)
    const { valid, invalid, errors, lost } = view
    return { valid, invalid, errors, lost }
  }

  /** A node says hello: new, or back with what it holds. */
  join(id: string, offered: NodeOffer = offer(1), roots: readonly string[] = [], next?: number): ScriptedNode {
    const node = this.nodes.get(id) ?? new ScriptedNode(id)
    node.nextMax = next ?? node.nextMax
    this.nodes.set(id, node)
    const holdings = roots.map((root) => ({ root, bytes: MIB }))
    this.apply({
      kind: 'hello',
      node: id,
      link: node.link,
      spare: node.link,
      received: node.received,
      offer: offered,
      replicas: [...node.leases.keys()],
      holdings,
      next: node.nextMax
    })
    return node
  }

  submit(batch: string, bundles: readonly AcceptedBundle[], policy: Partial<TaskPolicy> = {}, more: Partial<Extract<Event, { kind: 'submit' }>> = {}): void {
    this.apply({ kind: 'submit', batch, name: 'a batch', by: 'owner', bundles, policy: { ...DEFAULT_POLICY, ...policy }, more: false, seed: 7, ...more })
  }

  begin(node: ScriptedNode, ...replicas: readonly ReplicaId[]): void {
    this.apply({
      kind: 'start',
      node: node.id,
      seq: ++node.sent,
      replicas: replicas.map((replica) => ({ replica, epoch: node.leases.get(replica)?.epoch ?? 0 }))
    })
  }

  report(node: ScriptedNode, replica: ReplicaId, outcome: Outcome = {}): void {
    const id = node.leases.get(replica)?.bundle
    if (id === undefined) throw new Error(`node ${node.id} has no lease ${replica}`)
    node.leases.delete(replica)
    this.apply({ kind: 'reports', node: node.id, seq: ++node.sent, results: [signedResult(result(node.id, replica, id, outcome))], seal: SEAL })
  }

  giveBack(node: ScriptedNode, replica: ReplicaId, kind: string, message = 'no'): void {
    node.leases.delete(replica)
    this.apply({ kind: 'returned', node: node.id, seq: ++node.sent, replicas: [{ replica, class: kind, code: '', message }] })
  }

  /** Starts and reports everything that the node was leased. */
  work(node: ScriptedNode, outcome: Outcome = {}): void {
    for (const replica of [...node.leases.keys()]) {
      this.begin(node, replica)
      if (node.granted.has(replica)) this.report(node, replica, outcome)
    }
  }

  /** Reports all that it was granted in one message. */
  reportAll(node: ScriptedNode, outcome: Outcome = {}): void {
    const results = [...node.leases].map(([replica, { bundle: id }]) => signedResult(result(node.id, replica, id, outcome)))
    node.leases.clear()
    this.apply({ kind: 'reports', node: node.id, seq: ++node.sent, results, seal: SEAL })
  }

  /** Time passes, a sweep after each step of it; all but the silent ones are heard of. */
  pass(ms: number, silent: readonly ScriptedNode[] = [], stepMs = 500): void {
    for (let left = ms; left > 0; left -= stepMs) {
      this.nowMs += Math.min(stepMs, left)
      for (const node of this.nodes.values())
        if (!silent.includes(node) && node.welcomes.length > 0) this.coordinator.apply({ kind: 'heartbeat', node: node.id }, this.nowMs)
      this.apply({ kind: 'tick' })
    }
  }
}

/** What a numbered frame says, as it was meant to be encoded. */
function saidIn({ assign, grant, cancel, release, reveal }: Frame): unknown {
  if (assign !== undefined) return { kind: 'assign', replicas: assign.leases.map(({ replica }) => replica) }
  if (grant !== undefined) return { kind: 'grant', granted: grant.granted, refused: grant.refused }
  if (cancel !== undefined) return { kind: 'cancel', replicas: cancel.replicas, reason: cancel.reason }
  return release === undefined ? { kind: 'reveal', replicas: reveal?.replicas } : { kind: 'release', replicas: release.replicas }
}
