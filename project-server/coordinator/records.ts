/**
 * The durable records: keys and their dag-cbor values, all versioned. Encoding is compact (lists, not maps: half the time
 * and no key sorting) because a task is written four times in its life. Pure; the shell uses the decoders to answer for
 * what is no longer in memory.
 *
 * | key | value |
 * | --- | --- |
 * | `batch/<id>` | BatchRecord |
 * | `recent/<order, 12 digits>` | the batch's id: read backwards for newest first |
 * | `own/<client>/<order, 12 digits>` | the same, of one client's batches |
 * | `name/<client>/<name, URI-encoded>/<order, 12 digits>` | the batch's id: last one wins when its client uses a name again |
 * | `open/<id>` | empty: the batch has tasks that are not terminal |
 * | `task/<batch>.<index, 9 digits>` | TaskRecord |
 * | `bundle/<batch>/<cid>` | a manifest, stored once however many tasks of the batch share it |
 * | `sources/<batch>.<index, 9 digits>` | what a task takes from others: sources-records.ts |
 * | `done/<client>/<cid>` | the newest task of the client's that decided this bundle and is ready |
 * | `event/<number, 16 digits>` | what happened in one commit, for people: journal.ts |
 * | `sweep/<batch>`, `made/<batch>` | the generator of a batch, and how many of its tasks were made: sweeps.ts |
 * | `seal/`, `result/`, `receipt/` | what was signed: receipt-records.ts |
 * | `client/<peer>` | ClientRecord: client-records.ts |
 * | `node/<peer>` | NodeRecord |
 * | `link/<peer>` | LinkRecord of its control stream: the numbers, and what few short messages said that the node may not have yet |
 * | `out/<peer>/<seq, 16 digits>` | what a long message said, or one of many, until the node has it |
 * | `alone/<peer>/<task id>` | empty: this node alone decided the task, and was not confirmed since |
 * | `recheck/<task id>` | RecheckRecord: a decision that is to be looked at again |
 * | `revised/<batch>.<index, 9 digits>` | RevisedRecord: what came of that |
 * | `late/<replica id>` | a replica that was outstanding when its task was decided |
 * | `owed/<task id>`, `left/<batch>.<index, 9 digits>` | what the runs of a killed task may leave yet, and left: remains-records.ts |
 */
import { type CopyRule, DEFAULT_POLICY, type TaskPolicy } from '#protocol/bundle/policy'
import { Writer } from '#protocol/cbor/writer'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import type { Link, LinkNumbers, Numbered } from '#protocol/control/link'
import { type BatchId, type PeerIdString, parseTaskId, type ReplicaId, type TaskId } from '#protocol/ids'
import type { FailureCode } from '#protocol/owner/messages'
import type { AcceptedBundle, NodeOffer } from './events.ts'
import { LINK_MESSAGES_MAX } from './policy.ts'
import { decodeRecord as decode, encodeRecord as encode, RECORD_VERSION } from './record-version.ts'
import { ERROR_RATE_AT_FIRST_PPM, NO_STANDING, type Standing } from './standing.ts'
import type { ReplicaState, TaskState, Verdict } from './states.ts'

const WRITER = new Writer()

export interface BatchRecord {
  readonly id: BatchId
  readonly name: string
  readonly by: PeerIdString
  readonly createdAtMs: number
  /** Batches are numbered as they come. */
  readonly order: number
  readonly seed: number
  readonly policy: TaskPolicy
  /** More manifests are to come. */
  readonly open: boolean
  readonly tasks: number
  /** Created or staged: no replica of it is leased. */
  readonly created: number
  readonly running: number
  readonly validating: number
  readonly ready: number
  readonly failed: number
  readonly killed: number
  readonly held: Held | null
  /** When its wait began to count against its queue limit. */
  readonly queuedAtMs: number
}

