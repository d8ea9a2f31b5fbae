/** `task/<batch>.<index>`: a task with its replicas. Encoding is compact (lists, not maps: half the time and no key sorting) because a task is written four times in its life. */
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import type { PeerIdString, TaskId } from '#protocol/ids'
import { NONE } from '#protocol/lists'
import type { FailureCode } from '#protocol/owner/messages'
import { type Held, type HeldRow, heldOf, writeHeld } from './held-records.ts'
import type { Checkpoint, Fault, GoesOn } from './model.ts'
import type { ReceiptPlace } from './receipt-records.ts'
import { decodeRecord as decode, RECORD_VERSION } from './record-version.ts'
import { WRITER, writeTexts } from './record-writer.ts'
import { NO_STANDING, type Standing } from './standing.ts'
import type { ReplicaState, TaskState, Verdict } from './states.ts'

/** What was agreed on, and what is kept of it. CIDs as text. */
export interface Decision {
  readonly vote: string
  readonly atMs: number
  readonly exitCode: number
  readonly output: string
  readonly stdout: string
  readonly stderr: string
  readonly bytes: number
  /** True once the three are here and pinned, or are the well-known empty ones. */
  readonly held: boolean
  /** Null until there is one, and where it has a record of its own. */
  readonly receipt: ReceiptPlace | null
}

export interface ReplicaRecord {
  readonly attempt: number
  readonly node: PeerIdString
  readonly state: ReplicaState
  /** When it got into this state. */
  readonly atMs: number
  /** The epoch that its lease was issued in, which it keeps over a coordinator's restart. */
  readonly epoch: number
  /** UUIDs of its node's GPUs that are its alone. */
  readonly gpus: readonly string[]
  /** The right to run was given. */
  readonly granted: boolean
  /** How long it ran, until it ended or was lost; more than one such time is added up. */
  readonly ranMs: number
  /** Once reported. */
  readonly vote: string | null
  readonly exitCode: number | null
  readonly reason: string | null
  readonly verdict: Verdict | null
  readonly fault: Fault | null
  /** Made for an idle node, beside the replicas that the task needs. */
  readonly copy: boolean
  /** What was known of its node when it was leased. */
  readonly standing: Standing
  /** Its output could not be had from its node, and is not asked for again. */
  readonly spent: boolean
  /** What it was leased, where that is not what its bundle says; 0 otherwise. */
  readonly memoryBytes: number
  /** From its leave to run until its result came. */
  readonly tookMs: number
  /** The page of the ledger that says what it earned; 0 for nothing. */
  readonly creditPage: number
  /** What it is bound to, in hex, until it has said what that is. */
  readonly commitment: string | null
  /** What it goes on from; null when it began with nothing. */
  readonly from: GoesOn | null
  readonly checkpoint: Checkpoint | null
}

export interface TaskRecord {
  readonly id: TaskId
  /** '' while it waits for what it takes from others: sources-records.ts. */
  readonly bundle: string
  readonly createdAtMs: number
  /** When its first replica was leased. */
  readonly startedAtMs: number | null
  readonly endedAtMs: number | null
  readonly state: TaskState
  readonly failure: { readonly code: FailureCode; readonly message: string } | null
  readonly decision: Decision | null
  /** Times that its agreed output was lost. */
  readonly outputLosses: number
  readonly replicas: readonly ReplicaRecord[]
  /** By itself, not with its batch. */
  readonly held: Held | null
  /** The task that decided the same bundle before, whose decision and receipt it has. */
  readonly repeats: TaskId | null
}

/** Throws when the bytes are not a record that this version wrote: the store is corrupt. */
export function decodeTaskRecord(bytes: Uint8Array): TaskRecord {
  const [id, bundle, createdAtMs, startedAtMs, endedAtMs, state, failure, decision, outputLosses, replicas, held = null, repeats = null] = decode<
    [
      TaskId,
      string,
      number,
      number | null,
      number | null,
      TaskState,
      [FailureCode, string] | null,
      DecisionRow | null,
      number,
      ReplicaRow[],
      HeldRow?,
      (TaskId | null)?
    ]
  >('task', bytes)
  return {
    id,
    bundle,
    createdAtMs,
    startedAtMs,
    endedAtMs,
    state,
    failure: failure === null ? null : { code: failure[0], message: failure[1] },
    decision: decision === null ? null : decisionOf(decision),
    outputLosses,
    replicas: replicas.map((row) => replicaOf(row, decision?.[0])),
    held: heldOf(held),
    repeats
  }
}

