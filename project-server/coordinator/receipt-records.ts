/**
 * Results, receipts and what proves them, as they are stored. A signature over many of them is stored once, with the hashes
 * of all, as a seal; each names its seal and its place in it. What is handed out (`signedReceipt`) holds the path that
 * proves it alone.
 *
 * | key | value |
 * | --- | --- |
 * | `seal/<epoch, 12 digits>.<maker><number, 12 digits>` | hashes and signature of one signed batch |
 * | `result/<batch>.<index, 9 digits>.<attempt>` | a result of a task that is not terminal, and its place in a seal |
 * | `receipt/<task id>` | the receipt, its place in a seal, and those of its results |
 */
import { Writer } from '#protocol/cbor/writer'
import type { TaskId } from '#protocol/ids'
import { decodeReceipt, type SignedReceipt } from '#protocol/result/receipt'
import { type Inclusion, inclusionOf, type Seal } from '#protocol/signing/batch'
import { decodeRecord, RECORD_VERSION } from './record-version.ts'

const WRITER = new Writer()

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
  readonly body: Uint8Array
  /** Of its results, in their order. */
  readonly results: readonly SealRef[]
}

/** Unique in a project: every epoch counts its own, nodes' (`n`) and the project's (`p`) apart. */
export function sealId(epoch: number, maker: 'n' | 'p', number: number): string {
  return `${String(epoch).padStart(12, '0')}.${maker}${String(number).padStart(12, '0')}`
}

export function sealKey(id: string): string {
  return `seal/${id}`
}

/** `task` is the task's own key. */
export function resultKey(task: string, attempt: number): string {
  return `result/${task.slice('task/'.length)}.${attempt}`
}

export function receiptKey(task: TaskId): string {
  return `receipt/${task}`
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

export function encodeStoredReceipt({ body, seal, index, results }: StoredReceipt): Uint8Array {
  WRITER.list(5).int(RECORD_VERSION).bytes(body).text(seal).int(index).list(results.length)
  for (const result of results) WRITER.list(2).text(result.seal).int(result.index)
  return WRITER.done()
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
  const [body, seal, index, results] = decodeRecord<[Uint8Array, string, number, [string, number][]]>('receipt', stored)
  const receipt = decodeReceipt(body)
  if (receipt === undefined) throw new Error('a stored receipt does not decode')
  const prove = async ([id, place]: readonly [string, number]): Promise<Inclusion> => {
    const bytes = await get(sealKey(id))
    if (bytes === undefined) throw new Error(`the seal ${id} of a receipt is missing`)
    return inclusionOf(decodeSeal(bytes), place)
  }
  const [proof, proofs, source] = await Promise.all([prove([seal, index]), Promise.all(results.map(prove)), manifest(receipt.bundle.toString())])
  return { body, proof, manifest: source, proofs }
}
