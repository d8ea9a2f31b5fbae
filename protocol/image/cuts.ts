/**
 * Where to cut a layer's tar into leaves, so that equal files in different images are equal blocks: contents of 16 KiB and
 * more are leaves of their own (in 1 MiB pieces, as in a data tree), headers and small files are grouped between entries.
 * A rebuilt 101 MB image with 172 changed files then needed 6 MB of new blocks, against 101 MB with fixed cuts (CONTENT lab).
 * Cuts are a hint: whatever the bytes are, they ascend, are at most 1 MiB apart and end at the size, however the stream is split.
 */
import { paddingOf, readHeader, TAR_BLOCK } from './tar.ts'

export const LEAF_BYTES_MAX = 1024 * 1024
/** Contents from this size on are not grouped with their neighbours. */
export const OWN_LEAF_BYTES_MIN = 16 * 1024
const GROUP_BYTES_MIN = 4 * 1024
const GROUP_BYTES_MAX = 64 * 1024
/** One entry in this many ends a group, chosen by its name: the same entry ends it in every version of the image. */
const GROUP_END_ONE_IN = 16

export class TarCutter {
  readonly #cuts: number[] = []
  readonly #header = new Uint8Array(TAR_BLOCK)
  #headerBytes = 0
  /** Bytes seen. */
  #offset = 0
  #last = 0
  /** Bytes until the next header; Infinity once the rest is no tar. */
  #skip = 0
  /** A cut to make when the stream comes to it. */
  #pending: number | undefined

  push(chunk: Uint8Array): void {
    let at = 0
    while (at < chunk.length) {
      if (this.#skip > 0) {
        const step = Math.min(this.#skip, chunk.length - at)
        this.#advance(step)
        this.#skip -= step
        at += step
        continue
      }
      const step = Math.min(TAR_BLOCK - this.#headerBytes, chunk.length - at)
      this.#header.set(chunk.subarray(at, at + step), this.#headerBytes)
      this.#headerBytes += step
      this.#advance(step)
      at += step
      if (this.#headerBytes === TAR_BLOCK) this.#entry()
    }
  }

  /** The cuts of all that was pushed; empty for an empty stream. */
  end(): readonly number[] {
    this.#pending = undefined
    if (this.#offset > this.#last) this.#cut(this.#offset)
    return this.#cuts
  }

  #entry(): void {
    this.#headerBytes = 0
    const header = readHeader(this.#header)
    if (header === undefined || header === 'end') {
      this.#skip = Number.POSITIVE_INFINITY
      return
    }
    const data = this.#offset
    this.#skip = header.size + paddingOf(header.size)
    if (header.kind === 'pax' || header.kind === 'pax_global' || header.kind === 'gnu_name' || header.kind === 'gnu_link') return
    if (header.size >= OWN_LEAF_BYTES_MIN) {
      this.#cut(data)
      this.#pending = data + header.size
      return
    }
    const end = data + this.#skip
    const grouped = end - this.#last
    if (grouped < GROUP_BYTES_MAX && (grouped < GROUP_BYTES_MIN || hashOf(header.name) % GROUP_END_ONE_IN !== 0)) return
    if (this.#skip === 0) this.#cut(end)
    else this.#pending = end
  }

  #advance(bytes: number): void {
    const to = this.#offset + bytes
    const pending = this.#pending
    if (pending !== undefined && pending <= to) {
      this.#fill(pending)
      this.#cut(pending)
      this.#pending = undefined
    }
    this.#fill(to)
    this.#offset = to
  }

  #fill(to: number): void {
    while (to - this.#last > LEAF_BYTES_MAX) this.#cut(this.#last + LEAF_BYTES_MAX)
  }

  #cut(at: number): void {
    if (at <= this.#last) return
    this.#cuts.push(at)
    this.#last = at
  }
}

/** FNV-1a. */
function hashOf(name: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < name.length; index++) hash = Math.imul(hash ^ name.charCodeAt(index), 0x01000193)
  return hash >>> 0
}
