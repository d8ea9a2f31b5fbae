/** What follows for a task from its replicas: wait, issue more, decide, fail; and how it ends. */
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import { HOLDING_BYTES_MIN } from '#protocol/control/messages'
import type { PeerIdString } from '#protocol/ids'
import type { FailureCode } from '#protocol/owner/messages'
import type { Receipt } from '#protocol/result/receipt'
import { encodeDoneRecord } from './bundle-records.ts'
import { endCheckpoints } from './checkpoints.ts'
import { keptOutput } from './clients.ts'
import { askReveals, isSealed, isUnbound } from './commitments.ts'
import { agreesIn, compareAgain, compareOutputs, endComparison } from './comparisons.ts'
import { baseOf, earn } from './credit.ts'
import type { TaskFailure } from './events.ts'
import { holdDeadly, holdFailing } from './failing.ts'
import { leaveGroup } from './groups.ts'
import { restsOnOthers } from './hands.ts'
import { hintOver } from './hints.ts'
import { note } from './holders.ts'
import { tiesOf } from './independence.ts'
import { doneKey, fromKey, lateKey, openKey } from './keys.ts'
import { missesInputs } from './lost-inputs.ts'
import { OUT_OF_MEMORY, rememberMemory } from './memory.ts'
import { isOver, type Replica, type Report, type Task } from './model.ts'
import { ballotOf, outlook, wasTried } from './outlook.ts'
import { LATE_KEPT_MAX, NEEDS_KEPT_MAX, OUTPUT_LOSSES_MAX } from './policy.ts'
import { hasOutput, startPull } from './pulls.ts'
import { resultKey } from './receipt-records.ts'
import { askRechecks, endRecheck } from './rechecks.ts'
import { keepRemains, release } from './remains.ts'
import { blame, cancel, contradict, isFollowed } from './replicas.ts'
import { want } from './scheduler.ts'
import { batchOver, taskOver } from './sources.ts'
import type { State } from './state.ts'
import { hasVoice, isLive, isTerminal, TOO_LITTLE_MEMORY } from './states.ts'
import { moveTask } from './task-moves.ts'
import { accept, confirm, decidedAlone, distrust, refute } from './trust.ts'
import { encodeLateRecord, type LateRecord } from './trust-records.ts'
import { untied } from './validator.ts'

/** Called once for each task whose replicas changed in an event. */
export function settle(state: State, task: Task, nowMs: number): void {
  if (isTerminal(task.state) || task.state === 'created') return
  if (task.repeats !== null) {
    repeat(state, task, nowMs)
    return
  }
  if (task.decision !== null) {
    settleDecided(state, task, nowMs)
    return
  }
  const live = task.replicas.some((replica) => isLive(replica.state))
  const phase = live ? 'running' : task.replicas.some((replica) => replica.state === 'reported') ? 'validating' : 'staged'
  if (task.batch.policy.commit) askReveals(state, task, nowMs)
  const next = outlook(task)
  if (missesInputs(state, task, next)) {
    if (task.state !== phase) moveTask(state, task, phase)
    want(state, task, 0)
    return
  }
  // All that may be issued have ended, and too few are bound: what they are bound to is all that there will be.
  if (task.batch.policy.commit && !live && next.kind === 'wait' && next.count === 0) askReveals(state, task, nowMs, true)
  if (state.copies.size > 0 && task.replicas.some(({ copy }) => copy)) state.copiesChanged = true
  // A task that fails with nothing running goes straight from where it is.
  if (task.state !== phase && !(next.kind === 'failed' && phase === 'staged')) moveTask(state, task, phase)
  if (next.kind === 'wait') {
    if (next.count > 0) holdDeadly(state, task, nowMs)
    want(state, task, next.count)
  } else if (next.kind === 'compare') {
    want(state, task, next.count)
    compareOutputs(state, task, next.pairs, nowMs)
  } else if (next.kind === 'failed') fail(state, task, whyOf(state, task, next), nowMs)
  else decide(state, task, next.vote, nowMs)
}

