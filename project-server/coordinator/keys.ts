/**
 * The keys of the durable records. Their values are dag-cbor, all versioned; the shell uses the decoders to answer for what is
 * no longer in memory.
 *
 * | key | value |
 * | --- | --- |
 * | `batch/<id>` | BatchRecord |
 * | `recent/<order, 12 digits>` | the batch's id: read backwards for newest first |
 * | `own/<client>/<order, 12 digits>` | the same, of one client's batches |
 * | `name/<client>/<name, URI-encoded>/<order, 12 digits>` | the batch's id: last one wins when its client uses a name again |
 * | `open/<id>` | empty: the batch has tasks that are not terminal |
 * | `task/<batch>.<index, 9 digits>` | TaskRecord |
 * | `submitted/<batch>.<index, 9 digits>` | tasks in a row as they came, with their bundles, until they have TaskRecords: submitted-records.ts |
 * | `bundle/<batch>/<cid>` | a bundle that lies by itself: of a task that waits for others before and after that, the template of a sweep, and all of an older server's |
 * | `sources/<batch>.<index, 9 digits>`, `sources/<batch>` | what a task, or each of a sweep, takes from others: sources-records.ts |
 * | `done/<client>/<cid>` | the newest task of the client's that decided this bundle and is ready |
 * | `from/<client>/<root>` | the newest task of the client's that left this output, and is ready |
 * | `event/<number, 16 digits>` | what happened in one commit, for people: journal.ts |
 * | `sweep/<batch>`, `made/<batch>` | the generator of a batch, how many of its tasks were made, and how the rest ended: sweeps.ts |
 * | `seal/`, `result/`, `receipts/`, `receipt/` | what was signed: receipt-records.ts |
 * | `credit/`, `earned/` | what nodes earned, signed, and what owners have by it: ledger.ts |
 * | `client/<peer>` | ClientRecord: client-records.ts |
 * | `node/<peer>` | NodeRecord |
 * | `memory/<client>/<program>` | what its last runs took: memory-history.ts |
 * | `ban/<kind>/<value>` | whom the project lets in no more: ban-records.ts |
 * | `link/<peer>` | LinkRecord of its control stream: the numbers, and what few short messages said that the node may not have yet |
 * | `out/<peer>/<seq, 16 digits>` | what a long message said, or one of many, until the node has it |
 * | `closing/<peer>/<replica id>` | a cancelled run that has GPUs until it has ended: closing-records.ts |
 * | `alone/<peer>/<task id>` | empty: this node alone decided the task, and was not confirmed since |
 * | `recheck/<task id>` | RecheckRecord: a decision that is to be looked at again |
 * | `revised/<batch>.<index, 9 digits>` | RevisedRecord: what came of that |
 * | `late/<replica id>` | a replica that was outstanding when its task was decided |
 * | `words/<peer>/<replica id>` | the end of the log of a node that went down with this replica: last-words.ts |
 * | `owed/<task id>`, `left/<batch>.<index, 9 digits>` | what the runs of a killed task may leave yet, and left: remains-records.ts |
 */
import { type BatchId, type PeerIdString, parseTaskId, type ReplicaId, type TaskId } from '#protocol/ids'
import type { Task } from './model.ts'

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

/** The same of a task in memory. */
export function keyOfTask({ batch, index }: Pick<Task, 'batch' | 'index'>): string {
  return taskKeyOf(batch.id, index)
}

/** Beside the others of its batch: keys that lie together are sorted together, and CIDs alone lie anywhere. */
export function bundleKey(batch: BatchId, cid: string): string {
  return `bundle/${batch}/${cid}`
}

export const SUBMITTED_PREFIX = 'submitted/'

/** Tasks in a row as they came, the first of which has this index. */
export function submittedKey(batch: BatchId, first: number): string {
  return `${SUBMITTED_PREFIX}${batch}.${padded(first, 9)}`
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

export function closingKey(node: PeerIdString, replica: ReplicaId): string {
  return `closing/${node}/${replica}`
}

/** Asked of every bundle that is submitted, most of which are new. */
export const DONE_PREFIX = 'done/'

/** The newest task of a client's that decided the bundle and is ready. */
export function doneKey(by: PeerIdString, cid: string): string {
  return `${DONE_PREFIX}${by}/${cid}`
}

/** The newest task of a client's that left this output and is ready. */
export function fromKey(by: PeerIdString, root: string): string {
  return `from/${by}/${root}`
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

export function padded(number: number, digits: number): string {
  return String(number).padStart(digits, '0')
}
