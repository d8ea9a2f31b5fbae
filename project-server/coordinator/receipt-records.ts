/**
 * Results, receipts and what proves them, as they are stored. A signature over many of them is stored once, with the hashes
 * of all, as a seal; each names its seal and its place in it. What is handed out (`signedReceipt`) holds the path that
 * proves it alone.
 *
 * | key | value |
 * | --- | --- |
 * | `seal/<epoch, 12 digits>.<maker><number, 12 digits>` | hashes and signature of one signed batch |
 * | `result/<batch>.<index, 9 digits>.<attempt>` | a result of a task that is not terminal, and its place in a seal |
 * | `receipts/<epoch, 12 digits>.<page, 12 digits>` | receipts of one commit, each with its place in a seal and those of its results |
 * | `receipt/<task id>` | one receipt, as they were stored before there were pages |
 *
 * Many receipts share a page, because a record costs more than what is in it: the task's record says where its own is.
 * A receipt is the longest record of a task, and is kept for ever. So what its first result says as well (project, task,
 * bundle) is left out, and put back when it is handed out: byte for byte, or the project's signature would not match.
 */
import { Writer } from '#protocol/cbor/writer'
import { flat } from '#protocol/flat'
import { parseReplicaId, type TaskId } from '#protocol/ids'
import { decodeReceipt, encodeReceipt, type Receipt, type SignedReceipt } from '#protocol/result/receipt'
import { decodeResult } from '#protocol/result/result'
import { type Inclusion, inclusionOf, type Seal } from '#protocol/signing/batch'
import { keyOfTask, padded } from './keys.ts'
import type { Task } from './model.ts'
import { decodeRecord, RECORD_VERSION } from './record-version.ts'

const WRITER = new Writer()
/** Of receipts that leave out what their results say. Version 1 holds the receipt's own bytes. */
const LEAN_VERSION = 2

/** Which signed batch, and where in it. */
export interface SealRef {
  readonly seal: string
  readonly index: number
}

/** A result as its node signed it. */
export interface StoredResult extends SealRef {
  readonly body: Uint8Array
}

export interface StoredReceipt extends SealRef {
  readonly receipt: Receipt
  /** Of its results, in their order. */
  readonly seals: readonly SealRef[]
}

type LeanReceipt = readonly [
  epoch: number,
  quorum: number,
  decidedAtMs: number,
  vote: string,
  results: readonly Uint8Array[],
  dissent: readonly (readonly [node: string, vote: string])[],
  compare: string | null,
  trusted: number | null
]

/** Where a receipt is stored. */
export interface ReceiptPlace {
  readonly epoch: number
  readonly page: number
  readonly index: number
}

/** Read whole for each of its receipts: about 30 KB. Larger pages are no cheaper to write. */
export const PAGE_RECEIPTS_MAX = 64
export const RECEIPTS_PREFIX = 'receipts/'

/** Epoch, number in it and index: what a seal's id says beside its maker. */
type Place = readonly [epoch: number, number: number, index: number]

/** Unique in a project: every epoch counts its own, nodes' (`n`) and the project's (`p`) apart. */
export function sealId(epoch: number, maker: 'n' | 'p', number: number): string {
  return flat(`${padded(epoch, 12)}.${maker}${padded(number, 12)}`)
}

export function sealKey(id: string): string {
  return `seal/${id}`
}

export function resultKey(task: Pick<Task, 'batch' | 'index'>, attempt: number): string {
  return `result/${keyOfTask(task).slice('task/'.length)}.${attempt}`
}

function receiptKey(task: TaskId): string {
  return `receipt/${task}`
}

export function receiptPageKey({ epoch, page }: Pick<ReceiptPlace, 'epoch' | 'page'>): string {
  return `${RECEIPTS_PREFIX}${padded(epoch, 12)}.${padded(page, 12)}`
}

export function encodeReceiptPage(receipts: readonly Uint8Array[]): Uint8Array {
  WRITER.list(1 + receipts.length).int(RECORD_VERSION)
  for (const receipt of receipts) WRITER.bytes(receipt)
  return WRITER.done()
}

/** Its stored receipts, in their order. */
export function decodeReceiptPage(bytes: Uint8Array): readonly Uint8Array[] {
  return decodeRecord<Uint8Array[]>('receipts', bytes)
}

/** What is stored of a decided task's receipt; undefined when there is none. */
export async function storedReceipt(
  task: TaskId,
  place: ReceiptPlace | null,
  get: (key: string) => Promise<Uint8Array | undefined>
): Promise<Uint8Array | undefined> {
  if (place === null) return get(receiptKey(task))
  const page = await get(receiptPageKey(place))
  return page === undefined ? undefined : decodeReceiptPage(page)[place.index]
}