/** A batch or a task gets no new replica until it is released. */
export interface Held {
  /** A client, or the project itself. */
  readonly by: PeerIdString
  /** For people; '' when none was given. */
  readonly reason: string
  readonly atMs: number
}

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
  /** Class of a returned replica and what was said, or why it was lost. */
  readonly fault: { readonly class: string; readonly message: string } | null
  /** Made for an idle node, beside the replicas that the task needs. */
  readonly copy: boolean
  /** What was known of its node when it was leased. */
  readonly standing: Standing
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

export interface NodeRecord {
  readonly id: PeerIdString
  readonly offer: NodeOffer
  /** online | lost | left, as of when it was written; whether it is connected now only memory knows. */
  readonly state: 'online' | 'lost' | 'left'
  readonly lastSeenMs: number
  readonly valid: number
  readonly invalid: number
  readonly errors: number
  readonly lost: number
  /** Results in a row that others confirmed. */
  readonly row: number
  /** Share of wrong results, as BOINC estimates it, in millionths. */
  readonly errorPpm: number
  /** When it first came. */
  readonly sinceMs: number
}

export interface RecheckRecord {
  /** Who alone decided it, and how; '' until that was read. */
  readonly node: PeerIdString
  readonly vote: string
  /** The task that runs it again; null until there is one. */
  readonly by: TaskId | null
}

export interface RevisedRecord {
  /** open: the other nodes did not agree either. */
  readonly verdict: 'confirmed' | 'revoked' | 'open'
  readonly by: TaskId
  /** What a quorum of others agreed on; '' when there was none. */
  readonly vote: string
  readonly atMs: number
}

export type Outgoing =
  | { readonly kind: 'assign'; readonly replicas: readonly ReplicaId[] }
  | { readonly kind: 'grant'; readonly granted: readonly ReplicaId[]; readonly refused: readonly ReplicaId[] }
  | { readonly kind: 'cancel'; readonly replicas: readonly ReplicaId[]; readonly reason: CancelReason }
  | { readonly kind: 'release'; readonly replicas: readonly ReplicaId[] }

/** A numbered message that waits for its acknowledgement. */
export interface Waiting {
  readonly said: Outgoing
  /** It has a record of its own. */
  readonly filed: boolean
}

export interface LinkRecord extends LinkNumbers {
  /** Those without a record of their own. The node may have them already: that is not written, and it tells with its next hello. */
  readonly waiting: readonly Numbered<Waiting>[]
}

/** `yield`: a copy gives its slot to a task that waits. */
export const CANCEL_REASONS = ['killed', 'decided', 'lost', 'held', 'yield'] as const
export type CancelReason = (typeof CANCEL_REASONS)[number]

export interface LateRecord {
  readonly node: PeerIdString
  readonly vote: string
  /** Another vote is wrong; else, as outputs that differ may agree, it tells nothing. */
  readonly exact: boolean
  readonly atMs: number
  /** The node that alone decided it, if one did. */
  readonly alone: PeerIdString | null
}

export function batchKey(id: BatchId): string {
  return `batch/${id}`
}

/** Tasks of a batch lie in the order of their index. */
export function taskKey(id: TaskId): string {
  const parts = parseTaskId(id)
  if (parts === undefined) throw new Error(`not a task id: ${id}`)
  return taskKeyOf(parts.batch, parts.index)
}

/** The same from the id's parts. */
export function taskKeyOf(batch: BatchId, index: number): string {
  return `task/${batch}.${padded(index, 9)}`
}

/** Beside the other manifests of its batch: keys that lie together are sorted together, and CIDs alone lie anywhere. */
export function bundleKey(batch: BatchId, cid: string): string {
  return `bundle/${batch}/${cid}`
}

export function openKey(id: BatchId): string {
  return `open/${id}`
}

export function recentKey(order: number): string {
  return `recent/${padded(order, 12)}`
}

export function ownKey(by: PeerIdString, order: number): string {
  return `${ownPrefix(by)}${padded(order, 12)}`
}

