/**
 * Which nodes hold which data: from a root to its nodes, and back. Nodes tell it with their hello and as it changes; what a
 * node was leased is counted as coming, so that the next task with the same data finds it there. An estimate, kept in memory
 * alone: after a restart the hellos tell it again, and a wrong entry costs a transfer.
 */
import { HOLDINGS_MAX } from '#protocol/control/messages'
import { NONE } from '#protocol/lists'
import type { DataNeed, Node } from './model.ts'
import { HOLDINGS_KNOWN_MAX } from './policy.ts'
import type { State } from './state.ts'

export interface Holding {
  /** CID as text. */
  readonly root: string
  readonly bytes: number
}

/** One root at one node. */
export interface DataAt {
  readonly bytes: number
  /** The node has it; otherwise it is being brought there. */
  here: boolean
  /** Among the root's nodes. */
  place: number
}

export class Holders {
  readonly #nodes = new Map<string, Node[]>()
  #size = 0

  /** Pairs of a root and a node. */
  get size(): number {
    return this.#size
  }

  /** Who holds the root, or will, in no order. */
  of(root: string): readonly Node[] {
    return this.#nodes.get(root) ?? NONE
  }

  /** Every root with its nodes. */
  entries(): IterableIterator<[string, readonly Node[]]> {
    return this.#nodes.entries()
  }

  /** `here`: the node has it; otherwise it is on its way. Beyond the bounds nothing more is noted. True when it is new there. */
  add(node: Node, { root, bytes }: Holding, here: boolean): boolean {
    const known = node.holds?.get(root)
    if (known !== undefined) {
      known.here ||= here
      return false
    }
    if (this.#size >= HOLDINGS_KNOWN_MAX || (node.holds?.size ?? 0) >= HOLDINGS_MAX) return false
    const nodes = this.#nodes.get(root) ?? []
    this.#nodes.set(root, nodes)
    node.holds ??= new Map()
    node.holds.set(root, { bytes, here, place: nodes.push(node) - 1 })
    this.#size++
    return true
  }

  drop(node: Node, root: string): void {
    const held = node.holds?.get(root)
    const nodes = this.#nodes.get(root)
    if (held === undefined || nodes === undefined) return
    const last = nodes.pop()
    const moved = last?.holds?.get(root)
    if (last !== undefined && last !== node && moved !== undefined) {
      nodes[held.place] = last
      moved.place = held.place
    }
    if (nodes.length === 0) this.#nodes.delete(root)
    node.holds?.delete(root)
    if (node.holds?.size === 0) node.holds = null
    this.#size--
  }

  /** The node has nothing, as far as is known. */
  clear(node: Node): void {
    for (const root of [...(node.holds?.keys() ?? [])]) this.drop(node, root)
  }
}

/** Notes it, and that what waits for this data, of whatever group, may go there. What a node says that has left is nothing to count on. */
export function note({ holders, nodesChanged }: State, node: Node, holding: Holding, here: boolean): void {
  if (node.state === 'online' && holders.add(node, holding, here)) nodesChanged.add(node)
}

/** Bytes of the data that would have to be brought to the node. */
export function missingBytes(node: Node, data: readonly DataNeed[]): number {
  let bytes = 0
  for (const need of data) if (!hasData(node, need)) bytes += need.bytes
  return bytes
}

/** The node has told that it has all of it. */
export function isHere({ holds }: Node, data: readonly DataNeed[]): boolean {
  return data.every(({ root, within }) => holds?.get(root)?.here === true || (within !== null && holds?.get(within)?.here === true))
}

/** What was on its way to the node has perhaps not come, and does not come any more. */
export function forgetComing({ holders }: State, node: Node, data: readonly DataNeed[] | null): void {
  for (const { root } of data ?? []) if (node.holds?.get(root)?.here === false) holders.drop(node, root)
}

/** It has the tree, or the whole one that it is a part of, or will have it when what it was leased is prepared. */
function hasData({ holds }: Node, { root, within }: DataNeed): boolean {
  return holds !== null && (holds.has(root) || (within !== null && holds.has(within)))
}
