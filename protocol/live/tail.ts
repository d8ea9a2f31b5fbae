/** Where the last lines of something begin. Pure but for the reading that it is given. */
import { LIVE_PIECE_BYTES_MAX, LIVE_TAIL_BYTES_MAX } from './messages.ts'

const LINE_END = 10

/**
 * The offset at which the last `lines` lines of `size` bytes begin; a last line without an end counts. Lines are looked for
 * in the last LIVE_TAIL_BYTES_MAX only: of longer ones the rest of those is shown.
 */
export async function tailOffset(size: number, lines: number, read: (from: number, to: number) => Promise<Uint8Array>): Promise<number> {
  if (lines === 0) return size
  const floor = Math.max(0, size - LIVE_TAIL_BYTES_MAX)
  let ends = 0
  for (let to = size; to > floor; ) {
    const from = Math.max(floor, to - LIVE_PIECE_BYTES_MAX)
    const bytes = await read(from, to)
    for (let index = bytes.length - 1; index >= 0; index--) {
      // The end of the last line does not begin another.
      if (bytes[index] !== LINE_END || from + index === size - 1) continue
      if (++ends === lines) return from + index + 1
    }
    to = from
  }
  return floor
}
