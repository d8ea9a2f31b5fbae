/**
 * Sealed results, under a policy with `commit`: who has run a task commits itself to its result first, and says what it is when
 * as many have committed themselves as must agree. So what one of them says, wherever it may leak, comes too late for the others
 * of the quorum to say the same. Under a quorum of one there is nobody to copy, and nothing is sealed. A node that is believed
 * alone is bound all the same, and asked at once: else its lease would tell it that nobody checks what it says.
 *
 * running -> reported, without a report: bound, and its slot is free. Counted on like a run that goes on, until it is opened.
 */
import { commitmentOf } from '#protocol/result/commitment'
import type { Event } from './events.ts'
import { enclose, type Node, type Replica, type Task } from './model.ts'
import { REVEAL_MS_MAX } from './policy.ts'
import { dropAwaited, release } from './remains.ts'
import { blame, close, mayReturn, moveReplica, unlose } from './replicas.ts'
import { dropLate } from './reports.ts'
import type { State } from './state.ts'
import { isLive } from './states.ts'

/** Its result is committed to first. Once it is decided what is agreed there is nothing to copy for a vote: who computes a lost output again says it at once. */
export function seals({ task }: Pick<Replica, 'task'>): boolean {
  return task.decision === null && isOfMany(task)
}

function isOfMany({ batch: { policy } }: Task): boolean {
  return policy.commit && policy.minQuorum > 1
}

/** It had to commit itself and has not: now that others have said what they found, what it says may be theirs. */
export function isUnbound({ task, commitment }: Replica): boolean {
  return isOfMany(task) && commitment === null
}

/** It is bound to a result that it has not said yet. */
export function isSealed(replica: Replica): boolean {
  return replica.commitment !== null && replica.report === null && replica.state === 'reported' && replica.verdict === null
}

/** live | lost -> reported, bound to what nobody knows yet. Whatever else is committed to is not wanted. */
export function commits(state: State, node: Node, { replicas }: Extract<Event, { kind: 'commits' }>, nowMs: number): void {
  for (const { replica: id, digest } of replicas) {
    const replica = state.replica(id)
    close(state, node, id)
    dropAwaited(state, node, id)
    if (replica?.node !== node || !isWanted(state, replica, nowMs)) {
      release(state, node, id)
      continue
    }
    if (replica.state === 'reported') continue
    if (replica.state === 'lost') unlose(state, replica)
    replica.commitment = digest
    moveReplica(state, replica, 'reported', nowMs)
  }
}

/** Said twice, or by who has no right to, it changes nothing. */
function isWanted(state: State, replica: Replica, nowMs: number): boolean {
  const { granted, commitment } = replica
  if (replica.state === 'reported') return commitment !== null
  if (!granted || !seals(replica)) return false
  return isLive(replica.state) || (replica.state === 'lost' && mayReturn(state, replica, nowMs))
}

/** Asks for what nodes are bound to, when so many are that they can decide; of one that is believed, at once; or (`last`) when nobody comes after them who could copy. */
export function askReveals(state: State, task: Task, nowMs: number, last = false): void {
  const sealed = task.replicas.filter(isSealed)
  if (sealed.length === 0) return
  const said = new Set([...sealed, ...task.replicas.filter(({ report, verdict }) => report !== null && verdict !== 'inconclusive')].map(({ node }) => node))
  const asked = last || said.size >= task.batch.policy.minQuorum ? sealed : sealed.filter(({ standing }) => standing.alone)
  if (asked.length === 0) return
  for (const replica of asked) {
    if (replica.revealMs !== null) continue
    replica.revealMs = nowMs
    enclose(replica.node, 'reveal', replica.id)
    state.out.speak(replica.node)
  }
  state.revealing.add(task)
}

/** It is what was committed to. */
export function isBoundTo(commitment: string, body: Uint8Array): boolean {
  return Buffer.from(commitmentOf(body)).toString('hex') === commitment
}

/** Whether the result is the one that its node is bound to. Who says another has failed, as who says none. */
export function opens(state: State, replica: Replica, body: Uint8Array, nowMs: number): boolean {
  const holds = replica.commitment !== null && isBoundTo(replica.commitment, body)
  if (holds) settleSeal(state, replica)
  else breakSeal(state, replica, 'it said another result than it had committed itself to: the answer was changed or copied', nowMs)
  return holds
}

/** The slow sweep: who was asked and says nothing. */
export function endReveals(state: State, nowMs: number): void {
  for (const task of state.revealing) {
    const sealed = task.replicas.filter(isSealed)
    for (const replica of sealed) {
      if (replica.revealMs === null) continue
      // By a clock that was set back nobody has longer.
      replica.revealMs = Math.min(replica.revealMs, nowMs)
      if (nowMs - replica.revealMs >= REVEAL_MS_MAX) breakSeal(state, replica, 'it did not say the result that it had committed itself to', nowMs)
    }
    if (sealed.length === 0) state.revealing.delete(task)
  }
}

/** Its task was decided without it, and what it said was judged as a late result: nothing more is to come. */
export function openLate(state: State, replica: Replica, body: Uint8Array, nowMs: number): void {
  if (opens(state, replica, body, nowMs)) release(state, replica.node, replica.id)
}

/** An error of its node, whatever it says later; what it has of it may go. */
function breakSeal(state: State, replica: Replica, message: string, nowMs: number): void {
  const { node } = replica
  replica.verdict = 'inconclusive'
  replica.fault = { class: 'node', message }
  blame(state, node, nowMs)
  dropLate(state, replica.id)
  release(state, node, replica.id)
  settleSeal(state, replica)
}

function settleSeal(state: State, replica: Replica): void {
  replica.commitment = null
  replica.revealMs = null
  state.out.task(replica.task)
  state.touched.add(replica.task)
}
