/** Nodes with free slots, most free first: filed by how many they have, so that placing looks at few of them. */
import type { Node } from './model.ts'

export class FreeNodes {
  readonly #shelves: Node[][] = []
  #top = 0
  #size = 0

  get size(): number {
    return this.#size
  }

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
    this.#size++
    this.#top = Math.max(this.#top, free)
  }

  /** Every node with a free slot, most free first, equal ones from a place that `draw` (a whole number) decides. */
  *inOrder(draw: number): Generator<Node, void, undefined> {
    while (this.#top > 0 && this.#shelves[this.#top]?.length === 0) this.#top--
    for (let free = this.#top; free > 0; free--) {
      const shelf = this.#shelves[free] as Node[]
      for (let step = 0; step < shelf.length; step++) yield shelf[(draw + step) % shelf.length] as Node
    }
  }

  #take(node: Node): void {
    const shelf = this.#shelves[node.free] as Node[]
    const last = shelf.pop() as Node
    if (last !== node) {
      shelf[node.place] = last
      last.place = node.place
    }
    this.#size--
  }
}
