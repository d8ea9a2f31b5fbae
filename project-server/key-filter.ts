/**
 * A set of keys that grows and only says whether a key may be in it: a Bloom filter. It says yes of every key that was added, and
 * of few that were not: with 16 million keys in it, of three in a hundred. It spares LevelDB looks for keys that are not there,
 * each of which costs it more than a write (live/rare-keys.ts).
 */

/** Of the first part; each further one holds twice as many keys as the one before. */
const FIRST_KEYS = 64 * 1024
/** Bits for each key that a part has room for, and how many of them a key sets: a full part says yes of one in 270 keys that it does not have. */
const BITS_PER_KEY = 12
const MARKS_PER_KEY = 6

interface Part {
  readonly bits: Uint32Array
  readonly size: number
  /** Keys that it has room for. */
  room: number
}

export class KeyFilter {
  readonly #firstKeys: number
  readonly #parts: Part[] = []

  constructor(firstKeys = FIRST_KEYS) {
    this.#firstKeys = firstKeys
  }

  /** Bytes of memory that it takes. */
  get bytes(): number {
    return this.#parts.reduce((sum, { bits }) => sum + bits.byteLength, 0)
  }

  add(key: string): void {
    const [from, step] = hashes(key)
    if (this.#parts.some((part) => isMarked(part, from, step))) return
    let part = this.#parts.at(-1)
    if (part === undefined || part.room === 0) {
      part = empty(this.#firstKeys * 2 ** this.#parts.length)
      this.#parts.push(part)
    }
    part.room--
    for (let mark = 0, at = from; mark < MARKS_PER_KEY; mark++, at = (at + step) >>> 0) {
      const bit = at % part.size
      part.bits[bit >>> 5] = (part.bits[bit >>> 5] as number) | (1 << (bit & 31))
    }
  }

  /** False only for a key that was never added. */
  mayHave(key: string): boolean {
    const [from, step] = hashes(key)
    return this.#parts.some((part) => isMarked(part, from, step))
  }
}

function empty(keys: number): Part {
  const size = keys * BITS_PER_KEY
  return { bits: new Uint32Array(Math.ceil(size / 32)), size, room: keys }
}

function isMarked({ bits, size }: Part, from: number, step: number): boolean {
  for (let mark = 0, at = from; mark < MARKS_PER_KEY; mark++, at = (at + step) >>> 0) {
    const bit = at % size
    if (((bits[bit >>> 5] as number) & (1 << (bit & 31))) === 0) return false
  }
  return true
}

/** Two numbers of 32 bits, from which all places of a key follow; the second is odd. (FNV-1a, twice, and mixed at the end.) */
function hashes(key: string): [from: number, step: number] {
  let [first, second] = [0x811c9dc5, 0x9747b28c]
  for (let index = 0; index < key.length; index++) {
    const code = key.charCodeAt(index)
    first = Math.imul(first ^ code, 0x01000193)
    second = Math.imul(second ^ code, 0x85ebca6b)
  }
  return [mixed(first), (mixed(second) | 1) >>> 0]
}

function mixed(hash: number): number {
  let mix = hash
  mix = Math.imul(mix ^ (mix >>> 16), 0x85ebca6b)
  mix = Math.imul(mix ^ (mix >>> 13), 0xc2b2ae35)
  return (mix ^ (mix >>> 16)) >>> 0
}
