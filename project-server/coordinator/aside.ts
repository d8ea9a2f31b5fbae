/**
 * Nodes that fail at everything: one that ends each run within a second would otherwise be given, and fail, every task there
 * is. After some failures in a row it gets nothing for a while, twice as long each time, until a run of its ends with a result.
 */
import type { Node } from './model.ts'
import type { State } from './state.ts'

const ASIDE_MS = 60_000
const ASIDE_MS_MAX = 3_600_000

/** The node gave a task back for a fault of its own, or was lost with what it ran. It is to be filed anew. */
export function failed({ policy, watch, out }: State, node: Node, nowMs: number): void {
  node.failures++
  if (node.failures < policy.failuresMax) return
  node.asideUntilMs = nowMs + Math.min(ASIDE_MS_MAX, ASIDE_MS * 2 ** (node.failures - policy.failuresMax))
  watch.at(node, node.asideUntilMs)
  out.journal.node(node.id, 'set aside', `${node.failures} failures in a row`)
}

/** A run of its ended with a result. It is to be filed anew. */
export function worked(node: Node): void {
  node.failures = 0
  node.asideUntilMs = 0
}

/** A clock that was set back keeps nobody aside for longer. */
export function isDueBack({ asideUntilMs }: Node, nowMs: number): boolean {
  return asideUntilMs > 0 && (nowMs >= asideUntilMs || asideUntilMs - nowMs > ASIDE_MS_MAX)
}