export function ownPrefix(by: PeerIdString): string {
  return `own/${by}/`
}

export function nameKey({ by, name }: { readonly by: PeerIdString; readonly name: string }, order: number): string {
  return `${namePrefix(by, name)}${padded(order, 12)}`
}

export function namePrefix(by: PeerIdString, name: string): string {
  return `name/${by}/${encodeURIComponent(name)}/`
}

export function nodeKey(id: PeerIdString): string {
  return `node/${id}`
}

export function linkKey(id: PeerIdString): string {
  return `link/${id}`
}

export function outKey(id: PeerIdString, seq: number): string {
  return `out/${id}/${padded(seq, 16)}`
}

/** The newest task of a client's that decided the bundle and is ready. */
export function doneKey(by: PeerIdString, cid: string): string {
  return `done/${by}/${cid}`
}

/** What a node alone decided lies together. */
export function aloneKey(node: PeerIdString, task: TaskId): string {
  return `alone/${node}/${task}`
}

export function recheckKey(task: TaskId): string {
  return `recheck/${task}`
}

export function revisedKey(task: TaskId): string {
  return `revised/${taskKey(task).slice('task/'.length)}`
}

export function lateKey(id: ReplicaId): string {
  return `late/${id}`
}

function padded(number: number, digits: number): string {
  return String(number).padStart(digits, '0')
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
      [string, number, number, string, string, string, number, boolean] | null,
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
  const { id, bundle, createdAtMs, startedAtMs, endedAtMs, state, failure, decision, outputLosses, replicas, held, repeats } = task
  // Few are held or answered at once, and this is written four times for each.
  const plain = held === null && repeats === null
  WRITER.list(plain ? 11 : 13)
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
    const { vote, atMs, exitCode, output, stdout, stderr, bytes, held } = decision
    WRITER.list(8).text(vote).int(atMs).int(exitCode).text(shorten(output)).text(shorten(stdout)).text(shorten(stderr)).int(bytes).flag(held)
  }
  WRITER.int(outputLosses).list(replicas.length)
  for (const replica of replicas) writeReplica(replica, decision?.vote)
  if (!plain) {
    writeHeld(held)
    WRITER.text(repeats)
  }
  return WRITER.done()
}

type HeldRow = [by: PeerIdString, reason: string, atMs: number] | null

function writeHeld(held: Held | null): void {
  if (held === null) WRITER.nil()
  else WRITER.list(3).text(held.by).text(held.reason).int(held.atMs)
}

function heldOf(row: HeldRow): Held | null {
  return row === null ? null : { by: row[0], reason: row[1], atMs: row[2] }
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

function writeReplica(replica: ReplicaRecord, agreed: string | undefined): void {
  const { attempt, node, state, atMs, epoch, gpus, granted, ranMs, vote, exitCode, reason, verdict, fault, copy, standing } = replica
  const known = standing.row > 0 || standing.alone
  // Most have no GPU and need no standing, and say nothing of it.
  WRITER.list(known ? 16 : gpus.length === 0 ? 13 : 14)
    .int(attempt)
    .text(node)
    .text(state)
    .int(atMs)
    .int(epoch)
    .flag(granted)
  if (vote !== null && vote === agreed) WRITER.flag(true)
  else WRITER.text(vote)
  WRITER.int(exitCode).text(reason).text(verdict).int(ranMs)
  if (fault === null) WRITER.nil()
  else WRITER.list(2).text(fault.class).text(fault.message)
  WRITER.flag(copy)
  if (known || gpus.length > 0) writeTexts(gpus)
  if (known) WRITER.int(standing.row).flag(standing.alone)
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
  boolean?
]

const NO_GPUS: readonly string[] = []

function replicaOf(
  [attempt, node, state, atMs, epoch, granted, vote, exitCode, reason, verdict, ranMs, fault, copy, gpus = NO_GPUS, row = 0, alone = false]: ReplicaRow,
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
    standing: row === 0 && !alone ? NO_STANDING : { row, alone }
  }
}

