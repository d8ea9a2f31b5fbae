/** Batch ids of a simulated project: the number of the batch stands in the last of the 16 bytes, so that it can be read back. */
import { type BatchId, batchIdFrom, type ReplicaId, type TaskId } from '#protocol/ids'

const BATCH_ID_CHARS = 26
/** Characters at the end that hold the number, and the bits of the last one that hold nothing. */
const NUMBER_CHARS = 7
const SPARE = 4
const DOT = 46
const ZERO = 48

export function batchIdOf(number: number): BatchId {
  const bytes = new Uint8Array(16)
  new DataView(bytes.buffer).setUint32(12, number)
  return batchIdFrom(bytes)
}

/** The number of a batch by its id, or by that of something in it. */
export function batchNumberOf(id: BatchId | TaskId | ReplicaId): number {
  let value = 0
  for (let char = BATCH_ID_CHARS - NUMBER_CHARS; char < BATCH_ID_CHARS; char++) value = 32 * value + digit(id.charCodeAt(char))
  return Math.floor(value / SPARE) % 2 ** 32
}

/** Of a task in its batch, by its id or a replica's. Taking these ids to pieces with an expression would be a hundredth of a population's time. */
export function indexOf(id: TaskId | ReplicaId): number {
  let index = 0
  for (let char = BATCH_ID_CHARS + 1; char < id.length; char++) {
    const code = id.charCodeAt(char)
    if (code === DOT) break
    index = 10 * index + code - ZERO
  }
  return index
}

/** a to z, then 2 to 7. */
function digit(code: number): number {
  return code >= 97 ? code - 97 : code - 24
}
