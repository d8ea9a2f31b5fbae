/**
 * All nodes that the project knows, by their ids. They never go. A decision begins with a look at one of them: a map of a
 * hundred thousand looks, beside the one that it looks for, at the ids of others, each of which is somewhere else in the
 * memory. So a node is first looked for in the one place where the end of its id says that it would be.
 */
import type { PeerIdString } from '#protocol/ids'
import type { Node } from './model.ts'

/** Characters that say where a node would be: of a peer id's alphabet of 58 they tell 38 thousand million nodes apart. */
const ENDING_CHARS = 6
const PLACES_AT_FIRST_LOG2 = 8
/** Places for each node, at least: where two nodes would be at one place, the one looked for last is. */
const PLACES_PER_NODE = 4

export class KnownNodes {
  readonly #all = new Map<PeerIdString, Node>()
  #places: (Node | null)[] = []
  /** All bits of a hash but those that tell the places apart. */
  #shift = 32

  constructor() {
    this.#spread(PLACES_AT_FIRST_LOG2)
  }

  get size(): number {
    return this.#all.size
  }

  get(id: PeerIdString): Node | undefined {
    const place = this.#placeOf(id)
    const near = this.#places[place] as Node | null
    if (near !== null && near.id === id) return near
    const node = this.#all.get(id)
    if (node !== undefined) this.#places[place] = node
    return node
  }

  has(id: PeerIdString): boolean {
    return this.#all.has(id)
  }

  /** It was not known. */
  add(node: Node): void {
    this.#all.set(node.id, node)
    if (this.#places.length < PLACES_PER_NODE * this.#all.size) this.#spread(33 - this.#shift)
    else this.#places[this.#placeOf(node.id)] = node
  }

  /** In the order in which they came. */
  values(): MapIterator<Node> {
    return this.#all.values()
  }

  keys(): MapIterator<PeerIdString> {
    return this.#all.keys()
  }

  #spread(placesLog2: number): void {
    this.#shift = 32 - placesLog2
    this.#places = new Array<Node | null>(2 ** placesLog2).fill(null)
    for (const node of this.#all.values()) this.#places[this.#placeOf(node.id)] = node
  }

  #placeOf(id: PeerIdString): number {
    let hash = 0
    for (let at = Math.max(0, id.length - ENDING_CHARS); at < id.length; at++) hash = Math.imul(hash, 67) + id.charCodeAt(at)
    // The high bits of a product depend on all of its factor's (Knuth, The Art of Computer Programming 3, 6.4).
    return Math.imul(hash, 0x9e3779b1) >>> this.#shift
  }
}
