/**
 * Checkpoints: what a run left of itself so that another can go on from there (F14, F24, X18, X19). A node tells of a snapshot,
 * the shell fetches it, and only then is it on record; so it outlives its node. Each replica has one, its newest; all of a task
 * go when the task is over. The replica that is issued when another was lost or given back goes on from there, one alone at a
 * time: whoever is asked beside those that have a voice begins with nothing, or shares no hands with them.
 *
 * ```
 * told ──(fetched)──> kept ──(a newer one; its successor's own; a result; the task is over)──> dropped
 *   └──(cannot be had, not wanted)──> the node may drop it and make the next
 * ```
 */
import { CHECKPOINT_MS_MIN } from '#protocol/bundle/policy'
import { Frame } from '#protocol/control/messages'
import type { ReplicaId } from '#protocol/ids'
import { roomOf } from './clients.ts'
import type { Event } from './events.ts'
import { ancestorsOf, handsOf } from './hands.ts'
import { isKnown, shares } from './independence.ts'
import type { GoesOn, Node, Replica, Task } from './model.ts'
import { suits } from './needs.ts'
import { CHECKPOINT_EARLY_SHARE, CHECKPOINT_NODES_LOOKED_MAX, CHECKPOINT_TRIES_MAX, CONTINUED_MAX } from './policy.ts'
import { isBarred } from './replicas.ts'
import { heldBy } from './reports.ts'
import type { Standing } from './standing.ts'
import type { State } from './state.ts'
import { BANNED, CHECKPOINT_GONE, hasVoice, isLive, isUnharmed } from './states.ts'

type Offered = Extract<Event, { kind: 'checkpoints' }>['replicas'][number]

/** Roots that checkpoints are, of equal ones once: programs that do the same leave the same. */
export class CheckpointRoots {
  readonly #uses = new Map<string, number>()

  has(root: string): boolean {
    return this.#uses.has(root)
  }

  add(root: string): void {
    this.#uses.set(root, (this.#uses.get(root) ?? 0) + 1)
  }

