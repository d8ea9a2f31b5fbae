/** Nodes with free slots, most free first: filed by how many they have, so that placing looks at few of them. */
import { NONE } from '#protocol/lists'
import type { Node } from './model.ts'

export class FreeNodes {
  readonly #shelves: Node[][] = []
  #top = 0

  /** Files the node under its number of free slots; 0 takes it out. */
  set(node: Node, free: number): void {
    if (node.free === free) return
    if (node.free > 0) this.#take(node)
    node.free = free
    if (free === 0) return
    for (let at = this.#shelves.length; at <= free; at++) this.#shelves.push([])
    const shelf = this.#shelves[free] as Node[]
    node.place = shelf.length
    shelf.push(node)
    this.#top = Math.max(this.#top, free)
  }

  /** Slots that the node with the most has free; 0 when nobody is here. */
  get top(): number {
    while (this.#top > 0 && this.#shelves[this.#top]?.length === 0) this.#top--
    return this.#top
  }

  /** Those with so many. */
  at(free: number): readonly Node[] {
    return this.#shelves[free] ?? NONE
  }

  #take(node: Node): void {
    const shelf = this.#shelves[node.free] as Node[]
    const last = shelf.pop() as Node
    if (last !== node) {
      shelf[node.place] = last
      last.place = node.place
    }
  }
}

/** Files of nodes, each a kind's. */
type Filed = readonly { readonly free: FreeNodes }[]

/** Every node of all of these, as if they were filed together: most free first, equal ones from a place that `draw` (a whole number) decides. Nothing may be filed meanwhile. */
export function* inOrderOf(all: Filed, draw: number): Generator<Node, void, undefined> {
  let top = 0
  for (const one of all) top = Math.max(top, one.free.top)
  for (let free = top; free > 0; free--) {
    let count = 0
    for (const one of all) count += one.free.at(free).length
    if (count === 0) continue
    const start = draw % count
    // From the start to the end, then from the beginning to the start.
    yield* part(all, free, { from: start, to: count })
    yield* part(all, free, { from: 0, to: start })
  }
}

function* part(all: Filed, free: number, { from, to }: { readonly from: number; readonly to: number }): Generator<Node, void, undefined> {
  let before = 0
  for (const one of all) {
    if (before >= to) return
    const shelf = one.free.at(free)
    for (let at = Math.max(0, from - before); at < Math.min(shelf.length, to - before); at++) yield shelf[at] as Node
    before += shelf.length
  }
}
