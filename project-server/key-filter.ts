/**
 * Keys of which it is only asked whether one was ever added: a Bloom filter that grows. It says yes of every key that was added,
 * and of about three in a hundred that were not. Of LevelDB it is asked instead, since a look for what is not there costs it
 * more than a write (live/store.ts).
 */

/** Of the first part; each further one holds twice as many keys as the one before. */
const FIRST_KEYS = 64 * 1024
/** Bytes of memory for two keys: three; and of each key so many bits. A full part is wrong about one key in 270. */
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