/** What nodes say of an input, and what the shell says of it. */
function whyOf(state: State, task: Task, { code, message }: TaskFailure): TaskFailure {
  const look = state.lostInputs.get(task)
  return look?.kind === 'hopeless' && look.message !== '' && code === 'input' ? { code, message: `${message}; ${look.message}` } : { code, message }
}

/** created | staged | running | validating -> killed. `failure`: why, when nobody asked for it. */
export function kill(state: State, task: Task, nowMs: number, failure: TaskFailure | null = null): void {
  task.failure = failure
  keepRemains(state, task, nowMs)
  for (const replica of task.replicas) if (isLive(replica.state)) cancel(state, replica, 'killed', nowMs)
  moveTask(state, task, 'killed')
  end(state, task, nowMs)
}

/** staged -> ready: the same bundle was decided before, with a receipt that stands for this task, too. */
function repeat(state: State, task: Task, nowMs: number): void {
  moveTask(state, task, 'ready')
  end(state, task, nowMs)
}

/** validating -> ready | failed by its own exit: so many bytes of output are kept, or (null) nobody has what a failed run left. */
export function finish(state: State, task: Task, keptBytes: number | null, nowMs: number): void {
  const { decision } = task
  if (decision === null) throw new Error(`task ${task.id} is not decided`)
  const kept = { ...decision, held: keptBytes !== null }
  task.decision = kept
  keptOutput(state, task.batch.client, keptBytes ?? 0)
  task.failure = failureOf(decision.vote)
  judge(state, task, decision.vote, nowMs)
  for (const replica of task.replicas) {
    if (isLive(replica.state)) cancel(state, replica, 'decided', nowMs)
    else if (replica.state === 'reported') replica.verdict ??= 'inconclusive'
  }
  const agreeing = onePerNode(task.replicas.filter((replica) => replica.state === 'reported' && replica.verdict === 'valid'))
  const others = task.replicas.filter((replica) => replica.report !== null && hasVoice(replica) && replica.verdict !== 'valid')
  const [first] = agreeing
  if (first === undefined) throw new Error(`task ${task.id} is decided by no result`)
  const alone = aloneBy(task, decision.vote) !== null
  const signed = agreeing.map(({ report }) => (report as Report).signed)
  const receipt: Receipt = {
    v: 1,
    project: state.project,
    task: task.id,
    bundle: (first.report as Report).bundle,
    epoch: state.epoch,
    quorum: alone ? 1 : task.batch.policy.minQuorum,
    decidedAtMs: decision.atMs,
    vote: decision.vote,
    results: signed.map(({ body }) => body),
    dissent: others.map(({ node, report }) => ({ node: node.id, vote: (report as Report).vote })),
    ...(alone ? { trusted: agreeing.find(({ standing }) => standing.alone)?.standing.row ?? 0 } : {}),
    ...(agreeing.some(({ report }) => report?.vote !== decision.vote) ? { compare: JSON.stringify(task.batch.policy.compare) } : {})
  }
  task.decision = { ...kept, receipt: state.out.receipt(receipt, signed) }
  if (task.failure === null && keptBytes !== null) remember(state, task)
  if (task.failure === null) rememberMemory(state, task, agreeing)
  moveTask(state, task, task.failure === null ? 'ready' : 'failed')
  end(state, task, nowMs)
}

/** Once for all live tasks that share the bundle, as long as they are one client's. */
function remember(state: State, { id, bundle, batch, decision }: Task): void {
  const by = batch.client.id
  // For whoever names it as data after it was lost.
  if (decision !== null && decision.output !== EMPTY_DIRECTORY) state.out.add(fromKey(by, decision.output), encodeDoneRecord(id))
  // What was run again on named nodes was to look at those nodes.
  if (bundle.decidedFor === by || (batch.policy.force && batch.policy.nodes.length > 0)) return
  bundle.decidedFor = by
  state.out.add(doneKey(by, bundle.cid), encodeDoneRecord(id))
}

