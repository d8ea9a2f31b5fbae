/**
 * A receipt: the project-signed record of a decided task with the agreeing signed results. Whoever holds one can check,
 * offline and years later, which bundle was run, by whom, and that they agreed.
 */
import * as dagCbor from '@ipld/dag-cbor'
import { CID } from 'multiformats/cid'
import { ManifestError } from '../bundle/errors.ts'
import { decodeManifest, MANIFEST_BYTES_MAX, manifestCid } from '../bundle/manifest.ts'
import { Writer } from '../cbor/writer.ts'
import type { PeerIdString, TaskId } from '../ids.ts'
import { parseReplicaId } from '../ids.ts'
import { type Inclusion, verifyInBatch } from '../signing/batch.ts'
import { decodeResult, RESULT_DOMAIN, type Result, voteOf } from './result.ts'

export const RECEIPT_DOMAIN = 'talko-receipts-1'
export const RECEIPT_BYTES_MAX = 1024 * 1024
const RESULTS_MAX = 64
const COMPARE_CHARS_MAX = 65_536
const WRITER = new Writer()

export interface Receipt {
  readonly v: 1
  readonly project: PeerIdString
  readonly task: TaskId
  /** The manifest's CID, which every result must name. */
  readonly bundle: CID
  readonly epoch: number
  readonly quorum: number
  readonly decidedAtMs: number
  /** What was agreed, as `voteOf` names it. */
  readonly vote: string
  /** The results that agree on it, as their nodes signed them. */
  readonly results: readonly Uint8Array[]
  /** Who said otherwise, for the record. */
  readonly dissent: readonly { readonly node: PeerIdString; readonly vote: string }[]
  /** When results agree that are not equal: how the project compared them, as JSON. That they agree is the project's word. */
  readonly compare?: string
  /** One node decided alone: so many results of its in a row had been confirmed by others when it was given the task. */
  readonly trusted?: number
}

/** What is handed out: the receipt's bytes with all that proves them. */
export interface SignedReceipt {
  readonly body: Uint8Array
  /** That the project signed it. */
  readonly proof: Inclusion
  /** Its CID is the bundle. */
  readonly manifest: Uint8Array
  /** That each result's node signed it, in the order of the results. */
  readonly proofs: readonly Inclusion[]
}

export interface ReceiptCheck {
  readonly ok: boolean
  /** One line per thing checked, in order; the last says why it failed when it did. */
  readonly lines: readonly string[]
  readonly receipt?: Receipt
  readonly results?: readonly Result[]
}

export function encodeReceipt(receipt: Receipt): Uint8Array {
  const { v, project, task, bundle, epoch, quorum, decidedAtMs, vote, results, dissent, compare, trusted } = receipt
  WRITER.map(10 + (compare === undefined ? 0 : 1) + (trusted === undefined ? 0 : 1))
    .text('v')
    .int(v)
    .text('task')
    .text(task)
    .text('vote')
    .text(vote)
    .text('epoch')
    .int(epoch)
    .text('bundle')
    .cid(bundle)
  WRITER.text('quorum').int(quorum)
  if (compare !== undefined) WRITER.text('compare').text(compare)
  WRITER.text('dissent').list(dissent.length)
  for (const one of dissent) WRITER.map(2).text('node').text(one.node).text('vote').text(one.vote)
  WRITER.text('project').text(project).text('results').list(results.length)
  for (const result of results) WRITER.bytes(result)
  if (trusted !== undefined) WRITER.text('trusted').int(trusted)
  return WRITER.text('decidedAtMs').int(decidedAtMs).done()
}

/** The file form of a signed receipt. */
export function encodeSignedReceipt({ body, proof, manifest, proofs }: SignedReceipt): Uint8Array {
  WRITER.map(4).text('body').bytes(body).text('proof')
  writeInclusion(proof)
  WRITER.text('proofs').list(proofs.length)
  for (const one of proofs) writeInclusion(one)
  return WRITER.text('manifest').bytes(manifest).done()
}

function writeInclusion({ index, count, path, signature }: Inclusion): void {
  WRITER.map(4).text('path').list(path.length)
  for (const hash of path) WRITER.bytes(hash)
  WRITER.text('count').int(count).text('index').int(index).text('signature').bytes(signature)
}

/** Reads hostile bytes; undefined when they are not a signed receipt. */
export function decodeSignedReceipt(bytes: Uint8Array): SignedReceipt | undefined {
  if (bytes.length > RECEIPT_BYTES_MAX) return undefined
  try {
    const { body, proof, manifest, proofs }: Partial<Record<keyof SignedReceipt, unknown>> = dagCbor.decode(bytes)
    if (!(body instanceof Uint8Array) || !(manifest instanceof Uint8Array) || manifest.length > MANIFEST_BYTES_MAX) return undefined
    if (!isInclusion(proof) || !Array.isArray(proofs) || proofs.length > RESULTS_MAX || !proofs.every(isInclusion)) return undefined
    return { body, proof, manifest, proofs }
  } catch {
    return undefined
  }
}

/**
 * Checks a receipt with nothing but itself. With `project` it must also be that project's.
 * Verified: the project's signature; the manifest's schema; that each result is signed by its node, names this task and
 * bundle, and votes for what was agreed; that the nodes are different and as many as the quorum.
 */
