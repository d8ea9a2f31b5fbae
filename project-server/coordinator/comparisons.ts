/**
 * Comparing outputs whose ids differ, under a policy that lets them: who is asked for what, which pairs are known to agree, when
 * again, and which result counts as an error because its output cannot be had. What was found lives in memory: after a restart it
 * is asked again, and what was decided by it is written down. An output that was lost and computed again is compared with the one
 * that was agreed on, as long as that can still be had to be looked at; it may be here although its logs are not.
 *
 * Where a program of the owner's compares, and is at fault itself, its batch is held: nobody's result is judged by it. A program runs on
 * the project's machine, so a hold keeps it from running, too; a release has it asked again.
 */
import { type Agrees, isOutput } from './agreement.ts'
import { isPast } from './clock.ts'
import type { Candidate, Event } from './events.ts'
import { hold } from './holds.ts'
import { isHeld, type Replica, type Task } from './model.ts'
import { PULL_LOG_BYTES_MAX, PULL_RETRY_MS, PULL_ROUNDS_MAX, PULL_WAIT_MS_MAX } from './policy.ts'
import { holdersOf, inOrder } from './pulls.ts'
import type { State } from './state.ts'

/** What is known of a task's outputs. */
export interface Comparison {
  /** By both votes, the smaller first. */
  readonly pairs: Map<string, boolean>
  /** Being fetched and compared. */
  asked: boolean
  /** What was agreed on cannot be had any more: nothing is said to be close to it. */
  lost: boolean
  round: number
  sinceMs: number
  retryAtMs: number
  /** Why the project could not run the owner's program when it was asked last; '' when it could. */
  trouble: string
}

/** How the votes of a task relate; undefined when its policy wants them equal. */
export function agreesIn({ batch, comparison }: Task): Agrees | undefined {
  if (batch.policy.compare === null) return undefined
  return (a, b) => (isOutput(a) && isOutput(b) ? comparison?.pairs.get(pairOf(a, b)) : false)
}

/** The results that were reported differ: they are fetched and compared, unless they are already. */
export function compareOutputs(state: State, task: Task, pairs: readonly (readonly [a: string, b: string])[], nowMs: number): void {
  task.comparison ??= { pairs: new Map(), asked: false, lost: false, round: 1, sinceMs: nowMs, retryAtMs: nowMs, trouble: '' }
  const { comparison } = task
  if (comparison.asked || !isPast(comparison.retryAtMs, PULL_RETRY_MS, nowMs) || isStopped(task)) {
    state.waitingComparisons.add(task)
    return
  }
  const { compare } = task.batch.policy
  if (compare === null) return
  comparison.asked = true
  const wanted = new Set(pairs.flat())
  const candidates = candidatesOf(state, task).filter(({ vote }) => wanted.has(vote))
  const bytesMax = task.bundle.needs.diskBytes + PULL_LOG_BYTES_MAX
  state.out.effect({ kind: 'compare', task: task.id, by: compare, client: task.batch.client.id, candidates, pairs, bytesMax })
}

/** The task is decided and its output lost: results that differ from it are compared with it. False when there is nothing to compare, and what cannot be compared is judged by nobody. */
export function compareAgain(state: State, task: Task, vote: string, nowMs: number): boolean {
  const agrees = agreesIn(task)
  if (agrees === undefined) return false
  const unknown = task.replicas.filter(({ report, verdict }) => report !== null && verdict === null && agrees(report.vote, vote) === undefined)
  if (unknown.length === 0) return false
  if (task.comparison?.lost !== true) {
    compareOutputs(
      state,
      task,
      [...new Set(unknown.map(({ report }) => report?.vote ?? ''))].map((other) => [vote, other] as const),
      nowMs
    )
    return true
  }
  for (const replica of unknown) replica.verdict = 'inconclusive'
  state.out.task(task)
  return false
}

