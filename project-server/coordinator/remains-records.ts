/** The durable form of what killed tasks leave: `owed/<task id>` while it is waited for, `left/<batch>.<index, 9 digits>` once it is here. */
import type { PeerIdString, ReplicaId, TaskId } from '#protocol/ids'
import { taskKey } from './keys.ts'
import { decodeRecord, encodeRecord } from './record-version.ts'

/** What one run of a killed task left. CIDs as text. */
export interface LeftRecord {
  readonly replica: ReplicaId
  readonly node: PeerIdString
  readonly exitCode: number
  readonly reason: string
  readonly output: string
  readonly stdout: string
  readonly stderr: string
  readonly bytes: number
}

export interface OwedRecord {
  readonly task: TaskId
  /** What comes is kept for this one. */
  readonly client: PeerIdString
  readonly bundle: string
  readonly bytesMax: number
  readonly awaited: readonly (readonly [ReplicaId, PeerIdString])[]
  readonly taken: LeftRecord | null
}

export function owedKey(task: TaskId): string {
  return `owed/${task}`
}

/** They lie in the order of their tasks. */
export function leftKey(task: TaskId): string {
  return `left/${taskKey(task).slice('task/'.length)}`
}

export function encodeOwedRecord(record: OwedRecord): Uint8Array {
  return encodeRecord([record])
}

/** Throws when the bytes are not a record that this version wrote. */
export function decodeOwedRecord(bytes: Uint8Array): OwedRecord {
  return decodeRecord<[OwedRecord]>('killed task', bytes)[0]
}

export function encodeLeftRecord(record: LeftRecord): Uint8Array {
  return encodeRecord([record])
}

/** Throws when the bytes are not a record that this version wrote. */
export function decodeLeftRecord(bytes: Uint8Array): LeftRecord {
  return decodeRecord<[LeftRecord]>('killed task', bytes)[0]
}
