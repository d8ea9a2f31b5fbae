/** [33] Who cannot reach the server tries again after growing pauses, so that a server that comes back is not overrun. */
import { decodeFrame } from '#protocol/control/messages'
import type { PeerIdString } from '#protocol/ids'
import type { Speaker } from '../protocol/witness.ts'
import type { Complaints } from './complaints.ts'

/** The shortest pause after so many failures in a row: half of 0.2 s, 0.4 s, 0.8 s and so on, 5 s at most. */
function pauseMsMin(failures: number): number {
  return Math.min(5_000, 200 * 2 ** (failures - 1)) / 2
}

interface Attempts {
  atMs: number
  /** Since it was welcomed last. */
  count: number
}

export class Storms {
  readonly #complaints: Complaints
  /** Of the present life of each node. */
  readonly #attempts = new Map<Speaker, Attempts>()
  readonly #hosts = new Map<PeerIdString, Speaker>()

  constructor(complaints: Complaints) {
    this.#complaints = complaints
  }

  dialled(host: Speaker, nowMs: number): void {
    const before = this.#hosts.get(host.peerId)
    if (before !== undefined && before !== host) this.#attempts.delete(before)
    this.#hosts.set(host.peerId, host)
    const attempts = this.#attempts.get(host)
    if (attempts === undefined) {
      this.#attempts.set(host, { atMs: nowMs, count: 1 })
      return
    }
    const pauseMs = nowMs - attempts.atMs
    const least = attempts.count === 0 ? 0 : pauseMsMin(attempts.count)
    this.#complaints.expect(
      pauseMs >= least,
      () => `${host.peerId} tried to reach the server again after ${pauseMs} ms, its attempt ${attempts.count + 1} in a row`
    )
    attempts.atMs = nowMs
    attempts.count++
  }

  /** A welcome is on its way: whatever follows is a new beginning. */
  fromServer(node: PeerIdString, bytes: Uint8Array): void {
    const host = this.#hosts.get(node)
    const attempts = host === undefined ? undefined : this.#attempts.get(host)
    if (attempts !== undefined && attempts.count > 0 && decodeFrame(bytes)?.welcome !== undefined) attempts.count = 0
  }
}