function decisionOf([vote, atMs, exitCode, output, stdout, stderr, bytes, held]: [string, number, number, string, string, string, number, boolean]): Decision {
  return { vote, atMs, exitCode, output: lengthen(output), stdout: lengthen(stdout), stderr: lengthen(stderr), bytes, held }
}

export function encodeBatchRecord(batch: BatchRecord): Uint8Array {
  const { id, name, by, createdAtMs, order, seed, policy, open, tasks, created, running, validating, ready, failed, killed, held, queuedAtMs } = batch
  const {
    minQuorum,
    targetResults,
    maxErrorResults,
    maxTotalResults,
    maxSuccessResults,
    priority,
    nodes,
    queueLimitMs,
    independence,
    tags,
    deadlineMs,
    compare,
    force,
    copies,
    sameClass,
    adaptive,
    doubtPpm,
    estimateMs
  } = policy
  WRITER.list(18).int(RECORD_VERSION).text(id).text(name).text(by).int(createdAtMs).int(order).int(seed).list(18)
  WRITER.int(minQuorum).int(targetResults).int(maxErrorResults).int(maxTotalResults).int(maxSuccessResults).int(priority)
  writeTexts(nodes)
  WRITER.int(queueLimitMs).text(independence)
  writeTexts(tags)
  // Tolerances are fractions, which the writer does not know.
  WRITER.int(deadlineMs)
    .text(compare === null ? null : JSON.stringify(compare))
    .flag(force)
    .text(copies)
    .text(sameClass)
    .flag(adaptive)
    .int(doubtPpm)
    .int(estimateMs)
    .flag(open)
    .int(tasks)
    .int(created)
    .int(running)
    .int(validating)
    .int(ready)
    .int(failed)
    .int(killed)
  writeHeld(held)
  return WRITER.int(queuedAtMs).done()
}

export function decodeBatchRecord(bytes: Uint8Array): BatchRecord {
  const [id, name, by, createdAtMs, order, seed, row, open, tasks, created, running, validating, ready, failed, killed, held = null, queuedAtMs = createdAtMs] =
    decode<
      [
        BatchId,
        string,
        PeerIdString,
        number,
        number,
        number,
        [
          number,
          number,
          number,
          number,
          number,
          number,
          string[],
          number?,
          TaskPolicy['independence']?,
          string[]?,
          number?,
          (string | null)?,
          boolean?,
          CopyRule?,
          TaskPolicy['sameClass']?,
          boolean?,
          number?,
          number?
        ],
        boolean,
        number,
        number,
        number,
        number,
        number,
        number,
        number,
        HeldRow?,
        number?
      ]
    >('batch', bytes)
  const [
    minQuorum,
    targetResults,
    maxErrorResults,
    maxTotalResults,
    maxSuccessResults,
    priority,
    nodes,
    queueLimitMs = 0,
    independence = 'prefer',
    tags = [],
    deadlineMs = 0,
    comparing = null,
    force = false,
    copies = DEFAULT_POLICY.copies,
    sameClass = 'no',
    adaptive = false,
    doubtPpm = 0,
    estimateMs = 0
  ] = row
  const compare = comparing === null ? null : (JSON.parse(comparing) as TaskPolicy['compare'])
  const policy = {
    minQuorum,
    targetResults,
    maxErrorResults,
    maxTotalResults,
    maxSuccessResults,
    priority,
    nodes,
    queueLimitMs,
    independence,
    tags,
    deadlineMs,
    compare,
    force,
    copies,
    sameClass,
    adaptive,
    doubtPpm,
    estimateMs
  }
  const counts = { created, running, validating, ready, failed, killed }
  return { id, name, by, createdAtMs, order, seed, policy, open, tasks, ...counts, held: heldOf(held), queuedAtMs }
}