export function checkReceipt(signed: SignedReceipt, expect: { project?: PeerIdString } = {}): ReceiptCheck {
  const lines: string[] = []
  const fail = (line: string): ReceiptCheck => ({ ok: false, lines: [...lines, line] })
  const receipt = decodeReceipt(signed.body)
  if (receipt === undefined) return fail('not a receipt of version 1')
  if (expect.project !== undefined && receipt.project !== expect.project) return fail(`signed for project ${receipt.project}, expected ${expect.project}`)
  if (!verifyInBatch(receipt.project, RECEIPT_DOMAIN, signed.body, signed.proof)) return fail(`the signature of project ${receipt.project} does not match`)
  lines.push(`signed by project ${receipt.project}`)
  let compareStdout: boolean
  try {
    compareStdout = decodeManifest(signed.manifest).compareStdout
  } catch (error) {
    if (error instanceof ManifestError) return fail(error.message)
    throw error
  }
  const { bundle } = receipt
  if (!manifestCid(signed.manifest).equals(bundle)) return fail(`the manifest is not that of bundle ${bundle}`)
  lines.push(`bundle ${bundle}`)
  const nodes = new Set<PeerIdString>()
  const results: Result[] = []
  let canonical = 0
  for (const [index, body] of receipt.results.entries()) {
    const result = decodeResult(body)
    const proof = signed.proofs[index]
    if (result === undefined) return fail('a result in it is malformed')
    if (proof === undefined || !verifyInBatch(result.node, RESULT_DOMAIN, body, proof))
      return fail(`the signature of node ${result.node} does not match its result`)
    if (result.project !== receipt.project || parseReplicaId(result.replica)?.task !== receipt.task)
      return fail(`the result of node ${result.node} is for another task`)
    if (!result.bundle.equals(bundle)) return fail(`the result of node ${result.node} is for another bundle`)
    const vote = voteOf(result, compareStdout)
    const isNear = receipt.compare !== undefined && result.reason === 'exit' && result.exitCode === 0
    if (vote !== receipt.vote && !isNear) return fail(`the result of node ${result.node} does not agree`)
    if (vote === receipt.vote) canonical++
    nodes.add(result.node)
    results.push(result)
    lines.push(`node ${result.node} signed ${vote}${vote === receipt.vote ? '' : `, which the project found to agree ${howCompared(receipt)}`}`)
  }
  if (canonical === 0) return fail(`no result in it is ${receipt.vote}`)
  if (nodes.size !== receipt.results.length) return fail('one node is counted twice')
  if (receipt.quorum < 1 || nodes.size < receipt.quorum) return fail(`${nodes.size} agree, the quorum is ${receipt.quorum}`)
  if (canonical < results.length) lines.push(unprovenOf(receipt))
  if (receipt.trusted === undefined) lines.push(`${nodes.size} different nodes agree, quorum ${receipt.quorum}`)
  else lines.push(`one node was believed: ${receipt.trusted} results of its in a row had been confirmed when it was given the task`)
  return { ok: true, lines, receipt, results }
}

/** In the project's own words; that outputs agree is its word, whichever way it compared them. */
function howCompared({ compare = '' }: Receipt): string {
  const bundle = programOf(compare)
  return bundle === undefined ? 'under its rules' : `by its owner's program ${bundle}`
}

/** What no receipt can prove, and how it can be looked at all the same. */
function unprovenOf({ task, compare = '' }: Receipt): string {
  const bundle = programOf(compare)
  const how = bundle === undefined ? 'whoever has both can compare them by the rules in it' : `whoever has both can run ${bundle} on them, as /in/a and /in/b`
  return `that outputs with different ids agree is the project's word: ${how}; talko verify ${task} has the task run again and compared`
}

/** The bundle of the program by which results were compared, from a receipt; undefined when it was none. */
function programOf(compare: string): string | undefined {
  try {
    const { kind, bundle }: { readonly kind?: unknown; readonly bundle?: unknown } = JSON.parse(compare)
    return kind === 'program' && typeof bundle === 'string' ? bundle : undefined
  } catch {
    return undefined
  }
}

/** Decodes hostile bytes; undefined for anything that is not a receipt. */
export function decodeReceipt(bytes: Uint8Array): Receipt | undefined {
  if (bytes.length > RECEIPT_BYTES_MAX) return undefined
  let value: Record<string, unknown>
  try {
    value = dagCbor.decode(bytes)
  } catch {
    return undefined
  }
  if (typeof value !== 'object' || value === null || CID.asCID(value) !== null || value.v !== 1) return undefined
  if (typeof value.project !== 'string' || typeof value.task !== 'string' || typeof value.vote !== 'string') return undefined
  if (CID.asCID(value.bundle) === null) return undefined
  if (![value.epoch, value.quorum, value.decidedAtMs].every(Number.isSafeInteger)) return undefined
  if (value.trusted !== undefined && !Number.isSafeInteger(value.trusted)) return undefined
  if (!Array.isArray(value.results) || value.results.length > RESULTS_MAX || !Array.isArray(value.dissent) || value.dissent.length > RESULTS_MAX)
    return undefined
  if (value.compare !== undefined && (typeof value.compare !== 'string' || value.compare.length > COMPARE_CHARS_MAX)) return undefined
  if (!value.results.every((item) => item instanceof Uint8Array)) return undefined
  if (!value.dissent.every((item) => typeof item?.node === 'string' && typeof item.vote === 'string')) return undefined
  return value as unknown as Receipt
}

function isInclusion(value: unknown): value is Inclusion {
  const proof = value as Partial<Inclusion> | null | undefined
  return (
    Number.isSafeInteger(proof?.index) &&
    Number.isSafeInteger(proof?.count) &&
    proof?.signature instanceof Uint8Array &&
    Array.isArray(proof.path) &&
    proof.path.length <= 32 &&
    proof.path.every((hash) => hash instanceof Uint8Array && hash.length === 32)
  )
}
