/** The durable form of a ban: `ban/<kind>/<value>`. */
import type { PeerIdString } from '#protocol/ids'
import type { BanKind, BanTarget, BanView } from '#protocol/owner/bans'
import { decodeRecord, encodeRecord } from './record-version.ts'

export const BAN_PREFIX = 'ban/'

export function banKey({ kind, value }: BanTarget): string {
  return `${BAN_PREFIX}${kind}/${value}`
}

export function encodeBanRecord({ kind, value, by, atMs, reason }: BanView): Uint8Array {
  return encodeRecord([kind, value, by, atMs, reason])
}

/** Throws when the bytes are no such record. */
export function decodeBanRecord(bytes: Uint8Array): BanView {
  const [kind, value, by, atMs, reason] = decodeRecord<[BanKind, string, PeerIdString, number, string]>('ban', bytes)
  return { kind, value, by, atMs, reason }
}
