/**
 * Who may speak beside whom: nodes of one owner, or that call from one network, are one voice (F18, F24). The replicas of a
 * task go to nodes that have nothing in common while there are such; what is not known of a node makes it depend on nobody.
 */
import type { PeerIdString } from '#protocol/ids'
import { NONE } from '#protocol/lists'
import type { NodeOffer } from './events.ts'
import { handsOf, handTies, hasLineage } from './hands.ts'
import type { Node, Replica, Task } from './model.ts'
import { INDEPENDENCE_WAIT_MS } from './policy.ts'
import type { State } from './state.ts'
import { hasVoice, isLive } from './states.ts'

/** Whose a node is and where it calls from, as far as that is known. */
export type Origin = Pick<NodeOffer, 'owner' | 'network'>

/** How many nodes are there, and of which owners and networks. */
export class Presence {
  #all = 0
  readonly #owners = new Map<PeerIdString, number>()
  readonly #networks = new Map<string, number>()

  get size(): number {
    return this.#all
  }

  add({ owner, network }: Origin, by: 1 | -1): void {
    this.#all += by
    if (owner !== null) change(this.#owners, owner, by)
    if (network !== '') change(this.#networks, network, by)
  }

  /** At least so many that are there have nothing in common with any of these: a lower bound, since a node may share its owner with one of them and its network with another. */
  apartFrom(origins: readonly Origin[]): number {
    let rest = this.#all
    for (const owner of new Set(origins.map((origin) => origin.owner))) if (owner !== null) rest -= this.#owners.get(owner) ?? 0
    for (const network of new Set(origins.map((origin) => origin.network))) if (network !== '') rest -= this.#networks.get(network) ?? 0
    return rest
  }
}

/** It shares its owner or its network with a node that may vote, or did: its own vote would weigh nothing beside that one's. */
export function isDependent(task: Task, node: Node): boolean {
  const { offer } = node
  if (offer.owner === null && offer.network === '') return false
  return task.replicas.some((replica) => isNear(replica, node))
}

/** A node that is independent of those which have the task is waited for, for a while while there is one (`prefer`), or for ever (`require`, and for strangers: see `isStrange`). */
export function mustWait(state: State, task: Task, node: Node, nowMs: number): boolean {
  if (!isDependent(task, node)) return false
  if (task.batch.policy.independence === 'require') return true
  const voices = task.replicas.filter(hasVoice)
  const waitedMs = nowMs - Math.max(...voices.map(({ atMs }) => atMs))
  // By a clock that was set back nobody waits longer.
  const waits = waitedMs >= 0 && waitedMs < Math.max(INDEPENDENCE_WAIT_MS, task.group.pace.meanMs(0) ?? 0)
  if (waits && state.presence.apartFrom(voices.map((replica) => replica.node.offer)) > 0) return true
  return isStrange(state, task, node) && couldOther(state, task, nowMs)
}

/** What was lost comes back, and would be a second voice of a place of which too little is known, while another runs the task or could. */
export function isCrowd(state: State, { task, node }: Pick<Replica, 'task' | 'node'>, nowMs: number): boolean {
  if (!isStrange(state, task, node)) return false
  const isRun = task.replicas.some((replica) => isLive(replica.state) && !shares(replica.node.offer, node.offer))
  return isRun || couldOther(state, task, nowMs)
}

/**
 * Beside the nodes of its own place too little is known of one of them. They confirm nothing to each other while somebody else
 * could take the task: or a thousand identities of one place, which answer at once, decide while all others are busy.
 */
function isStrange(state: State, task: Task, node: Node): boolean {
  // There their votes are tied.
  if (task.batch.policy.independence === 'require') return false
  const near = task.replicas.filter((replica) => isNear(replica, node))
  return near.length > 0 && ![node, ...near.map((replica) => replica.node)].every((one) => isKnown(state, task, one))
}

/** After a restart who could may be on his way back. */
function couldOther(state: State, task: Task, nowMs: number): boolean {
  return nowMs < state.graceUntilMs || state.alternatives.exist(state.nodes, task, nowMs)
}

/** By results that others confirmed, or since it is the administrator's, or the task's own client's. */
export function isKnown({ policy }: State, { batch }: Task, { row, offer }: Node): boolean {
  return row >= policy.trustedAfter || offer.vouched === true || offer.owner === batch.client.id
}

/** By which its vote hangs together with others, for the validator. */
export function tiesOf(replica: Replica): readonly string[] {
  const { task, node } = replica
  const ties = hasLineage(task) ? handTies(replica) : NONE
  if (task.batch.policy.independence !== 'require') return ties
  return [...ties, ...(ties.length === 0 ? [node] : handsOf(replica)).flatMap(placesOf)]
}

function placesOf({ offer: { owner, network } }: Node): string[] {
  return [...(owner === null ? [] : [`owner ${owner}`]), ...(network === '' ? [] : [`network ${network}`])]
}

/** The voice of another node of its place, or one that rests on such. */
function isNear(replica: Replica, node: Node): boolean {
  if (replica.node === node || !hasVoice(replica)) return false
  return replica.from === null ? shares(replica.node.offer, node.offer) : handsOf(replica).some(({ offer }) => shares(offer, node.offer))
}

export function shares(a: Origin, b: Origin): boolean {
  return (a.owner !== null && a.owner === b.owner) || (a.network !== '' && a.network === b.network)
}

function change<K>(counts: Map<K, number>, key: K, by: 1 | -1): void {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}
