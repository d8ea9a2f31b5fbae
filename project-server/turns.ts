/**
 * Whose turn it is to fetch a large tree that many nodes need at once. Two fetch it from the project; the others wait until there
 * is a node that has it and can be reached, each of which gives it to two at a time. So as many have it twice as often, and the
 * project's line carries it a few times instead of once for each. A turn ends when the tree is there, or has taken too long: who
 * waits for the slow is let go on. Pure, in memory alone: what is forgotten costs a transfer.
 */
import type { PeerIdString } from '#protocol/ids'
import { TURN_BYTES_PER_SECOND, TURN_MS_MIN, TURN_TREES_MAX, TURNS_AT_NODE, TURNS_AT_PROJECT } from './policy.ts'

interface Turn {
  /** From whom it fetches; null for the project. */
  readonly from: PeerIdString | null
  readonly untilMs: number
}

export interface TurnAsked {
  readonly root: string
  readonly bytes: number
  readonly node: PeerIdString
  /** Nodes that have it and that the node can reach. */
  readonly holders: readonly PeerIdString[]
  /** It is there and still without the tree. */
  readonly isFetching: (node: PeerIdString) => boolean
  readonly canReach: (node: PeerIdString) => boolean
}

export class Turns {
  readonly #trees = new Map<string, Map<PeerIdString, Turn>>()

  get trees(): number {
    return this.#trees.size
  }

  /** From whom the node fetches now: one of the holders, or (null) the project; undefined when it does better to wait. */
  ask({ root, bytes, node, holders, isFetching, canReach }: TurnAsked, nowMs: number): PeerIdString | null | undefined {
    const turns = this.#trees.get(root) ?? new Map<PeerIdString, Turn>()
    for (const [one, { untilMs }] of turns) if (one === node || nowMs >= untilMs || !isFetching(one)) turns.delete(one)
    const busy = new Map<PeerIdString | null, number>()
    for (const { from } of turns.values()) busy.set(from, (busy.get(from) ?? 0) + 1)
    const free = holders.find((holder) => (busy.get(holder) ?? 0) < TURNS_AT_NODE)
    const from = free ?? (holders.length === 0 && (busy.get(null) ?? 0) < TURNS_AT_PROJECT ? null : undefined)
    // Nobody that it could ever fetch from: there is nothing to wait for.
    if (from === undefined && holders.length === 0 && ![...turns.keys()].some(canReach)) return null
    if (from !== undefined && (this.#trees.has(root) || this.#trees.size < TURN_TREES_MAX)) {
      turns.set(node, { from, untilMs: nowMs + Math.max(TURN_MS_MIN, (bytes / TURN_BYTES_PER_SECOND) * 1000) })
      this.#trees.set(root, turns)
    } else if (turns.size === 0) this.#trees.delete(root)
    return from
  }

  /** It does not fetch it now after all. */
  leave(root: string, node: PeerIdString): void {
    const turns = this.#trees.get(root)
    turns?.delete(node)
    if (turns?.size === 0) this.#trees.delete(root)
  }
}
