/**
 * How a node goes: one that drains finishes its work, gives the project time to take what came out, and says good-bye; one that
 * quits says so at once. It is gone when the project knows, or does not answer.
 */
import { BYE_MS, DRAIN_RELEASE_MS, PARK_LEAVE_MS, PARK_QUIT_MS, QUIT_GRACE_MS, SAVE_QUIT_MS_MAX } from './policy.ts'

/** How it stands with a node that goes. */
export interface Affairs {
  /** It drains: nobody is in a hurry. */
  readonly waits: boolean
  /** Something is not finished yet. */
  readonly atWork: boolean
  /** Of that, something whose last snapshot the project can still take. */
  readonly saves: boolean
  /** The coordinator knows all that the node had to say. */
  readonly settled: boolean
  /** And wants no result of it any more. */
  readonly released: boolean
  /** `all`: everything that the project was not told is with others; `some`: that goes on; `none`: it cannot be, or need not. */
  readonly parked: 'all' | 'some' | 'none'
  readonly connected: boolean
}

export class Leaving {
  /** Nothing is left to do since. */
  #idleSinceMs: number | undefined
  #byeAtMs: number | undefined
  /** It was asked to go now. */
  #hurriesSinceMs: number | undefined
  /** The good-bye has its number. */
  #said = false
  #done = false

  /** The good-bye is among what is sent. */
  said(): void {
    this.#said = true
  }

  /** `bye`, once: it is to be said. `done`, once: the node may go. */
  next(node: Affairs, nowMs: number): 'bye' | 'done' | undefined {
    if (this.#done) return undefined
    if (this.#byeAtMs === undefined) {
      if (node.waits ? !this.#isReady(node, nowMs) : this.#mustSave(node, nowMs)) return undefined
      this.#byeAtMs = nowMs
      if (node.connected) return 'bye'
    }
    const sinceMs = nowMs - this.#byeAtMs
    if (node.atWork || (node.parked === 'some' && sinceMs < PARK_QUIT_MS)) return undefined
    const told = this.#said && node.settled
    this.#done = told || !node.connected || sinceMs >= BYE_MS
    return this.#done ? 'done' : undefined
  }

  /** With the good-bye everything goes back: what has a snapshot to come does so first, to be gone on with from there. */
  #mustSave({ saves }: Affairs, nowMs: number): boolean {
    this.#hurriesSinceMs ??= nowMs
    return saves && nowMs - this.#hurriesSinceMs < QUIT_GRACE_MS + SAVE_QUIT_MS_MAX
  }

  /** Nothing is left to do, or it has waited long enough for the project, and for those who take what the project cannot be told. */
  #isReady({ atWork, released, parked }: Affairs, nowMs: number): boolean {
    if (atWork) {
      this.#idleSinceMs = undefined
      return false
    }
    this.#idleSinceMs ??= nowMs
    return released || parked === 'all' || nowMs - this.#idleSinceMs >= (parked === 'some' ? PARK_LEAVE_MS : DRAIN_RELEASE_MS)
  }
}
