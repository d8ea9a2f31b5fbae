/**
 * Bans: the project's administrator lets a node, all nodes of an owner or all of a network in no more. It ends their leases,
 * unharmed for the tasks; what they said of tasks that are not decided does not count; what one of them decided alone since it
 * was last confirmed is looked at again; and none of them is welcomed until the ban is lifted. What was decided stays.
 *
 * A ban looks at every node and every live task once. What a decision costs does not change: a banned node is not there.
 */
import { BlockList } from 'node:net'
import type { PeerIdString } from '#protocol/ids'
import { type BanAnswer, type BanTarget, type BanView, parseNetwork } from '#protocol/owner/bans'
import { banKey, encodeBanRecord } from './ban-records.ts'
import type { Event, NodeOffer } from './events.ts'
import { handsOf } from './hands.ts'
import type { Node, Replica } from './model.ts'
import { closeLink } from './nodes.ts'
import { BANS_MAX } from './policy.ts'
import { takeBack } from './replicas.ts'
import type { State } from './state.ts'
import { BANNED, isLive } from './states.ts'
import { distrust } from './trust.ts'

/** Who it is and where from. */
interface Caller {
  readonly id: PeerIdString
  readonly offer: Pick<NodeOffer, 'owner' | 'network' | 'hidden'>
}

export class Bans {
  readonly #all = new Map<string, BanView>()
  /** Those of networks, together: most callers are in none of them. */
  #networks = new BlockList()

  get size(): number {
    return this.#all.size
  }