export function encodeSeal({ leaves, signature }: Seal): Uint8Array {
  return WRITER.list(3).int(RECORD_VERSION).bytes(leaves).bytes(signature).done()
}

export function encodeStoredResult({ body, seal, index }: StoredResult): Uint8Array {
  return WRITER.list(4).int(RECORD_VERSION).bytes(body).text(seal).int(index).done()
}

export function decodeStoredResult(bytes: Uint8Array): StoredResult {
  const [body, seal, index] = decodeRecord<[Uint8Array, string, number]>('result', bytes)
  return { body, seal, index }
}

export function encodeStoredReceipt({ receipt, seal, index, seals }: StoredReceipt): Uint8Array {
  const { epoch, quorum, decidedAtMs, vote, results, dissent, compare = null, trusted = null } = receipt
  // Without a result there is nothing to make it of.
  if (results.length === 0) return WRITER.list(5).int(RECORD_VERSION).bytes(encodeReceipt(receipt)).text(seal).int(index).list(0).done()
  WRITER.list(4).int(LEAN_VERSION).list(8).int(epoch).int(quorum).int(decidedAtMs).text(vote).list(results.length)
  for (const result of results) WRITER.bytes(result)
  WRITER.list(dissent.length)
  for (const one of dissent) WRITER.list(2).text(one.node).text(one.vote)
  WRITER.text(compare).int(trusted)
  writePlace({ seal, index })
  WRITER.list(seals.length)
  for (const one of seals) writePlace(one)
  return WRITER.done()
}

/** As `sealId` wrote it. */
function writePlace({ seal, index }: SealRef): void {
  WRITER.list(3)
    .int(Number(seal.slice(0, 12)))
    .int(Number(seal.slice(14)))
    .int(index)
}

interface Found extends SealRef {
  readonly body: Uint8Array
  readonly seals: readonly SealRef[]
}

/** The receipt's own bytes, as the project signed them, and where it and its results are sealed. Throws when what was stored is damaged. */
export function decodeStoredReceipt(stored: Uint8Array): Found {
  // The head of a list of a few items is one byte, as is a small number.
  if (stored[1] !== LEAN_VERSION) {
    const [body, seal, index, seals] = decodeRecord<[Uint8Array, string, number, [string, number][]]>('receipt', stored)
    return { body, seal, index, seals: seals.map(([id, place]) => ({ seal: id, index: place })) }
  }
  const [lean, place, seals] = decodeRecord<[LeanReceipt, Place, Place[]]>('receipt', stored, LEAN_VERSION)
  return { body: encodeReceipt(wholeReceipt(lean)), ...refOf(place, 'p'), seals: seals.map((one) => refOf(one, 'n')) }
}

function refOf([epoch, number, index]: Place, maker: 'n' | 'p'): SealRef {
  return { seal: sealId(epoch, maker, number), index }
}

function wholeReceipt([epoch, quorum, decidedAtMs, vote, results, dissent, compare, trusted]: LeanReceipt): Receipt {
  const result = decodeResult(results[0] ?? new Uint8Array(0))
  const task = parseReplicaId(result?.replica ?? '')?.task
  if (result === undefined || task === undefined) throw new Error('a result of a stored receipt does not decode')
  return {
    v: 1,
    project: result.project,
    task,
    bundle: result.bundle,
    epoch,
    quorum,
    decidedAtMs,
    vote,
    results,
    dissent: dissent.map(([node, said]) => ({ node, vote: said })),
    ...(compare === null ? {} : { compare }),
    ...(trusted === null ? {} : { trusted })
  }
}

function decodeSeal(bytes: Uint8Array): Seal {
  const [leaves, signature] = decodeRecord<[Uint8Array, Uint8Array]>('seal', bytes)
  return { leaves, signature }
}

/** What is handed out of a task's stored receipt. `get` reads records, `manifest` one bundle's. Throws when what it names is missing. */
export async function signedReceipt(
  stored: Uint8Array,
  { get, manifest }: { get(key: string): Promise<Uint8Array | undefined>; manifest(bundle: string): Promise<Uint8Array> }
): Promise<SignedReceipt> {
  const { body, seal, index, seals } = decodeStoredReceipt(stored)
  const receipt = decodeReceipt(body)
  if (receipt === undefined) throw new Error('a stored receipt does not decode')
  const prove = async ({ seal: id, index: place }: SealRef): Promise<Inclusion> => {
    const bytes = await get(sealKey(id))
    if (bytes === undefined) throw new Error(`the seal ${id} of a receipt is missing`)
    return inclusionOf(decodeSeal(bytes), place)
  }
  const [proof, proofs, source] = await Promise.all([prove({ seal, index }), Promise.all(seals.map(prove)), manifest(receipt.bundle.toString())])
  return { body, proof, manifest: source, proofs }
}
