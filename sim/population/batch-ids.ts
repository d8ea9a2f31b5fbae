/** Batch ids of a simulated project: the number of the batch stands in the last of the 16 bytes, so that it can be read back. */
import { type BatchId, batchIdFrom } from '#protocol/ids'

export const BATCH_ID_CHARS = 26
/** Characters at the end that hold the number, and the bits of the last one that hold nothing. */
const NUMBER_CHARS = 7
const SPARE = 4

export function batchIdOf(number: number): BatchId {
  const bytes = new Uint8Array(16)
  new DataView(bytes.buffer).setUint32(12, number)
  return batchIdFrom(bytes)
}

/** The number of the batch whose id stands in the bytes, as text. */
export function batchNumber(bytes: Uint8Array, at: number): number {
  let value = 0
  for (let end = at + BATCH_ID_CHARS, char = end - NUMBER_CHARS; char < end; char++) value = 32 * value + digit(bytes[char] as number)
  return Math.floor(value / SPARE) % 2 ** 32
}

/** The number of a batch by its id. */
export function batchNumberOf(id: BatchId): number {
  let value = 0
  for (let char = BATCH_ID_CHARS - NUMBER_CHARS; char < BATCH_ID_CHARS; char++) value = 32 * value + digit(id.charCodeAt(char))
  return Math.floor(value / SPARE) % 2 ** 32
}

/** a to z, then 2 to 7. */
function digit(code: number): number {
  return code >= 97 ? code - 97 : code - 24
}
