/**
 * A result: what a node says one replica did. Its canonical dag-cbor bytes are what the node signs (many in one batch),
 * what counts as a vote, and what a receipt carries for ever.
 */
import { CID } from 'multiformats/cid'
import { readCbor } from '../cbor/reader.ts'
import { Writer } from '../cbor/writer.ts'
import { cidTextOfBytes, DAG_CBOR } from '../content/cid.ts'
import { isBatchId, type PeerIdString, parseReplicaId, type ReplicaId } from '../ids.ts'
import { SALT_BYTES } from './commitment.ts'

export const RESULT_DOMAIN = 'talko-results-1'
export const RESULT_BYTES_MAX = 4096

const FIELDS = 15
const WRITER = new Writer()
/** Votes computed lately, by what was agreed: the point of a vote is that others cast the same. */
const VOTES = new Map<string, string>()
const VOTES_MAX = 4096

/**
 * Why the execution ended.
 * - `exit`: the command ended by itself; `exitCode` is its status.
 * - `time`, `memory`, `disk`, `pids`: a limit of the manifest ended it.
 * - `killed`: the owner ended it.
 */
export type EndReason = 'exit' | 'time' | 'memory' | 'disk' | 'pids' | 'killed'

export interface Result {
  readonly v: 1
  readonly project: PeerIdString
  readonly replica: ReplicaId
  /** The manifest's CID. */
  readonly bundle: CID
  readonly node: PeerIdString
  readonly reason: EndReason
  readonly exitCode: number
  /** UnixFS root of the output directory. */
  readonly output: CID
  /** UnixFS files of what it printed. */
  readonly stdout: CID
  readonly stderr: CID
  /** Bytes of output, stdout and stderr. */
  readonly bytes: number
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly cpuMs: number
  readonly memoryPeakBytes: number
  /** Of a sealed result: see commitment.ts. */
  readonly salt?: Uint8Array
}

/** Field by field in this order, as a list: half as long as a map, and every task has one. */
export function encodeResult(result: Result): Uint8Array {
  const { v, project, replica, bundle, node, reason, exitCode, output, stdout, stderr, bytes, startedAtMs, endedAtMs, cpuMs, memoryPeakBytes, salt } = result
  WRITER.list(salt === undefined ? FIELDS : FIELDS + 1)
    .int(v)
    .text(project)
    .text(replica)
    .cid(bundle)
    .text(node)
    .text(reason)
    .int(exitCode)
    .cid(output)
    .cid(stdout)
    .cid(stderr)
  WRITER.int(bytes).int(startedAtMs).int(endedAtMs).int(cpuMs).int(memoryPeakBytes)
  if (salt !== undefined) WRITER.bytes(salt)
  return WRITER.done()
}

const REASONS: readonly EndReason[] = ['exit', 'time', 'memory', 'disk', 'pids', 'killed']

/** Decodes hostile bytes; undefined for anything that is not a result. */
export function decodeResult(encoded: Uint8Array): Result | undefined {
  if (encoded.length > RESULT_BYTES_MAX) return undefined
  let value: unknown
  try {
    value = readCbor(encoded)
  } catch {
    return undefined
  }
  if (!Array.isArray(value) || (value.length !== FIELDS && value.length !== FIELDS + 1)) return undefined
  const [v, project, replica, bundle, node, reason, exitCode, output, stdout, stderr, bytes, startedAtMs, endedAtMs, cpuMs, memoryPeakBytes, salt] =
    value as unknown[]
  if (v !== 1 || typeof project !== 'string' || typeof node !== 'string' || project.length > 128 || node.length > 128) return undefined
  const parts = typeof replica === 'string' ? parseReplicaId(replica) : undefined
  if (typeof replica !== 'string' || parts === undefined || !isBatchId(parts.task.slice(0, 26)) || !isReason(reason)) return undefined
  if (!(isCid(bundle) && isCid(output) && isCid(stdout) && isCid(stderr))) return undefined
  if (!(isWhole(exitCode) && isWhole(bytes) && isWhole(startedAtMs) && isWhole(endedAtMs) && isWhole(cpuMs) && isWhole(memoryPeakBytes))) return undefined
  if (value.length > FIELDS && !(salt instanceof Uint8Array && salt.length === SALT_BYTES)) return undefined
  const result = { v, project, replica, bundle, node, reason, exitCode, output, stdout, stderr, bytes, startedAtMs, endedAtMs, cpuMs, memoryPeakBytes } as const
  return salt instanceof Uint8Array ? { ...result, salt } : result
}

function isReason(value: unknown): value is EndReason {
  return REASONS.some((reason) => reason === value)
}

function isCid(value: unknown): value is CID {
  return CID.asCID(value) !== null
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value)
}

/**
 * What two results must share to agree, as one id. A run that ended by itself with status 0 agrees on its output (and on
 * stdout when the manifest says so); a run that failed agrees on how it failed, since its partial output proves nothing.
 */
export function voteOf(result: Result, compareStdout: boolean): string {
  if (result.reason !== 'exit') return `ended:${result.reason}`
  if (result.exitCode !== 0) return `exit:${result.exitCode}`
  const agreed = compareStdout ? [result.output, result.stdout] : [result.output]
  WRITER.list(agreed.length)
  for (const cid of agreed) WRITER.cid(cid)
  const bytes = WRITER.done()
  const key = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
  const known = VOTES.get(key)
  if (known !== undefined) return known
  const vote = cidTextOfBytes(DAG_CBOR, bytes)
  if (VOTES.size >= VOTES_MAX) VOTES.clear()
  VOTES.set(key, vote)
  return vote
}
