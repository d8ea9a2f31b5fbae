/** The durable form of a client: `client/<peer>`. What it has now is found again from its batches, what it brought from its data. */
import type { PeerIdString } from '#protocol/ids'
import { NONE } from '#protocol/lists'
import type { ClientSettings } from '#protocol/owner/clients'
import type { Client } from './clients.ts'
import { decodeRecord, RECORD_VERSION } from './record-version.ts'
import { WRITER, writeTexts } from './record-writer.ts'

export type ClientRecord = Pick<Client, 'id' | 'member' | 'settings' | 'ranMs' | 'runs' | 'periodMs' | 'periodRanMs' | 'outputBytes'>

type Limit = number | null
type Row = [
  id: PeerIdString,
  member: boolean | null,
  settings: [share: number, diskBytes: Limit, timeMs: Limit, periodMs: number, parallel: Limit, tasks: Limit, batches: Limit, groups?: readonly string[]],
  ranMs: number,
  runs: number,
  periodMs: number,
  periodRanMs: number,
  outputBytes: number
]

export const CLIENT_PREFIX = 'client/'

export function clientKey(id: PeerIdString): string {
  return `${CLIENT_PREFIX}${id}`
}

export function encodeClientRecord({ id, member, settings, ranMs, runs, periodMs, periodRanMs, outputBytes }: ClientRecord): Uint8Array {
  const { share, diskBytes, timeMs, periodMs: lengthMs, parallel, tasks, batches, groups = NONE } = settings
  WRITER.list(9).int(RECORD_VERSION).text(id)
  if (member === null) WRITER.nil()
  else WRITER.flag(member)
  WRITER.list(groups.length === 0 ? 7 : 8).number(share)
  for (const limit of [diskBytes, timeMs, lengthMs, parallel, tasks, batches]) {
    if (limit === null) WRITER.nil()
    else WRITER.number(limit)
  }
  if (groups.length > 0) writeTexts(groups)
  return WRITER.number(ranMs).number(runs).number(periodMs).number(periodRanMs).number(outputBytes).done()
}

/** Throws when the bytes are no such record. */
export function decodeClientRecord(bytes: Uint8Array): ClientRecord {
  const [id, member, row, ranMs, runs, periodMs, periodRanMs, outputBytes] = decodeRecord<Row>('client', bytes)
  const [share, diskBytes, timeMs, lengthMs, parallel, tasks, batches, groups = []] = row
  const settings: ClientSettings = { share, diskBytes, timeMs, periodMs: lengthMs, parallel, tasks, batches, ...(groups.length === 0 ? {} : { groups }) }
  return { id, member, settings, ranMs, runs, periodMs, periodRanMs, outputBytes }
}
