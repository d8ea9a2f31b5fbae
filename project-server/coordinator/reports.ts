/** What a node says of its replicas, applied once each and in order: start, progress, results, returns. */
import { CID } from 'multiformats/cid'
import { isTextOf } from '#protocol/content/cid'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import { parseReplicaId, type ReplicaId } from '#protocol/ids'
import { type Result, voteOf } from '#protocol/result/result'
import { worked } from './aside.ts'
import { dropCheckpoint, lostSource } from './checkpoints.ts'
import { isBoundTo, isSealed, openLate, opens, seals } from './commitments.ts'
import { earnLate } from './credit.ts'
import type { Event } from './events.ts'
import { noteFigure } from './figures.ts'
import { note } from './holders.ts'
import { lateKey } from './keys.ts'
import { hadTooLittle, tryWithMore } from './memory.ts'
import { enclose, type Node, type Replica, type Report, type Task } from './model.ts'
import { measureShare } from './pace.ts'
import { encodeSeal, type StoredResult, sealId, sealKey } from './receipt-records.ts'
import { askRechecks } from './rechecks.ts'
import { dropAwaited, release, takeRemains } from './remains.ts'
import { blame, close, contradict, deadlineMs, giveBack, lose, mayReturn, moveReplica, refile, tell, unlose } from './replicas.ts'
import type { State } from './state.ts'
import { CHECKPOINT_GONE, isLive } from './states.ts'
import { agreedOnly, confirm, loseStanding } from './trust.ts'
import type { LateRecord } from './trust-records.ts'

/** Of a node that holds more, each is found by its id. */
const HELD_LOOKED_MAX = 8

type Of<Kind> = Extract<Event, { kind: Kind }>

/** leased | preparing -> running: compared with the lease as it is here, then set. Asking again for what one has is granted again; what was lost is found by a hello alone, since a node drops what it was told is unknown. */
export function start(state: State, node: Node, { replicas }: Of<'start'>, nowMs: number): void {
  for (const { replica: id, epoch } of replicas) {
    const replica = heldBy(state, node, id)
    if (replica === undefined || replica.epoch !== epoch) {
      refuse(node, id)
      if (replica !== undefined && isLive(replica.state))
        lose(state, replica, { message: `asked to start under epoch ${epoch}, leased in ${replica.epoch}` }, nowMs)
      continue
    }
    if (!isLive(replica.state)) {
      refuse(node, id)
      continue
    }
    replica.granted = true
    for (const need of replica.task.bundle.data ?? []) note(state, node, need, true)
    if (replica.state === 'leased' || replica.state === 'preparing') moveReplica(state, replica, 'running', nowMs)
    enclose(node, 'granted', replica)
  }
  if (replicas.length > 0) state.out.speak(node)
}

function refuse(node: Node, id: ReplicaId): void {
  enclose(node, 'refused', id)
}

/** For people to look at, and a sign that it goes on: told as an event, and not written with the replica. */
export function progress(state: State, node: Node, { replicas }: Of<'progress'>, nowMs: number): void {
  for (const { replica: id, state: said, again, figure } of replicas) {
    const replica = heldBy(state, node, id)
    if (replica === undefined) continue
    if (figure !== undefined) {
      // No sign of life: it is the task's word and not its node's.
      noteFigure(replica, figure, nowMs)
      continue
    }
    const moved = (replica.state === 'leased' && said === 'preparing') || (replica.state === 'running' && said === 'uploading')
    if (!moved && replica.state !== said) continue
    replica.signMs = nowMs
    replica.tells = again
    if (!moved) continue
    replica.state = said
    tell(state, replica)
    state.watch.at(node, deadlineMs(replica))
    state.out.watched(replica.task)
  }
}

