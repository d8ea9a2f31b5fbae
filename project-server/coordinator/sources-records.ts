/** Durable form of what a task takes from others: `sources/<batch>.<index, 9 digits>`, or of all tasks of a sweep: `sources/<batch>`; kept after the task's end to be shown and for its lineage. */
import { type SourceRow, type Sources, sourceOfRow, sourceRow } from '#protocol/bundle/sources'
import { type BatchId, isBatchId, type TaskId } from '#protocol/ids'
import { taskKey } from './keys.ts'
import { decodeRecord, encodeRecord } from './record-version.ts'

export interface SourcesRecord {
  /** The bundle without what it takes from others: `bundle/<batch>/<template>`. */
  readonly template: string
  /** How many tasks come one after the other before it. */
  readonly depth: number
  readonly sources: Sources
}

/** Of a task, or of a sweep. */
export function sourcesKey(of: TaskId | BatchId): string {
  return isBatchId(of) ? `sources/${of}` : `sources/${taskKey(of).slice('task/'.length)}`
}

export function encodeSourcesRecord({ template, depth, sources: { allowFailed, list } }: SourcesRecord): Uint8Array {
  return encodeRecord([template, depth, allowFailed, list.map(sourceRow)])
}

export function decodeSourcesRecord(bytes: Uint8Array): SourcesRecord {
  const [template, depth, allowFailed, rows] = decodeRecord<[string, number, boolean, SourceRow[]]>('sources', bytes)
  return { template, depth, sources: { allowFailed, list: rows.map(sourceOfRow) } }
}
