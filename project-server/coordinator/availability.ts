/**
 * Which node can be done in time (S19): a task with a deadline goes only where what it takes, over the share of time in which
 * the node is there and computes, is not more than the deadline (BOINC's delay_bound and its hosts' on-fraction). Both are
 * mere estimates, kept in memory: after a restart every node counts as always there and as fast as others until it shows.
 */
import type { Group, Node, Replica } from './model.ts'
import { AVAILABILITY_MIN, AVAILABILITY_SPAN_MS } from './policy.ts'

/** What of a batch's tasks has a deadline. */
export interface Due {
  readonly batch: Replica['task']['batch']
  readonly deadlineMs: number
  /** The time limit of a run: what it may take while nothing is known of its batch's runs. */
  readonly timeMs: number
}

/** To be called often, and before a node that was away is there again: what it is now it has been since it was looked at last. */
export function observe(node: Node, nowMs: number): void {
  // By a clock that was set back no time has passed.
  const rest = Math.exp(-Math.max(0, nowMs - node.observedMs) / AVAILABILITY_SPAN_MS)
  const computes = node.connected && node.state === 'online' && node.slots > 0
  node.availability = node.availability * rest + (computes ? 1 - rest : 0)
  node.observedMs = nowMs
}

/** How long after its lease a run should be over there, in milliseconds: it stands still while the node is away. */
export function expectedMs({ availability, slowness }: Pick<Node, 'availability' | 'slowness'>, { batch, timeMs }: Due): number {
  const { typicalMs } = batch.runs
  const ms = typicalMs === undefined ? timeMs : typicalMs * slowness
  return ms / Math.max(AVAILABILITY_MIN, availability)
}

export function isInTime(node: Node, { due }: Pick<Group, 'due'>): boolean {
  return due === null || expectedMs(node, due) <= due.deadlineMs
}
