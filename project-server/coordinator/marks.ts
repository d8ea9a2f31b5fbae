/**
 * What is to be looked at later in this event or with the next take. An item carries a bit for each list that it stands in:
 * a set would hash it for every event that touches it.
 */
import { NONE } from '#protocol/lists'

/** Bits of an item's `marks`, each of one list. */
export const RECORD = 1
export const WATCHED = 2
export const TOUCHED = 4
export const LINK = 8
export const SPEAK = 16
export const REPLAY = 32
export const ACK = 64
export const CHANGED = 128
export const NEXT = 256
export const NEXT_TOLD = 512

/** Items in the order in which they were first added. */
export class Marked<Item extends { marks: number }> {
  readonly #bit: number
  #items: readonly Item[] = NONE

  constructor(bit: number) {
    this.#bit = bit
  }

  /** What is added while this is looked through comes last. */
  get items(): readonly Item[] {
    return this.#items
  }

  add(item: Item): void {
    if ((item.marks & this.#bit) !== 0) return
    item.marks |= this.#bit
    // Never another list once it has items: whoever looks through it is to see what comes.
    if (this.#items.length === 0) this.#items = [item]
    else (this.#items as Item[]).push(item)
  }

  clear(): void {
    if (this.#items.length === 0) return
    for (const item of this.#items) item.marks &= ~this.#bit
    this.#items = NONE
  }
}
