/**
 * Hints: what a project says to nodes that it cannot reach, through others that it can. Small, signed by the project's key, with
 * a sequence number and an end, so that whoever passes them on can be anybody. A hint is never the truth: what it makes a node
 * do is harmless when it is late, doubled or lost, and what counts comes on the control stream.
 */
import * as dagCbor from '@ipld/dag-cbor'
import { type PeerIdString, parseReplicaId, type ReplicaId } from '../ids.ts'
import { RECORD_BYTES_MAX } from '../record/record.ts'
import { type Signer, verify } from '../signing/keys.ts'

export const HINTS_PROTOCOL = '/talko/hints/1.0.0'
/** The domain under which a project signs hints. */
export const HINT_DOMAIN = 'talko-hint-1'
export const HINT_BYTES_MAX = 4 * 1024
export const HINT_REPLICAS_MAX = 64
/** A frame holds a hint, or the project's signed record. */
export const HINT_FRAME_BYTES_MAX = RECORD_BYTES_MAX + 64
/** How long a hint counts: one for longer is not believed, so that what is kept of hints has its bound. */
export const HINT_LIFE_MS_MAX = 600_000
/** Clocks of volunteers differ. */
export const HINT_SKEW_MS_MAX = 60_000

/**
 * - `work`: there are tasks to be had: call.
 * - `kill`: the owner ended the task of these replicas: end them and keep what they left.
 * - `release`: nobody wants these replicas any more.
 */
export type HintKind = 'work' | 'kill' | 'release'

export interface Hint {
  readonly project: PeerIdString
  /** Greater than that of the one before. */
  readonly sequence: number
  readonly kind: HintKind
  readonly epoch: number
  readonly replicas: readonly ReplicaId[]
  readonly issuedAtMs: number
  readonly expiresAtMs: number
}

/** The hint and its signature as they travel. */
export function signHint(signer: Pick<Signer, 'sign'>, { project, sequence, kind, epoch, replicas, issuedAtMs, expiresAtMs }: Hint): Uint8Array {
  const body = dagCbor.encode([1, project, sequence, kind, epoch, replicas, issuedAtMs, expiresAtMs])
  return dagCbor.encode([body, signer.sign(HINT_DOMAIN, body)])
}

/** The hint in hostile bytes; undefined for what is malformed, not of this project, not signed by it, over (unless `evenOver`), or not to be over soon. */
export function verifyHint(
  bytes: Uint8Array,
  { project, nowMs, evenOver = false }: { readonly project: PeerIdString; readonly nowMs: number; readonly evenOver?: boolean }
): Hint | undefined {
  if (bytes.length > HINT_BYTES_MAX) return undefined
  const envelope = list(bytes, 2)
  if (envelope === undefined) return undefined
  const [body, signature] = envelope
  if (!(body instanceof Uint8Array) || !(signature instanceof Uint8Array)) return undefined
  const hint = hintOf(list(body, 8))
  if (hint?.project !== project || !(evenOver || isNow(hint, nowMs))) return undefined
  return verify(project, HINT_DOMAIN, body, signature) ? hint : undefined
}

/** What goes over a stream: first, from either side, which project it is of; then records and hints. */
export type HintFrame =
  | { readonly kind: 'project'; readonly project: PeerIdString }
  | { readonly kind: 'record'; readonly bytes: Uint8Array }
  | { readonly kind: 'hint'; readonly bytes: Uint8Array }

export function encodeHintFrame(frame: HintFrame): Uint8Array {
  return dagCbor.encode([frame.kind, frame.kind === 'project' ? frame.project : frame.bytes])
}

/** undefined for bytes that are not such a frame. */
export function decodeHintFrame(bytes: Uint8Array): HintFrame | undefined {
  if (bytes.length > HINT_FRAME_BYTES_MAX) return undefined
  const [kind, value] = list(bytes, 2) ?? []
  if (kind === 'project' && typeof value === 'string') return { kind, project: value }
  if ((kind === 'record' || kind === 'hint') && value instanceof Uint8Array) return { kind, bytes: value }
  return undefined
}

function isNow({ issuedAtMs, expiresAtMs }: Hint, nowMs: number): boolean {
  return expiresAtMs > nowMs && issuedAtMs <= nowMs + HINT_SKEW_MS_MAX && expiresAtMs <= issuedAtMs + HINT_LIFE_MS_MAX
}

function hintOf(fields: readonly unknown[] | undefined): Hint | undefined {
  const [v, project, sequence, kind, epoch, replicas, issuedAtMs, expiresAtMs] = fields ?? []
  if (v !== 1 || typeof project !== 'string' || (kind !== 'work' && kind !== 'kill' && kind !== 'release')) return undefined
  if (!isNumber(sequence) || !isNumber(epoch) || !isNumber(issuedAtMs) || !isNumber(expiresAtMs)) return undefined
  if (!Array.isArray(replicas) || replicas.length > HINT_REPLICAS_MAX || !replicas.every(isReplica)) return undefined
  return { project, sequence, kind, epoch, replicas, issuedAtMs, expiresAtMs }
}

function isNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}

function isReplica(value: unknown): value is ReplicaId {
  return typeof value === 'string' && parseReplicaId(value) !== undefined
}

function list(bytes: Uint8Array, length: number): readonly unknown[] | undefined {
  try {
    const value: unknown = dagCbor.decode(bytes)
    return Array.isArray(value) && value.length === length ? value : undefined
  } catch {
    return undefined
  }
}
