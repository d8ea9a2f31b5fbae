/**
 * Cuts a stream of bytes into parts (S17). The parts in order are the input; with lines, a part ends only after a newline
 * (or at the end). Works a piece at a time: memory does not grow with the input.
 */
import { ClientError } from '../errors.ts'

export type Split = { readonly kind: 'lines'; readonly lines: number } | { readonly kind: 'parts'; readonly parts: number }

/** Tasks of one map. */
export const PARTS_MAX = 65_536
const NEWLINE = 10

/** `lines=N` or `parts=N`. Throws ClientError `usage`. */
export function parseSplit(text: string): Split {
  const match = /^(lines|parts)=([1-9]\d{0,11})$/.exec(text)
  const count = Number(match?.[2])
  if (match === null || !Number.isSafeInteger(count)) throw new ClientError('usage', `--split is lines=N or parts=N, not ${JSON.stringify(text)}`)
  if (match[1] === 'lines') return { kind: 'lines', lines: count }
  if (count > PARTS_MAX) throw new ClientError('usage', `at most ${PARTS_MAX} parts, not ${count}`)
  return { kind: 'parts', parts: count }
}

/** Says where parts end while the input passes: offsets from its start, ascending; the end of the input is not among them. */
export interface Cutter {
  push(piece: Uint8Array): number[]
}

/** A cut after every `lines` newlines, or after the first newline at or past each of `parts` equal shares of `bytes`. */
export function cutter(split: Split, bytes: number): Cutter {
  return split.kind === 'lines' ? lineCutter(split.lines) : partCutter(split.parts, bytes)
}

function lineCutter(lines: number): Cutter {
  let offset = 0
  let inPart = 0
  return {
    push(piece) {
      const cuts: number[] = []
      for (let at = piece.indexOf(NEWLINE); at >= 0; at = piece.indexOf(NEWLINE, at + 1)) {
        inPart++
        if (inPart === lines) {
          cuts.push(offset + at + 1)
          inPart = 0
        }
      }
      offset += piece.length
      return cuts
    }
  }
}

function partCutter(parts: number, bytes: number): Cutter {
  let offset = 0
  let share = 1
  const target = (): number => (share < parts ? Math.ceil((bytes * share) / parts) : Number.POSITIVE_INFINITY)
  return {
    push(piece) {
      const cuts: number[] = []
      const end = offset + piece.length
      // The newline that ends a share may be its last byte, so the search begins one before the target.
      for (let goal = target(); goal <= end; goal = target()) {
        const at = piece.indexOf(NEWLINE, Math.max(0, goal - 1 - offset))
        if (at < 0) break
        const cut = offset + at + 1
        cuts.push(cut)
        while (target() <= cut) share++
      }
      offset = end
      return cuts
    }
  }
}

/** Parts in one folder of the tree of parts: a directory stays one small block. */
const PARTS_IN_FOLDER = 1000

/** Path of a part below the root of the tree of parts. How many there will be is not known yet, so the width is that of the most. */
export function partPath(index: number): string {
  return `${String(Math.floor(index / PARTS_IN_FOLDER)).padStart(3, '0')}/${String(index).padStart(6, '0')}`
}
