/**
 * What is next at a node (S20): the tasks that it is likely to be leased when what runs there has ended. Their content is
 * brought to it meanwhile. Next is no lease: its task stands in its queue as before, goes to any node that has room for it
 * first, and holds nothing of the node. So nothing of it is written down, and whatever becomes of it is nobody's failure.
 */
import { forgetComing, note } from './holders.ts'
import type { Node, Task } from './model.ts'
import { kindLack } from './needs.ts'
import { NEXT_MANIFEST_BYTES_MAX, NEXT_PASSED_FACTOR, NEXT_PASSED_MIN } from './policy.ts'
import type { State } from './state.ts'

/** What stands first among its own. Null for a node that brings nothing ahead. */
export interface Next {
  /** As many as the node said. */
  readonly max: number
  readonly tasks: NextTask[]
  /** What runs there takes too long to wait for: until a run ends nothing is next. */
  slow: boolean
  /** Tasks that began elsewhere before its first one, which comes before them. */
  passed: number
}

interface NextTask {
  readonly task: Task
  /** Its content is brought there for it. */
  readonly brings: boolean
}

/** A node said hello: of so many bundles it brings the content. What it was told before is told anew, if it still holds. */
export function beginNext(state: State, node: Node, max: number): void {
  takeAllBack(state, node)
  node.next = max === 0 ? null : { max, tasks: [], slow: false, passed: 0 }
  if (node.next === null) return
  state.nextDue.add(node)
  state.out.next(node)
}

/** The task is next at the node, behind those that are so already; `lacks`: something of its content is neither there nor on its way. */
export function putNext(state: State, node: Node, task: Task, lacks: boolean): void {
  const { next } = node
  if (next === null) return
  const brings = lacks && task.bundle.bytes.length <= NEXT_MANIFEST_BYTES_MAX
  if (next.tasks.length === 0) state.nodesWithNext++
  next.tasks.push({ task, brings })
  task.nextAt = [...(task.nextAt ?? []), node]
  state.out.watched(task)
  if (!brings) return
  for (const need of task.bundle.data ?? []) note(state, node, need, false)
  state.out.next(node)
}

/** It is next there no more. `leased`: since it is leased there; otherwise what has not come of its content does not come. */
export function endNext(state: State, node: Node, task: Task, leased: boolean): void {
  const { next } = node
  const at = next?.tasks.findIndex((one) => one.task === task) ?? -1
  if (next === null || at === -1) return
  const [ended] = next.tasks.splice(at, 1)
  if (next.tasks.length === 0) state.nodesWithNext--
  const others = task.nextAt?.filter((other) => other !== node) ?? []
  task.nextAt = others.length === 0 ? null : others
  task.group.nextFrom = Math.min(task.group.nextFrom, task.order)
  state.nextDue.add(node)
  state.out.watched(task)
  if (ended?.brings !== true) return
  if (!leased) forgetComing(state, node, task.bundle.data)
  state.out.next(node)
}

/** The task waits for so many nodes and no more: it is next at no more than that. */
export function limitNext(state: State, task: Task, count: number): void {
  for (let at = task.nextAt?.length ?? 0; at > count; at--) endNext(state, task.nextAt?.at(-1) as Node, task, false)
}

/** It may not take any more what is next there. */
export function dropUnsuited(state: State, node: Node): void {
  for (const { task } of [...(node.next?.tasks ?? [])]) if (kindLack(node, task.group) !== undefined) endNext(state, node, task, false)
}

export function takeAllBack(state: State, node: Node): void {
  for (let one = node.next?.tasks.at(-1); one !== undefined; one = node.next?.tasks.at(-1)) endNext(state, node, one.task, false)
}

/** A run has ended there. */
export function madeRoom(state: State, node: Node): void {
  if (node.next === null) return
  node.next.slow = false
  node.next.passed = 0
  state.nextDue.add(node)
}

/** A later task began on another node, where it was next: when every other node has begun more than its share of those, this one is slow. */
export function passedBy(state: State, task: Task): void {
  const [node] = task.nextAt ?? []
  if (node === undefined || node.next === null) return
  if (++node.next.passed < NEXT_PASSED_MIN + NEXT_PASSED_FACTOR * state.nodesWithNext) return
  node.next.slow = true
  state.nextDue.add(node)
}

/** Manifests of what a node is to bring to itself, what comes first first. */
export function nextManifests({ next }: Node): Uint8Array[] {
  return (next?.tasks ?? []).filter(({ brings }) => brings).map(({ task }) => task.bundle.bytes)
}
