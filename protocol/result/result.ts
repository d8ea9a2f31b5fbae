/**
 * A result: what a node says one replica did. Its canonical dag-cbor bytes are what the node signs (many in one batch),
 * what counts as a vote, and what a receipt carries for ever.
 */
import { CID } from 'multiformats/cid'
import { readCbor } from '../cbor/reader.ts'
import { Writer } from '../cbor/writer.ts'
import { cidOfBytes, DAG_CBOR } from '../content/cid.ts'
import { isBatchId, type PeerIdString, parseReplicaId, type ReplicaId } from '../ids.ts'
import type { Inclusion } from '../signing/batch.ts'

export const RESULT_DOMAIN = 'talko-results-1'
export const RESULT_BYTES_MAX = 4096

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
}

export interface SignedResult {
  /** The node that signed; equal to the result's `node`. */
  readonly body: Uint8Array
  readonly proof: Inclusion
}

export function encodeResult(result: Result): Uint8Array {
  const { v, project, replica, bundle, node, reason, exitCode, output, stdout, stderr, bytes, startedAtMs, endedAtMs, cpuMs, memoryPeakBytes } = result
  WRITER.map(15).text('v').int(v).text('node').text(node).text('bytes').int(bytes).text('cpuMs').int(cpuMs)
  WRITER.text('bundle').cid(bundle).text('output').cid(output).text('reason').text(reason).text('stderr').cid(stderr).text('stdout').cid(stdout)
  WRITER.text('project').text(project).text('replica').text(replica).text('exitCode').int(exitCode)
  WRITER.text('endedAtMs').int(endedAtMs).text('startedAtMs').int(startedAtMs).text('memoryPeakBytes').int(memoryPeakBytes)
  return WRITER.done()
}

const REASONS: readonly EndReason[] = ['exit', 'time', 'memory', 'disk', 'pids', 'killed']

/** Decodes hostile bytes; undefined for anything that is not a result. */
export function decodeResult(bytes: Uint8Array): Result | undefined {
  if (bytes.length > RESULT_BYTES_MAX) return undefined
  let value: Record<string, unknown> | null
  try {
    value = readCbor(bytes) as Record<string, unknown> | null
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || value.v !== 1) return undefined
  const { project, replica, node, reason, bundle, output, stdout, stderr } = value
  const replicaParts = typeof replica === 'string' ? parseReplicaId(replica) : undefined
  if (replicaParts === undefined || !isBatchId(replicaParts.task.slice(0, 26))) return undefined
  if (typeof project !== 'string' || typeof node !== 'string' || project.length > 128 || node.length > 128) return undefined
  if (!REASONS.includes(reason as EndReason)) return undefined
  if (![bundle, output, stdout, stderr].every((cid) => CID.asCID(cid) !== null)) return undefined
  if (![value.exitCode, value.bytes, value.startedAtMs, value.endedAtMs, value.cpuMs, value.memoryPeakBytes].every(Number.isSafeInteger)) return undefined
  return value as unknown as Result
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
  const vote = cidOfBytes(DAG_CBOR, bytes).toString()
  if (VOTES.size >= VOTES_MAX) VOTES.clear()
  VOTES.set(key, vote)
  return vote
}
