/**
 * Who else could take a task: nodes that are there, take tasks and have what its group needs, however busy they are. Of a group
 * a few are remembered, each of another network and owner, so that one of them is independent of whoever has the task, if any node
 * is; and of each place a few more, since the one may have had the task and failed at it.
 */
import { isInTime } from './availability.ts'
import { isDependent, shares } from './independence.ts'
import type { KnownNodes } from './known-nodes.ts'
import type { Group, Node, Task } from './model.ts'
import { suits } from './needs.ts'
import { ABLE_ALIKE, ABLE_KEPT_MS, ABLE_LOOKED_MAX, ABLE_REMEMBERED } from './policy.ts'
import { isBarred } from './replicas.ts'

interface Able {
  readonly nodes: readonly Node[]
  readonly atMs: number
}

export class Alternatives {
  readonly #able = new WeakMap<Group, Able>()
  /** Nodes looked at in this second: many groups may ask at once. */
  #looked = 0
  #second = Number.NaN

  /** Whether one of `nodes` could take it that is independent of those which have it. What is not looked at yet may be there. */
  exist(nodes: Pick<KnownNodes, 'values'>, task: Task, nowMs: number): boolean {
    const { group } = task
    const known = this.#able.get(group)
    if (known?.nodes.some((node) => mayTake(task, node)) === true) return true
    const isFresh = known !== undefined && nowMs >= known.atMs && nowMs - known.atMs < ABLE_KEPT_MS
    if (isFresh && known.nodes.every((node) => isAble(node, group))) return false
    const found = this.#look(nodes, group, nowMs)
    if (found === undefined) return known === undefined
    this.#able.set(group, { nodes: found, atMs: nowMs })
    return found.some((node) => mayTake(task, node))
  }

  /** Undefined when too many were looked at lately. */
  #look(nodes: Pick<KnownNodes, 'values'>, group: Group, nowMs: number): Node[] | undefined {
    const second = Math.floor(nowMs / 1000)
    if (second !== this.#second) this.#looked = 0
    this.#second = second
    if (this.#looked >= ABLE_LOOKED_MAX) return undefined
    const found: Node[] = []
    const alike: Node[] = []
    /** Of those that are like the found ones, how many are kept for each. */
    const kept: number[] = []
    for (const node of nodes.values()) {
      this.#looked++
      if (!isAble(node, group)) continue
      const at = found.findIndex(({ offer }) => shares(offer, node.offer))
      if (at === -1) {
        kept.push(0)
        if (found.push(node) === ABLE_REMEMBERED) break
      } else if ((kept[at] ?? 0) < ABLE_ALIKE) {
        kept[at] = (kept[at] ?? 0) + 1
        alike.push(node)
      }
    }
    return [...found, ...alike]
  }
}

function isAble(node: Node, group: Group): boolean {
  if (!node.present || node.slots === 0 || node.asideUntilMs > 0) return false
  return suits(node, group) && isInTime(node, group)
}

function mayTake(task: Task, node: Node): boolean {
  return isAble(node, task.group) && !isBarred(task, node) && !isDependent(task, node)
}
