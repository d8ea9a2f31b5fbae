/**
 * One end of a numbered, replayable link, the same at both ends (R05). What is pushed gets the next number and is kept
 * until the other side says that it made it durable; after a reconnect what is kept is sent again under its old number;
 * what arrives is applied once and in order. A payload is whatever its owner sends again: the node keeps the bytes of its
 * frames, the coordinator keeps what it said as data and makes the frame anew from what still holds.
 *
 * A shell keeps these rules around it:
 * - what was pushed, `sent` and `received` are durable before anything they stand for leaves;
 * - an incoming numbered frame is applied only when `accept` says `new`, and acknowledged only when its effects and
 *   `received` are durable together;
 * - after hello and welcome: `resumable(received)`, or else both sides begin a new link; then `acknowledge(received)`, then
 *   all of `pending()` that is durable is sent again before anything new (a commit under way sends the rest when it is done).
 * - `waiting` is bounded by its owner: it stops taking work, or gives the other side up.
 */
import { NONE, withOne } from '../lists.ts'

export interface Numbered<Payload> {
  readonly seq: number
  readonly payload: Payload
}

/** What must survive a crash, beside what is pending. */
export interface LinkNumbers {
  /** Names the link: another one at the other end means that one of the two lost its memory. */
  readonly id: string
  /** Last number used. */
  readonly sent: number
  /** Highest number of the other side that was accepted. */
  readonly received: number
}

export class Link<Payload> implements LinkNumbers {
  readonly id: string
  #sent: number
  #received: number
  /** By number, ascending; those before `#head` are acknowledged. Shared when there are none: most of many links wait for nothing. */
  #pending: readonly Numbered<Payload>[] = NONE
  #head = 0

  /** A new link, or one that was saved: `pending` is what was not acknowledged, in order. */
  constructor({ id, sent, received }: LinkNumbers, pending: readonly Numbered<Payload>[] = []) {
    this.id = id
    this.#sent = Math.max(sent, pending.at(-1)?.seq ?? 0)
    this.#received = received
    if (pending.length > 0) this.#pending = [...pending]
  }

  get sent(): number {
    return this.#sent
  }

  get received(): number {
    return this.#received
  }

  /** Highest number that the other side is known to have made durable. */
  get acked(): number {
    const first = this.#pending[this.#head]
    return first === undefined ? this.#sent : first.seq - 1
  }

  /** How many are not acknowledged. */
  get waiting(): number {
    return this.#pending.length - this.#head
  }

  /** Numbers and keeps what goes out: the number is `sent + 1`. */
  push(payload: Payload): number {
    this.#sent++
    this.#pending = withOne(this.#pending, { seq: this.#sent, payload })
    return this.#sent
  }

  /** The other side made everything up to this number durable. Answers what is forgotten now, in order; a stale or impossible number forgets no more than was sent. */
  acknowledge(upTo: number): readonly Numbered<Payload>[] {
    const pending = this.#pending
    const from = this.#head
    for (let first = pending[from]; first !== undefined && first.seq <= upTo; first = pending[this.#head]) this.#head++
    if (this.#head === from) return NONE
    if (from === 0 && this.#head === pending.length) {
      this.#pending = NONE
      this.#head = 0
      return pending
    }
    const forgotten = pending.slice(from, this.#head)
    if (this.#head * 2 > pending.length) {
      this.#pending = this.#head === pending.length ? NONE : pending.slice(this.#head)
      this.#head = 0
    }
    return forgotten
  }

  /** `new`: apply it, it counts as received. `duplicate`: drop it, and acknowledge again. `gap`: something was lost; close the stream. */
  accept(seq: number): 'new' | 'duplicate' | 'gap' {
    if (seq <= this.#received) return 'duplicate'
    if (seq !== this.#received + 1) return 'gap'
    this.#received = seq
    return 'new'
  }

  /** What is not acknowledged, in order and from the first of it, to be sent again after a reconnect. */
  pending(max = Number.POSITIVE_INFINITY): readonly Numbered<Payload>[] {
    return this.#pending.slice(this.#head, this.#head + max)
  }

  /** Whether the other side, which says that it holds everything up to `received`, continues this numbering: false when one of the two lost its memory, and both must number anew. */
  resumable(received: number): boolean {
    return received >= this.acked && received <= this.#sent
  }
}