export function encodeTaskRecord(task: TaskRecord): Uint8Array {
  writeTask(task, task.bundle)
  for (const replica of task.replicas)
    writeReplica(replica, { node: replica.node, said: replica, memoryBytes: replica.memoryBytes, agreed: task.decision?.vote })
  return writtenTask(task)
}

/** All that stands before its replicas, each of which `writeReplica` writes; `writtenTask` comes last. Of a live task as of its record, which need not be made first: this is done four times for each. */
export function writeTask(task: Omit<TaskRecord, 'bundle' | 'replicas'> & { readonly replicas: readonly unknown[] }, bundle: string): void {
  const { id, createdAtMs, startedAtMs, endedAtMs, state, failure, decision, outputLosses, replicas } = task
  WRITER.list(isPlain(task) ? 11 : 13)
    .int(RECORD_VERSION)
    .text(id)
    .text(bundle)
    .int(createdAtMs)
    .int(startedAtMs)
    .int(endedAtMs)
    .text(state)
  if (failure === null) WRITER.nil()
  else WRITER.list(2).text(failure.code).text(failure.message)
  if (decision === null) WRITER.nil()
  else {
    const { vote, atMs, exitCode, output, stdout, stderr, bytes, held, receipt } = decision
    WRITER.list(receipt === null ? 8 : 11)
      .text(vote)
      .int(atMs)
      .int(exitCode)
      .text(shorten(output))
      .text(shorten(stdout))
      .text(shorten(stderr))
      .int(bytes)
      .flag(held)
    if (receipt !== null) WRITER.int(receipt.epoch).int(receipt.page).int(receipt.index)
  }
  WRITER.int(outputLosses).list(replicas.length)
}

export function writtenTask(task: Pick<TaskRecord, 'held' | 'repeats'>): Uint8Array {
  if (!isPlain(task)) {
    writeHeld(task.held)
    WRITER.text(task.repeats)
  }
  return WRITER.done()
}

/** Few are held or answered at once. */
function isPlain({ held, repeats }: Pick<TaskRecord, 'held' | 'repeats'>): boolean {
  return held === null && repeats === null
}

/** Most runs leave one of the three empty. */
const SHORT: ReadonlyMap<string, string> = new Map([
  [EMPTY_DIRECTORY, 'd'],
  [EMPTY_FILE, 'f']
])

const LONG: ReadonlyMap<string, string> = new Map([...SHORT].map(([long, short]) => [short, long]))

function shorten(cid: string): string {
  return SHORT.get(cid) ?? cid
}

function lengthen(cid: string): string {
  return LONG.get(cid) ?? cid
}

/** What is found elsewhere of a live one: `said` in its report. */
interface ReplicaAbout {
  readonly node: PeerIdString
  readonly said: Pick<ReplicaRecord, 'vote' | 'exitCode' | 'reason'> | null
  readonly memoryBytes: number
  /** The task's vote, which is not written again. */
  readonly agreed: string | undefined
}

