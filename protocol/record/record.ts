/**
 * The project record: where a project's coordinators are, signed with the project's key, found in the DHT by the project's
 * id (R09). A newer one (greater sequence) replaces an older one; whoever holds one can check it without asking anybody.
 */
import * as dagCbor from '@ipld/dag-cbor'
import type { PeerIdString } from '../ids.ts'
import { isPrivateAddress } from '../peer/addresses.ts'
import { type Signer, verify } from '../signing/keys.ts'

export const RECORD_BYTES_MAX = 8 * 1024
export const COORDINATORS_MAX = 16
export const ADDRESSES_MAX = 16
export const ADDRESS_CHARS_MAX = 256
/** Clocks of strangers differ: a record from further in the future than this is not believed. */
export const CLOCK_SKEW_MS_MAX = 3_600_000
/** The domain under which a project signs its record. */
export const RECORD_DOMAIN = 'talko-record-1'
/** First part of the DHT's keys for records. */
export const RECORD_PREFIX = 'talko'

export interface ProjectRecord {
  readonly v: 1
  readonly project: PeerIdString
  /** Greater in every record than in the one before; the time in milliseconds will do. */
  readonly sequence: number
  /** The leader's term. */
  readonly epoch: number
  readonly coordinators: readonly { readonly peer: PeerIdString; readonly addresses: readonly string[] }[]
  readonly issuedAtMs: number
  readonly expiresAtMs: number
}

export type RecordErrorCode = 'too_large' | 'malformed' | 'foreign' | 'unsigned' | 'expired'

