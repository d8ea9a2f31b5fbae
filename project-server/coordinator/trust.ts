/**
 * How far nodes are believed, by what became of their results: BOINC's adaptive replication, with its spot checks. A node with
 * enough results in a row that others confirmed decides a task of an adaptive batch alone, unless the task is drawn to be
 * checked (1 in as many as it has in a row) or too many of its decisions are unconfirmed. Judged when the task is leased, and
 * written with the replica. One result that turns out wrong takes it all back: see rechecks.ts. Tasks may ask for nodes that
 * are believed so (`trust` of their policy): who they are is filed with the nodes' kinds (kinds.ts), and follows each verdict.
 */
import { createHash } from 'node:crypto'
import { ancestorsOf } from './hands.ts'
import { aloneKey } from './keys.ts'
import type { Node, Replica, Task } from './model.ts'
import { dropUnsuited } from './next.ts'
import { UNCONFIRMED_MAX } from './policy.ts'
import { askRechecks } from './rechecks.ts'
import { ERROR_RATE_STEP_PPM, NO_STANDING, type Standing } from './standing.ts'
import type { State } from './state.ts'
import { isLive } from './states.ts'

const SPOT_DOMAIN = 'talko-spot-checks-1'
const TEXT = new TextEncoder()
/** BOINC's, with `ERROR_RATE_STEP_PPM`: how a node's share of wrong results is estimated, in millionths. */
const ERROR_RATE_DECAY = 0.95
const MILLION = 1_000_000

export function standingOf(state: State, task: Task, node: Node): Standing {
  const { adaptive, doubtPpm } = task.batch.policy
  if (!adaptive && doubtPpm === 0) return NO_STANDING
  return { row: node.row, alone: adaptive && mayDecide(state, task, node) }
}

function mayDecide(state: State, task: Task, node: Node): boolean {
  if (node.row < state.policy.trustedAfter || task.decision !== null) return false
  // Only the first: where others have it, they are asked already. What one is bound to is as good as said.
  if (task.replicas.some(({ report, commitment, state: its, straggles }) => report !== null || commitment !== null || (isLive(its) && !straggles))) return false
  return (node.unconfirmed?.length ?? 0) < UNCONFIRMED_MAX && spotDraw(state, task) * node.row >= 1
}

/** Something was learnt of the node, or it said what it is: whether tasks that ask for trusted nodes may go to it. */
export function gradeTrust(state: State, node: Node): void {
  const believed = node.offer.vouched === true || node.row >= state.policy.trustedAfter
  if (node.believed === believed) return
  node.believed = believed
  if (!state.free.believe(node)) return
  if (believed) state.nodesChanged.add(node)
  else dropUnsuited(state, node)
}

/** From 0 to 1, by the batch's seed and a secret of the project: nobody who runs the task can tell whether it is checked. */
function spotDraw({ signer }: State, { batch, index, replicas }: Task): number {
  batch.secret ??= signer.sign(SPOT_DOMAIN, TEXT.encode(batch.id))
  const hash = createHash('sha256').update(batch.secret).update(`${batch.id}.${batch.seed}.${index}.${replicas.length}`).digest()
  return hash.readUInt32BE() / 2 ** 32
}

/** Others say the same as the node. */
export function confirm(state: State, node: Node): void {
  node.valid++
  node.row++
  node.accepted++
  node.errorPpm = Math.round(node.errorPpm * ERROR_RATE_DECAY)
  for (const task of node.unconfirmed ?? []) state.out.delete(aloneKey(node.id, task))
  node.unconfirmed = null
  state.newcomers.regrade(node)
  gradeTrust(state, node)
  state.out.node(node)
}

/** By its policy one result was enough, and nobody was asked for another: it lends as others do, and is believed no more for that. */
export function accept(state: State, node: Node): void {
  node.valid++
  node.accepted++
  state.newcomers.regrade(node)
  state.out.node(node)
}

/** It agrees with what was decided, and nobody else says so. */
export function agreedOnly(state: State, node: Node): void {
  node.valid++
  state.out.node(node)
}

/** Others agree on something else: what it decided alone since it was last confirmed is looked at again. */
export function refute(state: State, node: Node): void {
  node.invalid++
  distrust(state, node)
}

/** Without counting a result. */
export function distrust(state: State, node: Node): void {
  node.row = 0
  node.accepted = 0
  node.errorPpm = Math.min(MILLION, node.errorPpm + ERROR_RATE_STEP_PPM)
  const unconfirmed = node.unconfirmed ?? []
  for (const task of unconfirmed) state.out.delete(aloneKey(node.id, task))
  node.unconfirmed = null
  askRechecks(state, unconfirmed, node.id)
  state.newcomers.regrade(node)
  gradeTrust(state, node)
  state.out.node(node)
}

/** The node's vote alone decided the task. */
export function decidedAlone(state: State, { node, task }: Replica): void {
  node.valid++
  node.unconfirmed ??= []
  node.unconfirmed.push(task.id)
  state.out.create(aloneKey(node.id, task.id), new Uint8Array(0))
  state.out.node(node)
}

/** When a node was refuted while it ran something, it is no longer believed alone in it, nor is who went on from what it left. */
export function loseStanding(replica: Replica): void {
  if (!replica.standing.alone) return
  const isRefuted = [replica, ...ancestorsOf(replica)].some(({ node, standing }) => node.row < standing.row)
  if (isRefuted) replica.standing = { ...replica.standing, alone: false }
}
