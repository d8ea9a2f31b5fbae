/**
 * How far each node is through the waiting tasks of a group: it is barred from every one before its cursor, so they are not
 * looked at again. A task that comes to stand earlier sets back all that are beyond it; that is noted once, not for each of
 * a hundred thousand nodes. Where a look ends among tasks that it may not take yet, the node has a second place, further on.
 */
import type { PeerIdString } from '#protocol/ids'

/** Set-backs that are remembered before they are worked into the cursors. */
const SET_BACKS_MAX = 1024

export class Cursors {
  /** With the number of the last set-back that it knows. */
  readonly #cursors = new Map<PeerIdString, { readonly order: number; readonly known: number }>()
  /** By number and by order ascending: one that a later one goes behind is dropped. */
  readonly #setBacks: { readonly number: number; readonly order: number }[] = []
  #last = 0
  /** Where nodes that may not take the first ones yet look on; few have any. */
  readonly #further = new Map<PeerIdString, number>()
  /** No cursor is beyond this. */
  #max = 0

  /** The order of the first task that the node need look at. */
  get(node: PeerIdString): number {
    const cursor = this.#cursors.get(node)
    return cursor === undefined ? 0 : Math.min(cursor.order, this.#setBackSince(cursor.known))
  }

  set(node: PeerIdString, order: number): void {
    this.#cursors.set(node, { order, known: this.#last })
    this.#max = Math.max(this.#max, order)
  }

  /** The order from which the node looks on behind those that it looked at in vain; 0 from the first of these. */
  further(node: PeerIdString): number {
    return this.#further.get(node) ?? 0
  }

  lookFurther(node: PeerIdString, order: number): void {
    if (order === 0) this.#further.delete(node)
    else this.#further.set(node, order)
  }

  /** A task of this order came to stand where some nodes have looked already. */
  setBack(order: number): void {
    if (this.#max <= order) return
    this.#max = order
    for (let top = this.#setBacks.at(-1); top !== undefined && top.order >= order; top = this.#setBacks.at(-1)) this.#setBacks.pop()
    this.#setBacks.push({ number: ++this.#last, order })
    if (this.#setBacks.length > SET_BACKS_MAX) this.#workIn()
  }

  /** The earliest order of those after a number: the first of them, since they ascend. */
  #setBackSince(known: number): number {
    let low = 0
    let high = this.#setBacks.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#setBacks[middle]?.number ?? 0) <= known) low = middle + 1
      else high = middle
    }
    return this.#setBacks[low]?.order ?? Number.POSITIVE_INFINITY
  }

  #workIn(): void {
    for (const node of this.#cursors.keys()) this.#cursors.set(node, { order: this.get(node), known: this.#last })
    this.#setBacks.length = 0
  }
}