export function encodeBundleRecord({ bytes, platform, data = [] }: Pick<AcceptedBundle, 'bytes' | 'platform' | 'data'>): Uint8Array {
  WRITER.list(data.length > 0 ? 4 : platform === undefined ? 2 : 3)
    .int(RECORD_VERSION)
    .bytes(bytes)
  if (platform !== undefined) WRITER.text(platform)
  else if (data.length > 0) WRITER.nil()
  if (data.length > 0) WRITER.list(data.length)
  for (const { root, within, bytes } of data) {
    WRITER.list(3).text(root)
    if (within === null) WRITER.nil()
    else WRITER.text(within)
    WRITER.int(bytes)
  }
  return WRITER.done()
}

/** The manifest. */
export function decodeBundleRecord(record: Uint8Array): Uint8Array {
  return decode<BundleRow>('bundle', record)[0]
}

type BundleRow = [manifest: Uint8Array, platform?: string | null, data?: [root: string, within: string | null, bytes: number][]]

/** What its image is for, and how large everything is that it refers to. */
export function factsOfBundle(record: Uint8Array): Pick<AcceptedBundle, 'platform' | 'data'> {
  const [, platform, data = []] = decode<BundleRow>('bundle', record)
  return { ...(typeof platform === 'string' ? { platform } : {}), data: data.map(([root, within, bytes]) => ({ root, within, bytes })) }
}

type GpuRow = [uuid: string, model: string, memoryBytes: number, driver: string]
type OfferRow = [
  string,
  string,
  string,
  string[],
  number,
  number,
  number,
  number,
  string[],
  PeerIdString | null,
  string,
  exclusive: string[],
  gpus: GpuRow[],
  ownerOnly: boolean,
  cpu?: string
]

export function encodeDoneRecord(task: TaskId): Uint8Array {
  return WRITER.list(2).int(RECORD_VERSION).text(task).done()
}

export function decodeDoneRecord(record: Uint8Array): TaskId {
  return decode<[TaskId]>('done', record)[0]
}

export function encodeNodeRecord(node: NodeRecord): Uint8Array {
  const { id, offer, state, lastSeenMs, valid, invalid, errors, lost, row, errorPpm, sinceMs } = node
  const { name, agent, platform, engines, cpuMillis, memoryBytes, diskBytes, slots, tags, exclusive, gpus, ownerOnly, owner, network, cpu } = offer
  WRITER.list(12).int(RECORD_VERSION).text(id).list(15).text(name).text(agent).text(platform)
  writeTexts(engines)
  WRITER.int(cpuMillis).int(memoryBytes).int(diskBytes).int(slots)
  writeTexts(tags)
  if (owner === null) WRITER.nil()
  else WRITER.text(owner)
  WRITER.text(network)
  writeTexts(exclusive)
  WRITER.list(gpus.length)
  for (const { uuid, model, memoryBytes: bytes, driver } of gpus) WRITER.list(4).text(uuid).text(model).int(bytes).text(driver)
  return WRITER.flag(ownerOnly).text(cpu).text(state).int(lastSeenMs).int(valid).int(invalid).int(errors).int(lost).int(row).int(errorPpm).int(sinceMs).done()
}

export function decodeNodeRecord(bytes: Uint8Array): NodeRecord {
  const [id, offered, state, lastSeenMs, valid, invalid, errors, lost, row = 0, errorPpm = ERROR_RATE_AT_FIRST_PPM, sinceMs = lastSeenMs] = decode<
    [PeerIdString, OfferRow, NodeRecord['state'], number, number, number, number, number, number?, number?, number?]
  >('node', bytes)
  const [name, agent, platform, engines, cpuMillis, memoryBytes, diskBytes, slots, tags, owner, network, exclusive, gpuRows, ownerOnly, cpu = ''] = offered
  const gpus = gpuRows.map(([uuid, model, bytes, driver]) => ({ uuid, model, memoryBytes: bytes, driver }))
  const offer = { name, agent, platform, engines, cpuMillis, memoryBytes, diskBytes, slots, tags, exclusive, gpus, ownerOnly, owner, network, cpu }
  return { id, offer, state, lastSeenMs, valid, invalid, errors, lost, row, errorPpm, sinceMs }
}