/** running -> validating with a canonical vote, which never changes again. */
function decide(state: State, task: Task, vote: string, nowMs: number): void {
  const agreed = task.replicas.find(({ report }) => report?.vote === vote)?.report
  if (agreed === undefined || agreed === null) throw new Error(`task ${task.id} is decided by no result`)
  const { exitCode, output, stdout, stderr, bytes } = agreed
  task.decision = { vote, atMs: nowMs, exitCode, output, stdout, stderr, bytes, held: false, receipt: null }
  if (failureOf(vote) === null) task.batch.succeeded = true
  if (task.state !== 'validating') moveTask(state, task, 'validating')
  want(state, task, 0)
  const credit = judge(state, task, vote, nowMs)
  for (const replica of task.replicas) {
    const itsOwn = !restsOnOthers(replica)
    if (itsOwn && isRefuted(replica, vote)) blame(state, replica.node, nowMs)
    if (replica.state !== 'lost' && !isLive(replica.state) && !isSealed(replica)) continue
    if (itsOwn && replica.granted && !isFollowed(replica) && !isUnbound(replica)) keepLate(state, replica, { vote, nowMs, alone: aloneBy(task, vote), credit })
    if (isLive(replica.state)) cancel(state, replica, 'decided', nowMs)
  }
  pull(state, task, nowMs)
}

/** It hung where others ran to their end, or was ended for its memory where others had enough of the same. */
function isRefuted({ fault, task, needs }: Replica, vote: string): boolean {
  if (fault?.class === 'task') return true
  if (fault?.class !== TOO_LITTLE_MEMORY || vote === OUT_OF_MEMORY) return false
  return task.replicas.some(({ report, needs: had }) => report?.vote === vote && had.memoryBytes <= needs.memoryBytes)
}

/** Fetches what was agreed on, unless there is nothing to fetch. */
function pull(state: State, task: Task, nowMs: number): void {
  const { decision } = task
  if (decision === null) return
  if (decision.output === EMPTY_DIRECTORY && decision.stdout === EMPTY_FILE && decision.stderr === EMPTY_FILE) finish(state, task, 0, nowMs)
  else startPull(state, task, nowMs)
}

/** A decided task whose agreed output nobody could hand over is computed again, by a node whose vote must be the canonical one. */
function settleDecided(state: State, task: Task, nowMs: number): void {
  const vote = task.decision?.vote
  if (vote !== undefined) judge(state, task, vote, nowMs)
  if (task.pull !== null) return
  if (task.replicas.some(hasOutput)) {
    want(state, task, 0)
    startPull(state, task, nowMs)
    return
  }
  if (vote !== undefined && compareAgain(state, task, vote, nowMs)) return
  if (task.replicas.some((replica) => isLive(replica.state))) return
  if (vote !== undefined && failureOf(vote) !== null) {
    // Nothing is missing but what a failed run left behind.
    finish(state, task, null, nowMs)
    return
  }
  const { maxErrorResults, maxTotalResults } = task.batch.policy
  const issued = task.replicas.filter((replica) => !replica.copy && wasTried(replica))
  const errors = issued.filter((replica) => ballotOf(replica).kind === 'error').length
  if (task.outputLosses > OUTPUT_LOSSES_MAX || errors >= maxErrorResults || issued.length >= maxTotalResults) {
    const message = `the nodes agreed, but none could hand over the output, ${task.outputLosses} times; submit the task again`
    fail(state, task, { code: 'output_lost', message }, nowMs)
  } else want(state, task, 1)
}

/** created | running | validating -> failed. */
export function fail(state: State, task: Task, failure: TaskFailure, nowMs: number): void {
  task.failure = { code: failure.code, message: failure.message }
  for (const replica of task.replicas) {
    if (isLive(replica.state)) cancel(state, replica, 'decided', nowMs)
    else if (replica.state === 'reported') replica.verdict ??= 'inconclusive'
  }
  moveTask(state, task, 'failed')
  end(state, task, nowMs)
}

