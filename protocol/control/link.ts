/**
 * One end of a numbered, replayable link, the same at both ends (R05). What is pushed gets the next number and is kept
 * until the other side says that it made it durable; after a reconnect what is kept is sent again, byte for byte; what
 * arrives is applied once and in order.
 *
 * A shell keeps these rules around it:
 * - what `push` returns, `nextSeq` and `cursor` are durable before anything they stand for leaves;
 * - an incoming numbered frame is applied only when `accept` says `new`, and acknowledged only when its effects and the
 *   cursor are durable together;
 * - after hello and welcome: `resumable(received)` or else `reset` on both sides, then `acked(received)`, then all of
 *   `pending()` that is durable is sent again before anything new (a commit under way sends the rest when it is done).
 */
import { FRAME_BYTES_MAX, Frame } from './messages.ts'

/** Frames that may wait for the other side's word. A coordinator that cannot reach a node for long gives it up; a node stops taking work. */
export const LINK_FRAMES_MAX = 16_384
export const LINK_BYTES_MAX = 64 * 1024 * 1024

/** A frame's contents, without the number that the link gives it. `ack` may be given when it will be durable before the frame is sent. */
export type FrameBody = Omit<Frame, 'seq' | 'ack'> & { readonly ack?: number }

export interface NumberedFrame {
  readonly seq: number
  /** The encoded Frame. */
  readonly bytes: Uint8Array
}

/** What must survive a crash. */
export interface SavedLink {
  readonly nextSeq: number
  readonly cursor: number
  /** Any order. */
  readonly pending: readonly NumberedFrame[]
}

export type LinkErrorCode = 'full' | 'frame_too_large'

/** The shell pushed what it must not: it looks at `full` first and bounds what it puts in one frame. */
export class LinkError extends Error {
  override readonly name = 'LinkError'
  readonly code: LinkErrorCode
  constructor(code: LinkErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

export class Link {
  #nextSeq = 1
  #cursor = 0
  #bytes = 0
  /** By number, ascending. */
  #pending = new Map<number, Uint8Array>()

  /** Number that the next pushed frame gets. */
  get nextSeq(): number {
    return this.#nextSeq
  }

  /** Highest number accepted from the other side. */
  get cursor(): number {
    return this.#cursor
  }

  /** Frames not yet acknowledged. */
  get size(): number {
    return this.#pending.size
  }

  /** True when nothing more may be pushed before the other side acknowledges. */
  get full(): boolean {
    return this.#pending.size >= LINK_FRAMES_MAX || this.#bytes >= LINK_BYTES_MAX
  }

  /** Numbers and keeps a frame; the bytes are what is sent now and after each reconnect. Throws LinkError when full or when the frame is too large. */
  push(body: FrameBody): NumberedFrame {
    if (this.full) throw new LinkError('full', `${this.#pending.size} frames (${this.#bytes} bytes) wait to be acknowledged; no more are taken`)
    const seq = this.#nextSeq
    const bytes = Frame.encode({ ...body, seq, ack: body.ack ?? 0 })
    if (bytes.length > FRAME_BYTES_MAX) throw new LinkError('frame_too_large', `a frame has ${bytes.length} bytes, at most ${FRAME_BYTES_MAX} are allowed`)
    this.#nextSeq = seq + 1
    this.#pending.set(seq, bytes)
    this.#bytes += bytes.length
    return { seq, bytes }
  }

  /** The other side made everything up to this number durable. Returns the numbers forgotten now, ascending; a stale or impossible acknowledgement forgets no more than was sent. */
  acked(upTo: number): number[] {
    const forgotten: number[] = []
    for (const [seq, bytes] of this.#pending) {
      if (!(seq <= upTo)) break
      this.#pending.delete(seq)
      this.#bytes -= bytes.length
      forgotten.push(seq)
    }
    return forgotten
  }

  /** `new`: apply it, the cursor has moved. `duplicate`: drop it, and acknowledge again. `gap`: the peer broke the rules; close the stream. */
  accept(seq: number): 'new' | 'duplicate' | 'gap' {
    if (seq <= this.#cursor) return 'duplicate'
    if (seq !== this.#cursor + 1) return 'gap'
    this.#cursor = seq
    return 'new'
  }

  /** What is not acknowledged, in order, to be sent again after a reconnect. */
  pending(): NumberedFrame[] {
    return Array.from(this.#pending, ([seq, bytes]) => ({ seq, bytes }))
  }

  /** Whether the other side, which says that it holds everything up to `received`, continues this numbering: false when one of the two lost its memory, and both must number anew. */
  resumable(received: number): boolean {
    const first = this.#pending.keys().next().value ?? this.#nextSeq
    return received >= first - 1 && received < this.#nextSeq
  }

  saved(): SavedLink {
    return { nextSeq: this.#nextSeq, cursor: this.#cursor, pending: this.pending() }
  }

  /** Becomes what was saved. */
  restore({ nextSeq, cursor, pending }: SavedLink): void {
    const sorted = [...pending].sort((a, b) => a.seq - b.seq)
    this.#pending = new Map(sorted.map(({ seq, bytes }) => [seq, bytes]))
    this.#bytes = sorted.reduce((sum, { bytes }) => sum + bytes.length, 0)
    this.#nextSeq = Math.max(nextSeq, (sorted.at(-1)?.seq ?? 0) + 1)
    this.#cursor = cursor
  }

  /** Both sides number from 1 again; what was not acknowledged is dropped. */
  reset(): void {
    this.restore({ nextSeq: 1, cursor: 0, pending: [] })
  }
}