export function encodeLinkRecord(link: Link<Waiting>): Uint8Array {
  // Those without a record of their own are among the first: they were few when it was numbered.
  const waiting = link.pending(LINK_MESSAGES_MAX).filter(({ payload }) => !payload.filed)
  WRITER.list(5).int(RECORD_VERSION).text(link.id).int(link.sent).int(link.received).list(waiting.length)
  for (const { seq, payload } of waiting) {
    WRITER.list(4).int(seq)
    writeOutgoing(payload.said)
  }
  return WRITER.done()
}

export function decodeLinkRecord(bytes: Uint8Array): LinkRecord {
  const [id, sent, received, rows] = decode<[string, number, number, [number, ...OutgoingRow][]]>('link', bytes)
  return { id, sent, received, waiting: rows.map(([seq, ...row]) => ({ seq, payload: { said: outgoingOf(row), filed: false } })) }
}

export function encodeOutgoing(outgoing: Outgoing): Uint8Array {
  WRITER.list(4).int(RECORD_VERSION)
  writeOutgoing(outgoing)
  return WRITER.done()
}

export function decodeOutgoing(bytes: Uint8Array): Outgoing {
  return outgoingOf(decode<OutgoingRow>('outgoing', bytes))
}

/** Last: those refused of a grant, the reason of a cancel. */
type OutgoingRow = [Outgoing['kind'], ReplicaId[], ReplicaId[] | CancelReason | null]

/** Three items. */
function writeOutgoing(outgoing: Outgoing): void {
  const { kind } = outgoing
  WRITER.text(kind)
  writeTexts(kind === 'grant' ? outgoing.granted : outgoing.replicas)
  if (kind === 'grant') writeTexts(outgoing.refused)
  else WRITER.text(kind === 'cancel' ? outgoing.reason : null)
}

function outgoingOf([kind, replicas, more]: OutgoingRow): Outgoing {
  if (kind === 'grant') return { kind, granted: replicas, refused: Array.isArray(more) ? more : [] }
  if (kind === 'cancel') return { kind, replicas, reason: more as CancelReason }
  return { kind, replicas }
}

export function encodeLateRecord({ node, vote, atMs, exact, alone }: LateRecord): Uint8Array {
  return encode([node, vote, atMs, exact, alone])
}

export function decodeLateRecord(bytes: Uint8Array): LateRecord {
  const [node, vote, atMs, exact = true, alone = null] = decode<[PeerIdString, string, number, boolean?, (PeerIdString | null)?]>('late', bytes)
  return { node, vote, atMs, exact, alone }
}

export function encodeRecheckRecord({ node, vote, by }: RecheckRecord): Uint8Array {
  return encode([node, vote, by])
}

export function decodeRecheckRecord(bytes: Uint8Array): RecheckRecord {
  const [node, vote, by] = decode<[PeerIdString, string, TaskId | null]>('recheck', bytes)
  return { node, vote, by }
}

export function encodeRevisedRecord({ verdict, by, vote, atMs }: RevisedRecord): Uint8Array {
  return encode([verdict, by, vote, atMs])
}

export function decodeRevisedRecord(bytes: Uint8Array): RevisedRecord {
  const [verdict, by, vote, atMs] = decode<[RevisedRecord['verdict'], TaskId, string, number]>('revised', bytes)
  return { verdict, by, vote, atMs }
}

function writeTexts(texts: readonly string[]): void {
  WRITER.list(texts.length)
  for (const text of texts) WRITER.text(text)
}
