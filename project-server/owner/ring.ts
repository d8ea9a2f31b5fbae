/** The last bytes of a followed file, in pieces, for readers that are not all at the same place. Pure. */
import { LIVE_SEEN_BYTES_MAX } from '#protocol/live/messages'

export interface RingPlace {
  readonly offset: number
  readonly identity: string
  readonly missed: boolean
}

/** Small pieces are put together in one of this size: a line, or a letter, costs what it holds. */
const PIECE_BYTES = 16 * 1024
/** Generations that are known: a node may say again and again that its file was cut. */
const GENERATIONS_MAX = 64

interface Piece {
  readonly generation: number
  readonly offset: number
  /** What is in it may grow; what is in it does not change. */
  readonly buffer: Uint8Array
  length: number
}

/** What comes after a reader's place: bytes; another place, where the file was replaced or cut; nothing yet; or what is no longer here. */
export type After =
  | { readonly kind: 'bytes'; readonly bytes: Uint8Array }
  | { readonly kind: 'place'; readonly generation: number; readonly place: RingPlace }
  | { readonly kind: 'nothing' }
  | { readonly kind: 'behind' }

/**
 * A generation is what was read in one go, without a jump. A reader's place is a generation and an offset in it; the ring
 * keeps the pieces of the newest generations, `bytesMax` in all with the room that is in them.
 */
export class Ring {
  readonly #bytesMax: number
  #pieces: Piece[] = []
  #bytes = 0
  #generation = 0
  #identity: string
  #end: number
  #seen: Uint8Array
  /** Where each generation began that has pieces here, and the present one; and where those ended that were read to their end. */
  #places = new Map<number, RingPlace & { readonly end?: number }>()

  constructor(bytesMax: number, from: { readonly offset: number; readonly identity: string; readonly seen: Uint8Array }) {
    this.#bytesMax = bytesMax
    this.#end = from.offset
    this.#identity = from.identity
    this.#seen = from.seen
    this.#places.set(0, { offset: from.offset, identity: from.identity, missed: false })
  }

  get generation(): number {
    return this.#generation
  }

  get end(): number {
    return this.#end
  }

  get bytes(): number {
    return this.#bytes
  }

  /** How to go on with reading the file. */
  get front(): { readonly offset: number; readonly identity: string; readonly seen: Uint8Array } {
    return { offset: this.#end, identity: this.#identity, seen: this.#seen }
  }

  /** Which file a generation is of; '' where the node did not say. */
  identityOf(generation: number): string {
    return this.#places.get(generation)?.identity ?? ''
  }

  /** The newest generation of that file; undefined when it is none of those that are known here. */
  generationOf(identity: string): number | undefined {
    return [...this.#places].findLast(([, place]) => place.identity === identity)?.[0]
  }

  push(bytes: Uint8Array): void {
    const last = this.#pieces.at(-1)
    if (last?.generation === this.#generation && last.length + bytes.length <= last.buffer.length) {
      last.buffer.set(bytes, last.length)
      last.length += bytes.length
    } else {
      const buffer = new Uint8Array(Math.max(PIECE_BYTES, bytes.length))
      buffer.set(bytes)
      this.#pieces.push({ generation: this.#generation, offset: this.#end, buffer, length: bytes.length })
      this.#bytes += buffer.length
    }
    this.#end += bytes.length
    const seen = bytes.length >= LIVE_SEEN_BYTES_MAX ? bytes : Buffer.concat([this.#seen, bytes])
    this.#seen = seen.slice(-LIVE_SEEN_BYTES_MAX)
    while (this.#bytes > this.#bytesMax && this.#pieces.length > 1) this.#drop()
    this.#forget()
  }

  /** The file goes on elsewhere, or is another; the same place tells only which file it is. */
  place(place: RingPlace): void {
    const { offset, identity, missed } = place
    const known = this.#identity === '' || this.#identity === identity
    if (offset === this.#end && known && !missed) {
      this.#identity = identity
      this.#places.set(this.#generation, { ...(this.#places.get(this.#generation) ?? place), identity })
      return
    }
    this.#places.set(this.#generation, { ...(this.#places.get(this.#generation) ?? place), end: this.#end })
    this.#begin(place, new Uint8Array())
  }

  /** It is read on from elsewhere, because somebody is there. Nobody knows where what was read before ends. */
  jump({ offset, identity, seen }: { readonly offset: number; readonly identity: string; readonly seen: Uint8Array }): void {
    this.#begin({ offset, identity, missed: false }, seen)
  }

  #begin(place: RingPlace, seen: Uint8Array): void {
    this.#generation++
    this.#identity = place.identity
    this.#end = place.offset
    this.#seen = seen
    this.#places.set(this.#generation, place)
    this.#forget()
  }

  after(generation: number, offset: number): After {
    const piece = this.#pieces.find((one) => one.generation === generation && one.offset + one.length > offset)
    if (piece !== undefined)
      return piece.offset > offset ? { kind: 'behind' } : { kind: 'bytes', bytes: piece.buffer.subarray(offset - piece.offset, piece.length) }
    if (generation === this.#generation) return offset < this.#end ? { kind: 'behind' } : { kind: 'nothing' }
    const end = this.#places.get(generation)?.end
    const next = this.next(generation)
    return end === undefined || offset < end || next === undefined ? { kind: 'behind' } : next
  }

  /** Where it goes on after a generation. */
  next(generation: number): (After & { readonly kind: 'place' }) | undefined {
    for (const [one, { offset, identity, missed }] of this.#places)
      if (one > generation) return { kind: 'place', generation: one, place: { offset, identity, missed } }
    return undefined
  }

  /** Generations without pieces are nobody's; the last before the first piece is kept, for who is at its end. */
  #forget(): void {
    const first = this.#pieces[0]?.generation ?? this.#generation
    for (const generation of this.#places.keys()) if (generation < first - 1) this.#places.delete(generation)
    while (this.#places.size > GENERATIONS_MAX) {
      const [oldest = 0] = this.#places.keys()
      this.#places.delete(oldest)
      while (this.#pieces[0] !== undefined && this.#pieces[0].generation <= oldest) this.#drop()
    }
  }

  #drop(): void {
    this.#bytes -= this.#pieces.shift()?.buffer.length ?? 0
  }
}