/** Terminal: what was kept for it alone is dropped, those that reported may drop theirs (but for what a killed task is to leave). */
function end(state: State, task: Task, nowMs: number): void {
  const { batch, bundle } = task
  task.endedAtMs = nowMs
  const accused = endRecheck(state, task, nowMs)
  // It may have been doubted for this one task alone, and be believed still.
  if (accused !== undefined && accused.row > 0) distrust(state, accused)
  want(state, task, 0)
  task.pull = null
  state.waitingPulls.delete(task)
  endComparison(state, task)
  endCheckpoints(state, task)
  taskOver(state, task)
  hintOver(state, task)
  state.revealing.delete(task)
  state.lostInputs.delete(task)
  for (const { id, node, report, attempt, verdict, commitment } of task.replicas) {
    if (report === null && commitment === null) continue
    if (node.owed?.has(id) !== true) release(state, node, id)
    // It keeps what others may need: see node/agent/stock.ts. It says so itself only when it has heard of the release.
    if (report === null) continue
    if (verdict === 'valid' && report.bytes >= HOLDING_BYTES_MIN) note(state, node, { root: report.output, bytes: report.bytes }, true)
    if (report.stored) state.out.delete(resultKey(task, attempt))
  }
  state.liveTasks--
  batch.client.tasks--
  batch.tasks.delete(task)
  task.keepReplicas()
  if (--bundle.users === 0) state.bundles.delete(bundle.cid)
  leaveGroup(state, task.group)
  // They are shared, no more: those that are in use stay with whoever has them.
  if (state.groups.size === 0 || state.needs.size > NEEDS_KEPT_MAX) state.needs.clear()
  if (task.state === 'failed' && task.startedAtMs !== null) holdFailing(state, batch, nowMs)
  endBatch(state, task)
}

function endBatch(state: State, { batch }: Task): void {
  if (!isOver(batch)) return
  state.batches.delete(batch.id)
  batch.client.batches--
  if (batch.rechecks !== null) batch.client.rechecking--
  state.out.journal.batch(batch.id, 'over')
  state.queueLimits.delete(batch)
  batchOver(state, batch)
  state.out.delete(openKey(batch.id))
}

/** Whoever reported is judged by what was agreed, then paid: what each earns follows from all who agree. Answers what that is. */
function judge(state: State, task: Task, vote: string, nowMs: number): number {
  const alone = aloneBy(task, vote)
  const paid = task.replicas.filter((replica) => replica.state === 'reported' && compare(state, replica, { vote, alone, nowMs }))
  if (paid.length === 0) return 0
  const agreed = baseOf(task)
  let base = 0
  for (const replica of paid) base = earn(state, replica, { alone: alone === replica.node.id, agreed })
  return base
}

/** Judges a result against what was agreed: once, and not while it is not compared with it. True when it agrees and is its node's first. */
function compare(state: State, replica: Replica, { vote, alone, nowMs }: { vote: string; alone: PeerIdString | null; nowMs: number }): boolean {
  const { task, report } = replica
  if (report === null || replica.verdict !== null) return false
  const agrees = agreesIn(task)
  const valid = report.vote === vote || (agrees === undefined ? false : agrees(report.vote, vote))
  if (valid === undefined) return false
  const { node } = replica
  // One says so, one says otherwise: nobody knows who is wrong. The second was only to compute a lost output again.
  if (!valid && alone !== null) askRechecks(state, [task.id], alone)
  // Who says again what it said confirms nobody.
  const again = valid && task.replicas.some((other) => other.node === node && other.verdict === 'valid')
  // What went wrong may be in the checkpoint that it went on from.
  const itsOwn = !restsOnOthers(replica)
  replica.verdict = valid ? 'valid' : alone === null && itsOwn ? 'invalid' : 'inconclusive'
  if (again) node.valid++
  else if (valid && alone === null && isSeconded(task, vote)) confirm(state, node)
  else if (valid && alone === null) accept(state, node)
  else if (valid && replica.standing.alone) decidedAlone(state, replica)
  else if (valid) node.valid++
  else if (alone === null && itsOwn && task.decision?.atMs === nowMs) contradict(state, node, nowMs)
  // It was only to compute a lost output again: if many say otherwise, those who decided it may be the wrong ones.
  else if (alone === null && itsOwn) refute(state, node)
  state.out.node(node)
  state.out.task(task)
  return valid && !again
}

