/** The coordinator's end of one control stream: an outbox in order, with a bound, and acks that ride on whatever goes out next. */
import { Frame } from '#protocol/control/messages'
import { Sequence } from '#protocol/control/sequence'
import type { FrameStream } from '#protocol/peer/host'
import { OUTBOX_BYTES_MAX, OUTBOX_FRAMES_MAX } from '../policy.ts'

export interface OutboxBounds {
  readonly bytesMax: number
  readonly framesMax: number
}

const BOUNDS: OutboxBounds = { bytesMax: OUTBOX_BYTES_MAX, framesMax: OUTBOX_FRAMES_MAX }

export class Link {
  readonly stream: FrameStream
  /** The core has answered its hello: what it sends for the node goes here. */
  welcomed = false
  /** Of the frames of its stream. */
  readonly sequence = new Sequence()
  readonly #bounds: OutboxBounds
  readonly #frames: Uint8Array[] = []
  #bytes = 0
  #ack = 0
  #ackDue = false
  #pumping: Promise<void> | undefined
  #closed = false

  constructor(stream: FrameStream, bounds = BOUNDS) {
    this.stream = stream
    this.#bounds = bounds
  }

  /** Queues one encoded frame without its ack; false when the peer reads too slowly and the stream should be dropped. */
  push(frame: Uint8Array): boolean {
    if (this.#closed) return true
    this.#frames.push(frame)
    this.#bytes += frame.length
    return this.#bytes <= this.#bounds.bytesMax && this.#frames.length <= this.#bounds.framesMax
  }

  /** Everything from the node up to `seq` is durable: said with the next frame, or alone when none goes out. */
  ack(seq: number): void {
    if (seq <= this.#ack) return
    this.#ack = seq
    this.#ackDue = true
  }

  /** Says the ack again, alone: the answer to a heartbeat. */
  pulse(): void {
    this.#ackDue = true
  }

  /** Sends what waits. Writes of one call are coalesced by the stream. */
  flush(): void {
    if (this.#closed || this.#pumping !== undefined || (this.#frames.length === 0 && !this.#ackDue)) return
    this.#pumping = this.#pump()
      .catch(() => undefined)
      .finally(() => {
        this.#pumping = undefined
      })
  }

  /** It is being ended: nothing it still says counts. */
  get closed(): boolean {
    return this.#closed
  }

  /** Sends a last frame and ends our side of the stream. */
  async end(frame: Uint8Array): Promise<void> {
    this.#closed = true
    this.#frames.length = 0
    await this.#pumping
    await this.stream.write(this.sequence.next(frame))
    await this.stream.close()
  }

  abort(error: Error): void {
    this.#closed = true
    this.#frames.length = 0
    this.stream.abort(error)
  }

  async #pump(): Promise<void> {
    let frame = this.#frames.shift()
    while (!this.#closed && (frame !== undefined || this.#ackDue)) {
      const ack = this.#ackDue ? Frame.encode({ seq: 0, ack: this.#ack }) : undefined
      this.#ackDue = false
      if (frame !== undefined) this.#bytes -= frame.length
      // Fields of a message may be appended to its bytes: the ack is added to a frame that was encoded long before.
      const bytes = frame === undefined ? ack : ack === undefined ? frame : Buffer.concat([frame, ack])
      if (bytes !== undefined) await this.stream.write(this.sequence.next(bytes))
      frame = this.#frames.shift()
    }
  }
}
