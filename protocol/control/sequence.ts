/**
 * The frames of one control stream, in each direction. Those with a number are held to it by the link; each of the others says
 * how many frames went before it. So whatever is lost on the way is noticed by the next frame without a number that comes, a
 * heartbeat or its answer at the latest, also when nothing else follows. A stream that works loses nothing: this is for one
 * that is mended on its way, by a relay or a library that has a bug.
 */
import { Frame } from './messages.ts'

/** Field 1, a varint: what a numbered frame begins with. */
const SEQ_TAG = 0x08

/** Whether an encoded frame has a number: others need not be looked into for it. */
export function isNumbered(frame: Uint8Array): boolean {
  return frame[0] === SEQ_TAG
}

export class Sequence {
  #sent = 0
  /** That came. */
  #frames = 0
  /** Of the numbered ones among them. */
  #last = 0

  /** The frame as it goes out next. */
  next(frame: Uint8Array): Uint8Array {
    const before = this.#sent++
    // Fields of a message may be appended to its bytes.
    return isNumbered(frame) ? frame : Buffer.concat([frame, Frame.encode({ before })])
  }

  /** One that came. `again`: it came before, or those that were sent after it did; it counts no more. `gap`: something before it is missing. A frame with a number is always `new` here: its link knows better. */
  accept({ seq, before }: Pick<Frame, 'seq' | 'before'>): 'new' | 'again' | 'gap' {
    if (seq > 0) {
      // Counted once, however often it comes.
      if (seq > this.#last) this.#frames++
      this.#last = Math.max(this.#last, seq)
      return 'new'
    }
    // One that speaks an older version does not say.
    if (before !== undefined && before < this.#frames) return 'again'
    if (before !== undefined && before > this.#frames) return 'gap'
    this.#frames++
    return 'new'
  }
}
