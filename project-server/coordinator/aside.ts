/**
 * Nodes that fail at everything: one that ends each run within a second would otherwise be given, and fail, every task there
 * is. After some failures in a row it gets nothing for a while, twice as long each time, until a run of its ends with a result.
 */
import type { Node } from './model.ts'
import { refile } from './replicas.ts'
import type { State } from './state.ts'

const ASIDE_MS = 60_000
const ASIDE_MS_MAX = 3_600_000

/** The node gave a task back for a fault of its own, or was lost with what it ran. */
export function failed(state: State, node: Node, nowMs: number): void {
  const { failuresMax } = state.policy
  node.failures++
  if (node.failures < failuresMax) return
  node.asideUntilMs = nowMs + Math.min(ASIDE_MS_MAX, ASIDE_MS * 2 ** (node.failures - failuresMax))
  state.watch.at(node, node.asideUntilMs)
  refile(state, node)
}

/** A run of its ended with a result. */
export function worked(state: State, node: Node): void {
  node.failures = 0
  letBack(state, node)
}

/** For the sweep. A clock that was set back keeps nobody aside for longer. */
export function letBackWhenDue(state: State, node: Node, nowMs: number): void {
  if (nowMs >= node.asideUntilMs || node.asideUntilMs - nowMs > ASIDE_MS_MAX) letBack(state, node)
}

function letBack(state: State, node: Node): void {
  if (node.asideUntilMs === 0) return
  node.asideUntilMs = 0
  refile(state, node)
}
