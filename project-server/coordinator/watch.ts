/**
 * When each node must be looked at next, so that the sweep looks at those alone: a node is filed under the earliest time at
 * which something of it can be over, or half a day ahead. Nothing is ever taken out early: a node that turns out to have more time
 * is filed anew.
 */
import type { Node } from './model.ts'

/** Nodes are looked at together that are due within this time. */
const GRAIN_MS = 500
/**
 * Nobody is filed further ahead, but looked at then and filed anew. What nodes hold may be over in a week: each time that one
 * comes and goes would leave an entry until then: of a million nodes a hundred megabytes after a day and a half, and more each day.
 */
const AHEAD_MS = 12 * 3_600_000

export class Watch {
  /** By the number of the grain in which they are due, all after the last that was taken. */
  readonly #due = new Map<number, Node[]>()
  #nowMs = 0

  /** Something of the node may be over at this time. */
  at(node: Node, dueMs: number): void {
    if (dueMs >= node.watchMs) return
    node.watchMs = Math.min(dueMs, this.#nowMs + AHEAD_MS)
    const grain = Math.max(Math.floor(this.#nowMs / GRAIN_MS) + 1, Math.ceil(node.watchMs / GRAIN_MS))
    const nodes = this.#due.get(grain)
    if (nodes === undefined) this.#due.set(grain, [node])
    else nodes.push(node)
  }

  /** The clock was set back since the last `take`. */
  isBefore(nowMs: number): boolean {
    return nowMs < this.#nowMs
  }

  /** Nodes that are due, each once; all of them when the clock was set back. Those of which something may be over later must be filed again. */
  take(nowMs: number): readonly Node[] {
    const taken: Node[] = []
    const last = Math.floor(nowMs / GRAIN_MS)
    const first = Math.floor(this.#nowMs / GRAIN_MS) + 1
    if (this.isBefore(nowMs)) for (const grain of [...this.#due.keys()]) this.#takeGrain(grain, Number.MAX_VALUE, taken)
    else if (last - first < this.#due.size) for (let grain = first; grain <= last; grain++) this.#takeGrain(grain, nowMs, taken)
    else for (const grain of [...this.#due.keys()]) if (grain <= last) this.#takeGrain(grain, nowMs, taken)
    this.#nowMs = nowMs
    return taken
  }

  #takeGrain(grain: number, untilMs: number, taken: Node[]): void {
    const nodes = this.#due.get(grain)
    if (nodes === undefined) return
    this.#due.delete(grain)
    for (const node of nodes) {
      // Filed again since, for later, or taken already.
      if (node.watchMs > untilMs) continue
      node.watchMs = Number.POSITIVE_INFINITY
      taken.push(node)
    }
  }
}
