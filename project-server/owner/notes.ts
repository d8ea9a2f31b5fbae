/**
 * What is kept of a batch for its client alone, and decides nothing: its labels, and what it is a retry of. The coordinator
 * never reads it.
 *
 * | key | value |
 * | --- | --- |
 * | `notes/<batch>` | its labels (`key=value`), and the batch that it retries or null; none without either |
 * | `label/<client>/<label, URI-encoded>/<batch>` | empty: the client's batches of that label |
 */
import type { BatchId, PeerIdString } from '#protocol/ids'
import { decodeRecord, encodeRecord } from '../coordinator/record-version.ts'
import type { Change, Store } from '../ports.ts'

export interface BatchNotes {
  readonly labels: readonly string[]
  readonly retryOf: BatchId | null
}

const NONE: BatchNotes = { labels: [], retryOf: null }
const EMPTY = new Uint8Array(0)

export async function readNotes(store: Pick<Store, 'get'>, batch: BatchId): Promise<BatchNotes> {
  const bytes = await store.get(notesKey(batch))
  if (bytes === undefined) return NONE
  const [labels, retryOf] = decodeRecord<[string[], BatchId | null]>('notes', bytes)
  return { labels, retryOf }
}

/** The changes from one to the other, of a batch of this client's. */
export function noteChanges({ id, by }: { readonly id: BatchId; readonly by: PeerIdString }, notes: BatchNotes, before: BatchNotes = NONE): Change[] {
  const { labels, retryOf } = notes
  const gone = before.labels.filter((label) => !labels.includes(label))
  const come = labels.filter((label) => !before.labels.includes(label))
  return [
    ...(before === NONE && labels.length === 0 && retryOf === null ? [] : [{ key: notesKey(id), value: encodeRecord([labels, retryOf]) }]),
    ...gone.map((label) => ({ key: labelPrefix(by, label) + id, value: null })),
    ...come.map((label) => ({ key: labelPrefix(by, label) + id, value: EMPTY }))
  ]
}

/** Ends in the batch's id. */
export function labelPrefix(by: PeerIdString, label: string): string {
  return `label/${by}/${encodeURIComponent(label)}/`
}

function notesKey(batch: BatchId): string {
  return `notes/${batch}`
}
