/** [23, 24] Where nothing is the matter but floods, honest nodes do not notice: each is answered soon, none is refused, and none has to call again. */
import { decodeFrame } from '#protocol/control/messages'
import type { PeerIdString } from '#protocol/ids'
import type { Complaints } from './complaints.ts'

/** From when what a node says has come to when the server says something to it: some writes to its disk. */
const ANSWER_MS_MAX = 1_500

export class Floods {
  readonly #complaints: Complaints
  /** Nodes that wait for an answer, in the order in which they began to. */
  readonly #waiting = new Map<PeerIdString, number>()
  readonly #called = new Set<PeerIdString>()

  constructor(complaints: Complaints) {
    this.#complaints = complaints
  }

  dialled(node: PeerIdString): void {
    this.#complaints.expect(!this.#called.has(node), () => `${node} had to call again, and nothing was the matter but floods`)
    this.#called.add(node)
  }

  fromServer(node: PeerIdString, bytes: Uint8Array): void {
    this.#waiting.delete(node)
    const refused = decodeFrame(bytes)?.refused
    this.#complaints.expect(refused === undefined, () => `${node} was refused (${refused?.code}), and nothing was the matter but floods`)
  }

  /** What it says needs an answer: a heartbeat, or something that is to be on record. */
  toServer(node: PeerIdString, bytes: Uint8Array, nowMs: number): void {
    const [oldest] = this.#waiting
    this.#complaints.expect(
      oldest === undefined || nowMs - oldest[1] <= ANSWER_MS_MAX,
      () => `${oldest?.[0]} has waited for an answer for ${nowMs - (oldest?.[1] ?? 0)} ms, and nothing was the matter but floods`
    )
    const frame = decodeFrame(bytes)
    if (!this.#waiting.has(node) && (frame?.heartbeat !== undefined || (frame?.seq ?? 0) > 0)) this.#waiting.set(node, nowMs)
  }
}
