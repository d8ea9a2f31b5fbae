/**
 * The coordinator's end of a node's numbered link. What it says is kept as plain data, not as bytes: after a reconnect a
 * frame is made again from what still holds, under its old number.
 */
import type { LinkRecord, Outgoing } from './records.ts'

export interface Numbered {
  readonly seq: number
  readonly outgoing: Outgoing
}

export type Arrival = 'next' | 'seen' | 'gap'

export class Link {
  readonly id: string
  #sent: number
  #received: number
  #pending: Numbered[] = []
  #head = 0

  /** `pending` are the frames without acknowledgement, in order. */
  constructor(record: LinkRecord, pending: readonly Numbered[] = []) {
    this.id = record.link
    this.#sent = record.sent
    this.#received = record.received
    this.#pending = [...pending]
  }

  get received(): number {
    return this.#received
  }

  get sent(): number {
    return this.#sent
  }

  /** Highest number that the other side is known to have made durable. */
  get acked(): number {
    return this.#pending[this.#head]?.seq === undefined ? this.#sent : (this.#pending[this.#head] as Numbered).seq - 1
  }

  get record(): LinkRecord {
    return { link: this.id, sent: this.#sent, received: this.#received }
  }

  get waiting(): number {
    return this.#pending.length - this.#head
  }

  /** Numbers what goes out. */
  push(outgoing: Outgoing): number {
    this.#sent++
    this.#pending.push({ seq: this.#sent, outgoing })
    return this.#sent
  }

  /** Everything that is not acknowledged, in order. */
  pending(): readonly Numbered[] {
    return this.#pending.slice(this.#head)
  }

  /** Forgets what the other side made durable and returns it; undefined when it names a number never used. */
  acknowledge(seq: number): readonly Numbered[] | undefined {
    if (seq > this.#sent) return undefined
    const from = this.#head
    while (this.#head < this.#pending.length && (this.#pending[this.#head] as Numbered).seq <= seq) this.#head++
    const done = this.#pending.slice(from, this.#head)
    if (this.#head * 2 > this.#pending.length) {
      this.#pending = this.#pending.slice(this.#head)
      this.#head = 0
    }
    return done
  }

  /** seen -> nothing to do but acknowledge again; gap -> something was lost, the stream must break. */
  accept(seq: number): Arrival {
    if (seq <= this.#received) return 'seen'
    if (seq !== this.#received + 1) return 'gap'
    this.#received = seq
    return 'next'
  }
}
