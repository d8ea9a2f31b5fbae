/**
 * When each node must be looked at next, so that the sweep looks at those alone: a node is filed under the earliest time at
 * which something of it can be over. Nothing is ever taken out early: a node that turns out to have more time is filed anew.
 */
import type { Node } from './model.ts'

/** Nodes are looked at together that are due within this time. */
const GRAIN_MS = 500

export class Watch {
  /** By the number of the grain in which they are due. */
  readonly #due = new Map<number, Node[]>()
  #nowMs = 0

  /** Something of the node may be over at this time. */
  at(node: Node, dueMs: number): void {
    if (dueMs >= node.watchMs) return
    node.watchMs = dueMs
    const grain = Math.ceil(dueMs / GRAIN_MS)
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
    const all = this.isBefore(nowMs)
    this.#nowMs = nowMs
    const taken: Node[] = []
    for (const [grain, nodes] of this.#due) {
      if (grain * GRAIN_MS > nowMs && !all) continue
      this.#due.delete(grain)
      for (const node of nodes) {
        // Filed again since, for later, or taken already.
        if (all ? node.watchMs === Number.POSITIVE_INFINITY : node.watchMs > nowMs) continue
        node.watchMs = Number.POSITIVE_INFINITY
        taken.push(node)
      }
    }
    return taken
  }
}