/** The node whose vote alone decided the task; null when a quorum did. */
function aloneBy({ replicas, batch }: Task, vote: string): PeerIdString | null {
  if (!batch.policy.adaptive) return null
  const agreeing = onePerNode(replicas.filter((replica) => replica.report?.vote === vote && hasVoice(replica)))
  // Whoever is one voice with it confirms nothing.
  const voices = untied(agreeing.map((replica) => ({ ties: tiesOf(replica) }))).length
  return voices >= batch.policy.minQuorum ? null : (agreeing.find(({ standing }) => standing.alone)?.node.id ?? null)
}

/** Two voices say so, or what agrees with it. */
function isSeconded(task: Task, vote: string): boolean {
  if (task.batch.policy.minQuorum > 1) return true
  if (task.replicas.length === 1) return false
  const agrees = agreesIn(task)
  const agreeing = task.replicas.filter(
    (replica) => replica.report !== null && hasVoice(replica) && (replica.report.vote === vote || agrees?.(replica.report.vote, vote) === true)
  )
  return untied(onePerNode(agreeing).map((replica) => ({ ties: tiesOf(replica) }))).length > 1
}

/** A node that was named may have computed a lost output again: it is one voice, and its first result stands. */
function onePerNode(replicas: readonly Replica[]): readonly Replica[] {
  return replicas.filter(({ node }, index) => replicas.findIndex((other) => other.node === node) === index)
}

/** It went through hands that the one result went through by which the task was decided, or is of its place where those are one voice. */
function isTied(replica: Replica, { vote, alone }: Pick<LateRecord, 'vote' | 'alone'>): boolean {
  if (alone === null) return false
  const ties = new Set(tiesOf(replica))
  return replica.task.replicas.some((other) => other.node.id === alone && other.report?.vote === vote && tiesOf(other).some((tie) => ties.has(tie)))
}

/** The result of a replica that was outstanding may come yet: it changes nothing but its node's record. */
function keepLate(
  state: State,
  replica: Replica,
  { vote, alone, credit, nowMs }: Pick<LateRecord, 'vote' | 'alone' | 'credit'> & { readonly nowMs: number }
): void {
  const late = {
    node: replica.node.id,
    vote,
    atMs: nowMs,
    exact: replica.task.batch.policy.compare === null,
    alone,
    credit,
    bound: replica.commitment,
    tied: isTied(replica, { vote, alone })
  }
  state.late.set(replica.id, late)
  state.out.create(lateKey(replica.id), encodeLateRecord(late))
  for (const oldest of state.late.keep(LATE_KEPT_MAX)) state.out.delete(lateKey(oldest))
}

/** What a quorum that agreed on a failure means for the task; null when it agreed on an output. */
export function failureOf(vote: string): TaskFailure | null {
  if (vote.startsWith('exit:')) return { code: 'exit', message: `the command ended with exit status ${vote.slice('exit:'.length)}` }
  if (!vote.startsWith('ended:')) return null
  const reason = vote.slice('ended:'.length)
  const code: FailureCode = reason === 'time' || reason === 'memory' || reason === 'disk' || reason === 'pids' ? reason : 'exit'
  return { code, message: `the run was ended by its ${reason} limit` }
}