export function writeReplica(replica: Omit<ReplicaRecord, 'node' | 'vote' | 'exitCode' | 'reason' | 'memoryBytes'>, about: ReplicaAbout): void {
  const { attempt, state, atMs, epoch, gpus, granted, ranMs, verdict, fault, copy, standing, spent, tookMs, creditPage, commitment } = replica
  const { from, checkpoint } = replica
  const { node, said, memoryBytes, agreed } = about
  const vote = said === null ? null : said.vote
  const goesOn = from !== null || checkpoint !== null
  const bound = commitment !== null || goesOn
  const told = tookMs > 0 || creditPage > 0 || bound
  const known = standing.row > 0 || standing.alone || spent || memoryBytes > 0 || told
  // Most have no GPU and need no standing, and say nothing of it.
  WRITER.list(goesOn ? 23 : bound ? 21 : told ? 20 : memoryBytes > 0 ? 18 : spent ? 17 : known ? 16 : gpus.length === 0 ? 13 : 14)
    .int(attempt)
    .text(node)
    .text(state)
    .int(atMs)
    .int(epoch)
    .flag(granted)
  if (vote !== null && vote === agreed) WRITER.flag(true)
  else WRITER.text(vote)
  WRITER.int(said === null ? null : said.exitCode)
    .text(said === null ? null : said.reason)
    .text(verdict)
    .int(ranMs)
  if (fault === null) WRITER.nil()
  else WRITER.list(2).text(fault.class).text(fault.message)
  WRITER.flag(copy)
  if (known || gpus.length > 0) writeTexts(gpus)
  if (known) WRITER.int(standing.row).flag(standing.alone)
  if (spent || memoryBytes > 0 || told) WRITER.flag(spent)
  if (memoryBytes > 0 || told) WRITER.int(memoryBytes)
  if (told) WRITER.int(tookMs).int(creditPage)
  if (bound) WRITER.text(commitment)
  if (!goesOn) return
  if (from === null) WRITER.nil()
  else WRITER.list(2).int(from.attempt).text(from.root)
  if (checkpoint === null) WRITER.nil()
  else WRITER.list(5).text(checkpoint.root).int(checkpoint.bytes).int(checkpoint.atMs).int(checkpoint.doneMs).flag(checkpoint.kept)
}

type ReplicaRow = [
  number,
  PeerIdString,
  ReplicaState,
  number,
  number,
  boolean,
  /** True for what was agreed. */
  string | true | null,
  number | null,
  string | null,
  Verdict | null,
  ranMs: number,
  [string, string] | null,
  boolean,
  (readonly string[])?,
  number?,
  boolean?,
  boolean?,
  number?,
  number?,
  number?,
  (string | null)?,
  ([attempt: number, root: string] | null)?,
  ([root: string, bytes: number, atMs: number, doneMs: number, kept: boolean] | null)?
]

function replicaOf(
  [
    attempt,
    node,
    state,
    atMs,
    epoch,
    granted,
    vote,
    exitCode,
    reason,
    verdict,
    ranMs,
    fault,
    copy,
    gpus = NONE,
    row = 0,
    alone = false,
    spent = false,
    memoryBytes = 0,
    tookMs = 0,
    creditPage = 0,
    commitment = null,
    from = null,
    checkpoint = null
  ]: ReplicaRow,
  agreed: string | undefined
): ReplicaRecord {
  return {
    attempt,
    node,
    state,
    atMs,
    epoch,
    gpus,
    granted,
    ranMs,
    vote: vote === true ? (agreed ?? null) : vote,
    exitCode,
    reason,
    verdict,
    fault: fault === null ? null : { class: fault[0], message: fault[1] },
    copy,
    standing: row === 0 && !alone ? NO_STANDING : { row, alone },
    spent,
    memoryBytes,
    tookMs,
    creditPage,
    commitment,
    from: from === null ? null : { attempt: from[0], root: from[1] },
    checkpoint: checkpoint === null ? null : checkpointOf(checkpoint)
  }
}

function checkpointOf([root, bytes, atMs, doneMs, kept]: [string, number, number, number, boolean]): Checkpoint {
  return { root, bytes, atMs, doneMs, kept }
}

type DecisionRow = [
  vote: string,
  atMs: number,
  exitCode: number,
  output: string,
  stdout: string,
  stderr: string,
  bytes: number,
  held: boolean,
  epoch?: number,
  page?: number,
  index?: number
]

function decisionOf([vote, atMs, exitCode, output, stdout, stderr, bytes, held, epoch, page = 0, index = 0]: DecisionRow): Decision {
  const receipt = epoch === undefined ? null : { epoch, page, index }
  return { vote, atMs, exitCode, output: lengthen(output), stdout: lengthen(stdout), stderr: lengthen(stderr), bytes, held, receipt }
}
