/**
 * Homogeneous redundancy (BOINC): the last digits of floating-point work depend on the machine, so a policy may want all runs of a
 * task on hosts of one class. The first run fixes it: the class of a task is that of the earliest node that runs it or has reported
 * it, and it has none again once nobody does. It follows from the replicas and their nodes, which are durable, and needs no record.
 */
import type { NodeOffer } from './events.ts'
import { isOnOther } from './groups.ts'
import type { Node, Task } from './model.ts'
import { hasVoice } from './states.ts'

/** The node's result could not stand beside one that is here or comes: it is of another platform (X17), or of another class where that is asked for. */
export function mixes(task: Task, node: Node): boolean {
  return isOnOther(task, node) || isOtherClass(task, node)
}

/** The task is for another class. (Who does not tell its own gets none of those for which it matters: needs.ts.) */
export function isOtherClass(task: Task, node: Node): boolean {
  const { sameClass } = task.batch.policy
  if (sameClass === 'no') return false
  const first = task.replicas.find(hasVoice)
  return first !== undefined && classOf(task, first.node.offer) !== classOf(task, node.offer)
}

/** platform: system and processor kind. cpu: vendor and family of the processor, too, and the kinds of GPU where the task uses any. */
export function classOf({ batch, bundle }: Pick<Task, 'batch' | 'bundle'>, { platform, cpu, gpus }: Pick<NodeOffer, 'platform' | 'cpu' | 'gpus'>): string {
  if (batch.policy.sameClass === 'platform') return platform
  return bundle.needs.gpus === null ? `${platform} ${cpu}` : `${platform} ${cpu} ${[...new Set(gpus.map(({ model }) => model))].sort().join()}`
}