export class RecordError extends Error {
  override readonly name = 'RecordError'
  readonly code: RecordErrorCode
  constructor(code: RecordErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** The record and its signature as they travel; throws RecordError `foreign` when the signer is not the project, `malformed` or `too_large` when it breaks the schema. */
export function signRecord(signer: Pick<Signer, 'peerId' | 'sign'>, record: ProjectRecord): Uint8Array {
  if (record.project !== signer.peerId) throw new RecordError('foreign', `the record of ${record.project} cannot be signed by ${signer.peerId}`)
  checkRecord(record)
  const body = dagCbor.encode(record)
  const bytes = dagCbor.encode({ body, signature: signer.sign(RECORD_DOMAIN, body) })
  if (bytes.length > RECORD_BYTES_MAX) throw tooLarge(bytes.length)
  return bytes
}

/**
 * The record in hostile bytes. Throws RecordError: `too_large`, `malformed`, `unsigned` (not signed by the project it
 * names), `foreign` (not of `project`), `expired` (or from the future) at `nowMs`. `evenExpired`: one's own copy, of which any
 * address is better than none.
 */
export function verifyRecord(
  bytes: Uint8Array,
  { project, nowMs, evenExpired = false }: { readonly project?: PeerIdString; readonly nowMs: number; readonly evenExpired?: boolean }
): ProjectRecord {
  if (bytes.length > RECORD_BYTES_MAX) throw tooLarge(bytes.length)
  const envelope = fields(decode(bytes), ['body', 'signature'])
  const { body, signature } = envelope
  if (!(body instanceof Uint8Array) || !(signature instanceof Uint8Array)) throw malformed('`body` and `signature` must be bytes')
  const record = decode(body)
  checkRecord(record)
  if (project !== undefined && record.project !== project) throw new RecordError('foreign', `the record is that of ${record.project}, not of ${project}`)
  if (!verify(record.project, RECORD_DOMAIN, body, signature)) throw new RecordError('unsigned', `the record is not signed by the project ${record.project}`)
  if (evenExpired) return record
  if (record.expiresAtMs <= nowMs) throw new RecordError('expired', `the record of ${record.project} expired ${nowMs - record.expiresAtMs} ms ago`)
  if (record.issuedAtMs > nowMs + CLOCK_SKEW_MS_MAX)
    throw new RecordError('expired', `the record of ${record.project} is from ${record.issuedAtMs - nowMs} ms in the future; check this machine's clock`)
  return record
}

/** Where the project itself is reached: addresses of private networks only when there are no others. */
export function projectAddresses({ project, coordinators }: ProjectRecord): string[] {
  const all = coordinators.flatMap(({ peer, addresses }) => (peer === project ? addresses : []))
  const open = all.filter((address) => !isPrivateAddress(address))
  return open.length > 0 ? open : all
}

/** Under which the DHT keeps a project's record. */
export function recordKey(project: PeerIdString): Uint8Array {
  return new TextEncoder().encode(`/${RECORD_PREFIX}/${project}`)
}

/** The project whose record belongs under this key; undefined when it is no such key. */
export function projectOfKey(key: Uint8Array): PeerIdString | undefined {
  if (key.length > 128) return undefined
  const parts = new TextDecoder().decode(key).split('/')
  return parts.length === 3 && parts[0] === '' && parts[1] === RECORD_PREFIX && parts[2] !== '' ? parts[2] : undefined
}

/** What every DHT server asks before it keeps or passes on a record; throws RecordError. */
export function validateEntry(key: Uint8Array, value: Uint8Array, nowMs: number): void {
  const project = projectOfKey(key)
  if (project === undefined) throw new RecordError('foreign', 'no project record belongs under this key')
  verifyRecord(value, { project, nowMs })
}

/** Index of the newest of these records, the first of equals. Records that do not decode count as oldest. */
export function selectEntry(values: readonly Uint8Array[]): number {
  let best = 0
  let newest = -1
  values.forEach((value, index) => {
    const sequence = sequenceOf(value)
    if (sequence <= newest) return
    best = index
    newest = sequence
  })
  return best
}

function sequenceOf(value: Uint8Array): number {
  try {
    if (value.length > RECORD_BYTES_MAX) return -1
    const { body } = fields(decode(value), ['body', 'signature'])
    if (!(body instanceof Uint8Array)) return -1
    const record = decode(body)
    checkRecord(record)
    return record.sequence
  } catch {
    return -1
  }
}

function decode(bytes: Uint8Array): unknown {
  try {
    return dagCbor.decode(bytes)
  } catch (cause) {
    throw malformed('it is not dag-cbor', cause)
  }
}

function checkRecord(value: unknown): asserts value is ProjectRecord {
  const record = fields(value, ['v', 'project', 'sequence', 'epoch', 'coordinators', 'issuedAtMs', 'expiresAtMs'])
  if (record.v !== 1) throw malformed(`unknown version ${JSON.stringify(record.v)}`)
  peer(record.project)
  for (const name of ['sequence', 'epoch', 'issuedAtMs', 'expiresAtMs']) {
    const number = record[name]
    if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < 0) throw malformed(`\`${name}\` is not a whole number`)
  }
  for (const item of list(record.coordinators, 'coordinators', COORDINATORS_MAX)) {
    const coordinator = fields(item, ['peer', 'addresses'])
    peer(coordinator.peer)
    for (const address of list(coordinator.addresses, 'addresses', ADDRESSES_MAX))
      if (typeof address !== 'string' || address.length > ADDRESS_CHARS_MAX || !address.startsWith('/')) throw malformed('an address is not a multiaddr')
  }
}

function peer(value: unknown): void {
  if (typeof value !== 'string' || !/^[1-9A-HJ-NP-Za-km-z]{40,64}$/.test(value)) throw malformed('a peer id is not one')
}

function list(value: unknown, name: string, max: number): readonly unknown[] {
  if (!Array.isArray(value) || value.length > max) throw malformed(`\`${name}\` is not a list of at most ${max}`)
  return value
}

function fields(value: unknown, names: readonly string[]): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw malformed('it is not a map')
  const keys = Object.keys(value)
  if (keys.length !== names.length || names.some((name) => !Object.hasOwn(value, name))) throw malformed(`its fields must be ${names.join(', ')}`)
  return value as Record<string, unknown>
}

function malformed(what: string, cause?: unknown): RecordError {
  return new RecordError('malformed', `not a project record: ${what}`, { cause })
}

function tooLarge(bytes: number): RecordError {
  return new RecordError('too_large', `a project record has at most ${RECORD_BYTES_MAX} bytes, this one has ${bytes}`)
}
