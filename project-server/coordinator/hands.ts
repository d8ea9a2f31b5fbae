/**
 * Through whose hands a result went (F24). A run that goes on from a checkpoint rests on what the node that made it did, on
 * what that one itself went on from, and so on to a run that began with nothing. Pure.
 */
import type { Node, Replica, Task } from './model.ts'
import { hasVoice } from './states.ts'

/** Its own node's first, then those of the checkpoints that it goes on from, each once. */
export function handsOf(replica: Replica): readonly Node[] {
  if (replica.from === null) return [replica.node]
  const hands = new Set<Node>()
  for (const one of [replica, ...ancestorsOf(replica)]) hands.add(one.node)
  return [...hands]
}

/** Those whose checkpoints it goes on from, the nearest first. */
export function ancestorsOf(replica: Replica): readonly Replica[] {
  const found: Replica[] = []
  // A replica goes on from an earlier one, so this ends.
  for (let from = replica.from; from !== null; ) {
    const ancestor = replica.task.replicas[from.attempt - 1]
    if (ancestor === undefined) break
    found.push(ancestor)
    from = ancestor.from
  }
  return found
}

/** What it says may be somebody else's fault. */
export function restsOnOthers(replica: Replica): boolean {
  return replica.from !== null && ancestorsOf(replica).some(({ node }) => node !== replica.node)
}

/** What the node did is in a result of the task that counts, or may come: its own would add no voice. */
export function isIn(task: Task, node: Node): boolean {
  for (const replica of task.replicas) if (replica.from !== null && hasVoice(replica) && handsOf(replica).includes(node)) return true
  return false
}

/** By which votes hang together when one of them at least went on from a checkpoint: whatever went through the same hands is one voice. */
export function handTies(replica: Replica): readonly string[] {
  return handsOf(replica).map(({ id }) => `hand ${id}`)
}

/** Some run of the task went on from a checkpoint. */
export function hasLineage({ replicas }: Task): boolean {
  for (const { from } of replicas) if (from !== null) return true
  return false
}