/** What came of it. A result whose output none of its nodes hands over in time is an error of theirs. */
export function compared(state: State, task: Task, event: Extract<Event, { kind: 'compared' }>, nowMs: number): void {
  const { comparison, decision } = task
  const { pairs } = event
  if (comparison === null || !comparison.asked) return
  comparison.asked = false
  for (const { a, b, agree } of pairs) comparison.pairs.set(pairOf(a, b), agree)
  tell(state, task, pairs)
  state.touched.add(task)
  // What is decided stays. It was asked for often enough before it counted as lost.
  if (decision !== null && event.missing.includes(decision.vote)) comparison.lost = true
  const missing = decision === null ? event.missing : event.missing.filter((vote) => vote !== decision.vote)
  answered(state, task, comparison, event.fault, nowMs)
  if (missing.length === 0) {
    comparison.round = 1
    comparison.sinceMs = nowMs
    comparison.retryAtMs = event.fault?.of === 'project' ? nowMs + PULL_RETRY_MS : nowMs
    return
  }
  comparison.retryAtMs = nowMs + PULL_RETRY_MS
  const away = reported(task).some((replica) => missing.includes(replica.report?.vote ?? '') && holdersOf(state, replica).some((node) => !node.connected))
  const tooLong = nowMs - comparison.sinceMs >= PULL_WAIT_MS_MAX || (comparison.round >= PULL_ROUNDS_MAX && !away)
  comparison.round++
  if (!tooLong) return
  comparison.round = 1
  comparison.sinceMs = nowMs
  for (const replica of reported(task)) {
    if (replica.verdict !== null || !missing.includes(replica.report?.vote ?? '')) continue
    replica.verdict = 'inconclusive'
    replica.fault = { class: 'node', message: 'its output could not be had to be compared' }
    replica.node.errors++
    state.out.node(replica.node)
    state.out.task(task)
  }
}

/** A program that is at fault judges nobody, and is not run again before somebody has looked. */
function answered(state: State, task: Task, comparison: Comparison, fault: Extract<Event, { kind: 'compared' }>['fault'], nowMs: number): void {
  comparison.trouble = fault?.of === 'project' ? fault.message : ''
  if (fault?.of !== 'program') return
  const reason = `the program that compares its results is at fault, asked about task ${task.index}: ${fault.message}`
  hold(state, task.batch, { by: state.project, reason, nowMs })
}

/** It is held, and a program would have to be run. */
export function isStopped(task: Task): boolean {
  return task.batch.policy.compare?.kind === 'program' && isHeld(task)
}

/** How results were compared, for people. */
function tell(state: State, { batch, index }: Task, pairs: readonly { readonly agree: boolean }[]): void {
  const { compare } = batch.policy
  if (pairs.length === 0 || compare === null) return
  const agree = pairs.filter((pair) => pair.agree).length
  const by = compare.kind === 'program' ? `program ${compare.bundle}` : 'tolerance'
  state.out.journal.task(batch.id, index, 'compared', `by ${by}: ${agree} of ${pairs.length} pairs of outputs agree`)
}

/** The slow sweep: what could not be fetched is asked for again. */
export function retryComparisons(state: State, nowMs: number): void {
  for (const task of [...state.waitingComparisons]) {
    const { comparison } = task
    // By a clock that was set back it is given up no later.
    if (comparison !== null) comparison.sinceMs = Math.min(comparison.sinceMs, nowMs)
    if (comparison?.asked === true || !isPast(comparison?.retryAtMs ?? 0, PULL_RETRY_MS, nowMs) || isStopped(task)) continue
    state.waitingComparisons.delete(task)
    state.touched.add(task)
  }
}

/** Nothing more is compared: what was fetched for it may go, but for what is pinned. */
export function endComparison(state: State, task: Task): void {
  if (task.comparison === null) return
  task.comparison = null
  state.waitingComparisons.delete(task)
  state.out.effect({ kind: 'compared_enough', task: task.id })
}

/** One for each output, with all nodes that have it, those that are here first. */
function candidatesOf(state: State, task: Task): Candidate[] {
  const found = new Map<string, Replica[]>()
  for (const replica of reported(task)) {
    const { vote = '' } = replica.report ?? {}
    if (isOutput(vote)) found.set(vote, [...(found.get(vote) ?? []), replica])
  }
  return [...found].flatMap(([vote, replicas]) => {
    const { output, stdout } = replicas[0]?.report ?? {}
    if (output === undefined || stdout === undefined) return []
    const nodes = inOrder(replicas.flatMap((replica) => holdersOf(state, replica)))
    return [{ vote, nodes, output, stdout: task.bundle.compareStdout ? stdout : null }]
  })
}

/** Those that count as votes. */
function reported(task: Task): Replica[] {
  return task.replicas.filter(({ report, verdict }) => report !== null && verdict !== 'inconclusive')
}

export function pairOf(a: string, b: string): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`
}