  views(): readonly BanView[] {
    return [...this.#all.values()]
  }

  has(target: BanTarget): boolean {
    return this.#all.has(banKey(target))
  }

  add(ban: BanView): void {
    const isNew = !this.#all.delete(banKey(ban))
    this.#all.set(banKey(ban), ban)
    if (isNew && ban.kind === 'network') addTo(this.#networks, ban.value)
  }

  /** After a restart, in the order in which they were made. */
  load(bans: readonly BanView[]): void {
    for (const ban of bans.toSorted((a, b) => a.atMs - b.atMs)) this.add(ban)
  }

  remove(target: BanTarget): void {
    this.#all.delete(banKey(target))
    if (target.kind === 'network') this.#index()
  }

  /** The ban that hits it. */
  of({ id, offer: { owner, network } }: Caller): BanView | undefined {
    if (this.#all.size === 0) return undefined
    const one = this.#all.get(banKey({ kind: 'node', value: id })) ?? (owner === null ? undefined : this.#all.get(banKey({ kind: 'owner', value: owner })))
    if (one !== undefined || network === '' || !isIn(this.#networks, network)) return one
    return [...this.#all.values()].find((ban) => covers(ban, { id, offer: { owner, network } }))
  }

  #index(): void {
    this.#networks = new BlockList()
    for (const { kind, value } of this.#all.values()) if (kind === 'network') addTo(this.#networks, value)
  }
}

export function banEvent(state: State, { by, target, reason, lift }: Extract<Event, { kind: 'ban' }>, nowMs: number): void {
  if (lift) {
    if (!state.bans.has(target)) return
    state.bans.remove(target)
    state.out.delete(banKey(target))
    state.out.journal.node(target.value, 'let in again', reason === '' ? null : reason)
    for (const node of state.nodes.values()) if (node.ban !== null) node.ban = state.bans.of(node) ?? null
    return
  }
  if (!state.bans.has(target) && state.bans.size >= BANS_MAX) return
  const ban: BanView = { ...target, by, atMs: nowMs, reason }
  state.bans.add(ban)
  state.out.put(banKey(target), encodeBanRecord(ban))
  const hit = nodesOf(state, target)
  if (!hit.has(state.nodes.get(target.value) as Node)) state.out.journal.node(target.value, 'banned', reason)
  for (const node of hit) {
    node.ban = ban
    state.out.journal.node(node.id, 'banned', reason)
    shutOut(state, node, nowMs)
  }
  for (const replica of undecidedOf(state, hit)) dropVote(state, replica)
}

/** What a ban would do, without doing it. */
export function banned(state: State, target: BanTarget): BanAnswer['nodes'] {
  const hit = nodesOf(state, target)
  const results = new Map<Node, number>()
  for (const { node } of undecidedOf(state, hit)) results.set(node, (results.get(node) ?? 0) + 1)
  return [...hit].map((node) => ({ id: node.id, name: node.offer.name, runs: node.held.length, results: results.get(node) ?? 0 }))
}

/** Its ban, under whatever owner it calls now: that one was dropped does not let it in, nor that it calls through a relay that hides its network. */
export function banOf(state: State, caller: Caller): BanView | undefined {
  if (state.bans.size === 0) return undefined
  const ban = state.bans.of(caller)
  const known = state.nodes.get(caller.id)?.offer
  if (ban !== undefined || known === undefined) return ban
  const { network, hidden } = caller.offer
  return state.bans.of({ id: caller.id, offer: { owner: known.owner, network: network === '' || hidden === true ? known.network : '' } })
}

/** What it is told, and shown on its machine. */
export function banMessage({ kind, reason }: BanView): string {
  const who = kind === 'node' ? 'this node' : kind === 'owner' ? 'the nodes of this owner' : 'all nodes of this network'
  return `the project's administrator banned ${who}${reason === '' ? '' : `: ${reason}`}`
}

function nodesOf({ nodes }: State, target: BanTarget): Set<Node> {
  if (target.kind !== 'node') return new Set([...nodes.values()].filter((node) => covers(target, node)))
  const node = nodes.get(target.value)
  return new Set(node === undefined ? [] : [node])
}

function covers({ kind, value }: BanTarget, { id, offer }: Caller): boolean {
  if (kind === 'node') return id === value
  if (kind === 'owner') return offer.owner === value
  const list = new BlockList()
  addTo(list, value)
  return offer.network !== '' && isIn(list, offer.network)
}

/** Its runs go back to their tasks, and its stream ends. */
function shutOut(state: State, node: Node, nowMs: number): void {
  for (const replica of [...node.held]) takeBack(state, replica, { class: BANNED, message: 'its node was banned' }, nowMs)
  for (const replica of [...successorsOf(state, node)])
    takeBack(state, replica, { class: BANNED, message: 'it went on from a checkpoint of a banned node' }, nowMs)
  if (node.accepted > 0 || node.unconfirmed !== null) distrust(state, node)
  node.state = 'left'
  node.slots = 0
  state.holders.clear(node)
  if (node.connected) state.out.effect({ kind: 'disconnect', node: node.id, code: 'banned', message: banMessage(node.ban as BanView) })
  closeLink(state, node)
  state.out.node(node)
}

/** What these said of tasks that are not decided. */
function* undecidedOf({ batches }: State, nodes: ReadonlySet<Node>): Generator<Replica, void, undefined> {
  if (nodes.size === 0) return
  for (const { tasks } of batches.values())
    for (const task of tasks)
      if (task.decision === null) for (const replica of task.replicas) if (isVote(replica) && handsOf(replica).some((node) => nodes.has(node))) yield replica
}

/** What runs on others' machines and rests on what the node did. */
function* successorsOf({ batches }: State, node: Node): Generator<Replica, void, undefined> {
  for (const { tasks, policy } of batches.values())
    if (policy.checkpointMs > 0)
      for (const task of tasks) for (const replica of task.replicas) if (isLive(replica.state) && handsOf(replica).includes(node)) yield replica
}

function isVote({ report, commitment, verdict }: Replica): boolean {
  return (report !== null || commitment !== null) && verdict === null
}

/** It stays in the record as what was said, and counts for nothing: else a task could run out of replicas by bans alone. */
function dropVote(state: State, replica: Replica): void {
  replica.verdict = 'inconclusive'
  replica.fault = { class: BANNED, message: 'its node was banned' }
  const { task } = replica
  state.out.task(task)
  state.touched.add(task)
  // Who had to stay away for its sake need not any more.
  task.group.cursors.setBack(task.order)
  task.group.stuck = false
  state.groupsChanged.add(task.group)
}

function addTo(list: BlockList, network: string): void {
  const prefix = parseNetwork(network)
  if (prefix !== undefined) list.addSubnet(prefix.address, prefix.bits, prefix.family)
}

/** By its first address: a node's network is never wider than one that may be banned. */
function isIn(list: BlockList, network: string): boolean {
  const prefix = parseNetwork(network)
  return prefix !== undefined && list.check(prefix.address, prefix.family)
}