/** running | uploading | lost -> reported, unless the task was decided without it, or killed. */
export function reports(state: State, node: Node, { results, seal: signed }: Of<'reports'>, nowMs: number): void {
  if (signed === null) return
  const seal = sealId(state.epoch, 'n', state.nextSeal++)
  let counted = false
  for (const [index, { result, body }] of results.entries()) {
    const replica = heldBy(state, node, result.replica)
    close(state, node, result.replica)
    // What is live did not come too late for anything.
    if ((replica === undefined || !isLive(replica.state)) && cameLate(state, node, { replica, result, body }, nowMs)) continue
    if (replica === undefined) takeRemains(state, node, result)
    else if (report(state, replica, { result, signed: { body, seal, index } }, nowMs)) counted = true
  }
  if (counted) state.out.put(sealKey(seal), encodeSeal(signed))
}

/** live -> returned. */
export function returned(state: State, node: Node, { replicas }: Of<'returned'>, nowMs: number): void {
  for (const { replica: id, class: said, code, message } of replicas) {
    const replica = heldBy(state, node, id)
    close(state, node, id)
    if (state.late.get(id)?.node === node.id) dropLate(state, id)
    dropAwaited(state, node, id)
    if (replica === undefined || !isLive(replica.state)) continue
    const kind = classOf(replica, said, nowMs)
    if (kind === CHECKPOINT_GONE) lostSource(state, replica)
    giveBack(state, replica, { class: kind, message: code === '' ? message : `${code}: ${message}` }, nowMs)
  }
}

/** Whose fault it is, in the words that are written down. */
function classOf({ granted, atMs, from, task }: Replica, said: string, nowMs: number): 'node' | 'task' | 'input' | 'owner' | typeof CHECKPOINT_GONE {
  // Of what it needed only the checkpoint is not what others need, too: with nothing it is tried again.
  if (said === 'input') return from === null ? 'input' : CHECKPOINT_GONE
  if (said === 'owner' || said === 'cancelled') return 'owner'
  // No run hangs that was not watched, or began just now; the node's clock may be slow.
  const mayHang = granted && task.bundle.silenceMs > 0 && 2 * (nowMs - atMs) >= task.bundle.silenceMs
  return said === 'task' && mayHang ? 'task' : 'node'
}

/** True when it counts. */
export function report(state: State, replica: Replica, { result, signed }: { result: Result; signed: StoredResult }, nowMs: number): boolean {
  if (isSealed(replica)) return open(state, replica, { result, signed }, nowMs)
  if (replica.state === 'reported' || replica.state === 'returned' || replica.state === 'cancelled') return false
  const fault = faultOf(replica, result)
  if (fault !== undefined) {
    if (isLive(replica.state)) giveBack(state, replica, { class: 'node', message: fault }, nowMs)
    return false
  }
  if (replica.state === 'lost' && (wasLate(replica) || !mayReturn(state, replica, nowMs))) {
    // It was judged when it came first; or the task has begun again on another platform or class, with which it cannot be compared, or on this node, which has one vote, or on one of its place.
    release(state, replica.node, replica.id)
    return false
  }
  if (replica.state === 'lost') unlose(state, replica)
  keep(state, replica, { result, signed })
  moveReplica(state, replica, 'reported', nowMs)
  return true
}

/** It was lost when its task was decided: its result is judged by what was kept of it then (`keepLate`), once, whoever brings it. */
function wasLate({ atMs, task }: Replica): boolean {
  return task.decision !== null && atMs <= task.decision.atMs
}

/** A sealed result is what its node was bound to, or its node is at fault. */
function open(state: State, replica: Replica, { result, signed }: { result: Result; signed: StoredResult }, nowMs: number): boolean {
  if (!opens(state, replica, signed.body, nowMs)) return false
  worked(state, replica.node)
  refile(state, replica.node)
  keep(state, replica, { result, signed })
  return true
}

/** What a replica says that may say it. */
function keep(state: State, replica: Replica, { result, signed }: { readonly result: Result; readonly signed: StoredResult }): void {
  replica.report = reportOf(replica.task, result, signed)
  dropCheckpoint(state, replica)
  loseStanding(replica)
  state.out.result(replica)
  measureShare(replica.node, replica.report)
  if (hadTooLittle(replica)) tryWithMore(state, replica)
}