  /** True when nobody uses it any more. */
  delete(root: string): boolean {
    const uses = (this.#uses.get(root) ?? 1) - 1
    if (uses > 0) this.#uses.set(root, uses)
    else this.#uses.delete(root)
    return uses <= 0
  }
}

/** A node has snapshots of what it runs, or ran until now. Those that are wanted are fetched; of others it may make the next. */
export function offered(state: State, node: Node, { replicas }: Extract<Event, { kind: 'checkpoints' }>, nowMs: number): void {
  for (const one of replicas) {
    const replica = heldBy(state, node, one.replica)
    const { checkpoint } = replica ?? { checkpoint: null }
    if (replica === undefined || (checkpoint?.kept === true && checkpoint.root === one.root) || !isWanted(replica, one, nowMs)) answer(state, node, one)
    else if (replica.saving !== one.root) {
      replica.saving = one.root
      state.out.effect({ kind: 'save', replica: replica.id, node: node.id, root: one.root, bytesMax: bytesMaxOf(replica) })
    }
  }
}

/** Answer to a `save`: from now on it is on record, and its node may drop it. */
export function saved(state: State, { replica: id, node: from, root, ok, bytes }: Extract<Event, { kind: 'saved' }>, nowMs: number): void {
  const replica = state.replica(id)
  if (replica?.saving === root) {
    replica.saving = null
    if (ok && mayKeep(replica)) keep(state, replica, { root, bytes, nowMs })
  }
  if (!state.checkpoints.has(root)) state.out.effect({ kind: 'unsave', root })
  const node = state.nodes.get(from)
  if (node !== undefined) answer(state, node, { replica: id, root })
}

/** The checkpoint that a new replica of the task on this node goes on from: the one that is furthest; null to begin with nothing. */
export function startFor(state: State, task: Task, node: Node): GoesOn | null {
  if (task.batch.policy.checkpointMs === 0) return null
  let best: Replica | undefined
  for (const replica of task.replicas)
    if (doneMsOf(replica) > (best === undefined ? -1 : doneMsOf(best)) && mayGoOnFrom(state, replica, { task, node })) best = replica
  const root = best?.checkpoint?.root
  return best === undefined || root === undefined ? null : { attempt: best.attempt, root }
}

/** What is known of a node that goes on from others' work is no more than what is known of them. */
export function standingFrom(task: Task, from: GoesOn | null, standing: Standing): Standing {
  const maker = from === null ? undefined : task.replicas[from.attempt - 1]
  if (maker === undefined) return standing
  const all = [standing, ...[maker, ...ancestorsOf(maker)].map((one) => one.standing)]
  return { row: Math.min(...all.map(({ row }) => row)), alone: all.every(({ alone }) => alone) }
}

/** It is not wanted any more. */
export function dropCheckpoint(state: State, replica: Replica): void {
  const { checkpoint, task } = replica
  if (checkpoint?.kept !== true) return
  replica.checkpoint = { ...checkpoint, kept: false }
  task.batch.client.checkpointBytes -= checkpoint.bytes
  state.out.task(task)
  if (state.checkpoints.delete(checkpoint.root)) state.out.effect({ kind: 'unsave', root: checkpoint.root })
}

/** The task is over. */
export function endCheckpoints(state: State, task: Task): void {
  if (task.batch.policy.checkpointMs > 0) for (const replica of task.replicas) dropCheckpoint(state, replica)
}

/** What a run was to go on from cannot be had: nobody is to blame, and nobody tries it again. */
export function lostSource(state: State, { task, from }: Replica): void {
  const maker = from === null ? undefined : task.replicas[from.attempt - 1]
  if (maker?.checkpoint?.root === from?.root && maker !== undefined) dropCheckpoint(state, maker)
}

/** After a restart. */
export function loadCheckpoint(state: State, { checkpoint, task }: Replica): void {
  if (checkpoint?.kept !== true) return
  state.checkpoints.add(checkpoint.root)
  task.batch.client.checkpointBytes += checkpoint.bytes
}

function isWanted(replica: Replica, { bytes, last }: Offered, nowMs: number): boolean {
  const { task, checkpoint } = replica
  const { client, policy } = task.batch
  if (policy.checkpointMs === 0 || !replica.granted || !mayKeep(replica) || bytes > bytesMaxOf(replica)) return false
  const room = roomOf(client)
  if (room !== null && room < bytes - (checkpoint?.kept === true ? checkpoint.bytes : 0)) return false
  // Of a run that ended the last one counts, however soon it comes.
  const pauseMs = last ? CHECKPOINT_MS_MIN : policy.checkpointMs * CHECKPOINT_EARLY_SHARE
  return checkpoint === null || Math.abs(nowMs - checkpoint.atMs) >= pauseMs
}

/** It runs, or was given back or lost just now: what it left may be of use, unless another goes on already from what it left before. */
function mayKeep({ state, fault, report, attempt, task }: Replica): boolean {
  if (report !== null || fault?.class === BANNED || task.endedAtMs !== null) return false
  if (task.replicas.some((other) => other.from?.attempt === attempt && hasVoice(other))) return false
  return isLive(state) || state === 'lost' || state === 'returned'
}

function keep(state: State, replica: Replica, { root, bytes, nowMs }: { readonly root: string; readonly bytes: number; readonly nowMs: number }): void {
  state.checkpoints.add(root)
  replica.task.batch.client.checkpointBytes += bytes
  dropCheckpoint(state, replica)
  replica.checkpoint = { root, bytes, atMs: nowMs, doneMs: doneBefore(replica) + ranMsOf(replica, nowMs), kept: true }
  // Whoever goes on does so from here, and no more from where this one began.
  for (const ancestor of ancestorsOf(replica)) if (!isLive(ancestor.state)) dropCheckpoint(state, ancestor)
  state.out.task(replica.task)
}

function mayGoOnFrom(state: State, maker: Replica, { task, node }: { readonly task: Task; readonly node: Node }): boolean {
  const { checkpoint, fault, report, commitment } = maker
  if (checkpoint?.kept !== true || isLive(maker.state) || report !== null || commitment !== null) return false
  // It hung, or is not believed.
  if (fault?.class === 'task' || fault?.class === BANNED) return false
  const hands = handsOf(maker)
  if (hands.some(({ ban }) => ban !== null) || failedFrom(maker) >= CHECKPOINT_TRIES_MAX) return false
  if (task.replicas.some((other) => hasVoice(other) && sharesHands(state, other, [...hands, node]))) return false
  return hands.every((hand) => hand === node) || hasOthers(state, { task, node, hands })
}

/** Runs that went on from it and came to nothing by a fault, without a checkpoint of their own. */
function failedFrom(maker: Replica): number {
  let failed = 0
  for (const other of maker.task.replicas)
    if (other.from?.attempt === maker.attempt && other.checkpoint === null && !hasVoice(other) && !isUnharmed(other.fault)) failed++
  return failed
}

/** Votes that went through the same hands, or through hands of one place that little is known of, confirm nothing to each other. */
function sharesHands(state: State, other: Replica, hands: readonly Node[]): boolean {
  const { task } = other
  return handsOf(other).some((its) =>
    hands.some((hand) => {
      if (its === hand) return true
      if (!shares(its.offer, hand.offer)) return false
      return task.batch.policy.independence === 'require' || !(isKnown(state, task, its) && isKnown(state, task, hand))
    })
  )
}

/** A quorum can be had without those whose work it would rest on: else a small project would wait for a voice that nobody has. */
function hasOthers(state: State, { task, node, hands }: { readonly task: Task; readonly node: Node; readonly hands: readonly Node[] }): boolean {
  const voices = new Set(task.replicas.filter(hasVoice).map((replica) => replica.node))
  let lacking = task.batch.policy.minQuorum - 1 - voices.size
  let looked = 0
  for (const other of state.nodes.values()) {
    if (lacking <= 0 || looked++ >= CHECKPOINT_NODES_LOOKED_MAX) break
    if (other === node || hands.includes(other) || !other.present || isBarred(task, other) || !suits(other, task.group)) continue
    lacking--
  }
  return lacking <= 0
}

/** How long was computed until its checkpoint, by all that went before it. */
function doneMsOf({ checkpoint }: Replica): number {
  return checkpoint?.kept === true ? checkpoint.doneMs : -1
}

function doneBefore({ task, from }: Replica): number {
  return from === null ? 0 : (task.replicas[from.attempt - 1]?.checkpoint?.doneMs ?? 0)
}

function ranMsOf({ state, atMs, ranMs }: Replica, nowMs: number): number {
  return ranMs + (state === 'running' || state === 'uploading' ? Math.max(0, nowMs - atMs) : 0)
}

function bytesMaxOf({ task }: Replica): number {
  return task.bundle.needs.diskBytes
}

/** Without a number: its node tells of it again with its next hello. */
function answer(state: State, node: Node, { replica, root }: { readonly replica: ReplicaId; readonly root: string }): void {
  if (node.connected) state.out.effect({ kind: 'send', node: node.id, seq: 0, frame: Frame.encode({ taken: { replicas: [{ replica, root }] } }) })
}

/** It was given back with a checkpoint: it does not count as issued, however often that comes, within reason. */
export function isContinued({ state, fault, checkpoint, attempt }: Pick<Replica, 'state' | 'fault' | 'checkpoint' | 'attempt'>): boolean {
  return state === 'returned' && checkpoint !== null && isUnharmed(fault) && fault?.class !== CHECKPOINT_GONE && attempt <= CONTINUED_MAX
}
