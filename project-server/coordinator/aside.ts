/**
 * Nodes that fail at everything: one that ends each run within a second would otherwise be given, and fail, every task there
 * is. After some failures in a row it gets nothing for a while, twice as long each time, until a run of its ends with a result.
 * And nodes that are wrong: one whose results others refute more often than not gets nothing for a day after each (BOINC's daily
 * quota of one task), and the longer the surer that is, so that whoever always lies has a small part in what is decided and
 * costs little, whatever his share of the nodes is.
 */
import type { Node } from './model.ts'
import { ERROR_RATE_STEP_PPM } from './standing.ts'
import type { State } from './state.ts'

const ASIDE_MS = 60_000
const ASIDE_MS_MAX = 3_600_000
const WRONG_MS = 86_400_000
/** By BOINC's estimate (trust.ts): four wrong results of a new node, or one in five in the long run. */
const WRONG_PPM = 500_000
/** Twice as long for each wrong result more (by the same estimate, which right ones lower again), as often as this: 16 days for who is never right. A day alone left a fifth of all nodes, all lying, 7 of 100 runs, and each cost another one. */
const WRONG_DOUBLINGS_MAX = 4
const WRONG_MS_MAX = WRONG_MS * 2 ** WRONG_DOUBLINGS_MAX
const WRONG_SHARE_MAX = 1 / 3

/** The node gave a task back for a fault of its own, or was lost with what it ran. It is to be filed anew. */
export function failed({ policy, watch, out }: State, node: Node, nowMs: number): void {
  node.failures++
  if (node.failures < policy.failuresMax) return
  node.asideUntilMs = Math.max(node.asideUntilMs, nowMs + Math.min(ASIDE_MS_MAX, ASIDE_MS * 2 ** (node.failures - policy.failuresMax)))
  watch.at(node, node.asideUntilMs)
  out.journal.node(node.id, 'set aside', `${node.failures} failures in a row`)
}

/** Others agreed on something else than its result. It is to be filed anew. Where more than a third of all would be wrong nobody can tell who is: no more are set aside. */
export function wasWrong({ policy, wrong, presence, watch, out }: State, node: Node, nowMs: number): void {
  if (node.errorPpm < WRONG_PPM || !Number.isFinite(policy.failuresMax)) return
  if (!wrong.has(node) && wrong.size + 1 > WRONG_SHARE_MAX * presence.size) return
  wrong.add(node)
  node.asideUntilMs = nowMs + WRONG_MS * 2 ** Math.min(WRONG_DOUBLINGS_MAX, Math.floor((node.errorPpm - WRONG_PPM) / ERROR_RATE_STEP_PPM))
  watch.at(node, node.asideUntilMs)
  out.journal.node(node.id, 'set aside', 'too many of its results were wrong')
}

/** A run of its ended with a result. It is to be filed anew. */
export function worked({ wrong }: State, node: Node): void {
  node.failures = 0
  // What its result is worth is not known yet.
  if (!wrong.has(node)) node.asideUntilMs = 0
}

/** A clock that was set back keeps nobody aside for longer. */
export function isDueBack({ wrong }: State, node: Node, nowMs: number): boolean {
  const { asideUntilMs } = node
  return asideUntilMs > 0 && (nowMs >= asideUntilMs || asideUntilMs - nowMs > (wrong.has(node) ? WRONG_MS_MAX : ASIDE_MS_MAX))
}

/** Its time aside is over. It is to be filed anew. */
export function comesBack({ wrong, out }: State, node: Node): void {
  wrong.delete(node)
  node.asideUntilMs = 0
  out.journal.node(node.id, 'back')
}