function reportOf(task: Task, result: Result, signed: StoredResult): Report {
  return {
    bundle: result.bundle,
    vote: voteOf(result, task.bundle.compareStdout),
    exitCode: result.exitCode,
    reason: result.reason,
    output: cidText(result.output),
    stdout: cidText(result.stdout),
    stderr: cidText(result.stderr),
    bytes: result.bytes,
    ranMs: Math.max(0, result.endedAtMs - result.startedAtMs),
    cpuMs: Math.max(0, result.cpuMs),
    memoryPeakBytes: Math.max(0, result.memoryPeakBytes),
    signed,
    stored: false
  }
}

const EMPTY_ONES = [EMPTY_DIRECTORY, EMPTY_FILE].map((text) => ({ text, cid: CID.parse(text) }))

/** Most runs leave one of the three empty: those ids are not spelt again. */
function cidText(cid: CID): string {
  for (const empty of EMPTY_ONES) if (empty.cid.equals(cid)) return empty.text
  return cid.toString()
}

/** Why a result is no vote at all. */
function faultOf(replica: Replica, result: Result): string | undefined {
  const { granted, task, standing } = replica
  if (!granted) return 'it reported a run that it was not granted'
  // An older project server did not ask it of those that it believed.
  if (seals(replica) && !standing.alone) return 'it reported a result that it had not committed itself to first; is it older than the project?'
  if (!isTextOf(result.bundle, task.bundle.cid)) return `it reported another bundle, ${result.bundle}`
  return result.reason === 'killed' ? 'it ended a run that nobody wanted ended' : undefined
}

/** A result that came after its task was decided without it: right or wrong, it is its node's record that changes. Of who was bound to one it is that one, or a fault. */
export function cameLate(
  state: State,
  node: Node,
  { replica, result, body }: { readonly replica: Replica | undefined; readonly result: Result; readonly body: Uint8Array },
  nowMs: number
): boolean {
  const late = state.late.get(result.replica)
  if (late === undefined || late.node !== node.id) return false
  dropLate(state, result.replica)
  if (late.bound === null || isBoundTo(late.bound, body)) judgeLate(state, node, { late, result }, nowMs)
  else if (replica === undefined || !isSealed(replica)) blame(state, node, nowMs)
  if (replica !== undefined && isSealed(replica)) openLate(state, replica, body, nowMs)
  return true
}

function judgeLate(state: State, node: Node, { late, result }: { readonly late: LateRecord; readonly result: Result }, nowMs: number): void {
  // Whether stdout was compared is no longer known here: the vote it was decided by tells.
  const agrees = voteOf(result, false) === late.vote || voteOf(result, true) === late.vote
  if (result.reason === 'killed') return
  // What a run takes differs a little from host to host, and others may have had more.
  if (!agrees && result.reason === 'memory') return
  if (!agrees && !late.exact) return
  const { task, attempt } = parseReplicaId(result.replica) ?? { task: '', attempt: 0 }
  if (agrees) {
    if (late.tied) agreedOnly(state, node)
    else confirm(state, node)
    earnLate(state, node, { task, attempt, cpuMs: result.cpuMs, most: late.credit })
  } else if (late.alone === null) contradict(state, node, nowMs)
  else if (!state.rechecks.has(task)) askRechecks(state, [task], late.alone)
}

/** Nothing that comes of it tells anything any more. */
export function dropLate(state: State, id: ReplicaId): void {
  if (!state.late.has(id)) return
  state.late.delete(id)
  state.out.delete(lateKey(id))
}

/** A replica of a live task that this node has or had; whatever else a node names is not its business. */
export function heldBy(state: State, node: Node, id: ReplicaId): Replica | undefined {
  // Mostly it runs it, and few others: cheaper than to take the id to pieces and to look for its batch.
  if (node.held.length <= HELD_LOOKED_MAX) for (const held of node.held) if (held.id === id) return held
  const replica = state.replica(id)
  return replica?.node === node ? replica : undefined
}
