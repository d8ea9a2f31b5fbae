/** What the store and the thread of aside.ts say to each other. Imports nothing, so that the thread starts quickly. */

/** What the thread is told; the answer carries the same number. A few large values instead of many small ones: each costs microseconds to hand over. */
export interface Order {
  readonly number: number
  /** Of new files. */
  readonly mode: number
  readonly resume: boolean
  /** Where all the bytes stand. */
  readonly frame: Uint8Array<ArrayBuffer>
  /** For each write: where its bytes begin in `frame` and how many they are; descriptor (-1: a new file) and offset in its file. */
  readonly spans: Float64Array<ArrayBuffer>
  /** Of all writes, joined. */
  readonly ids: string
  /** Of all writes, with NUL between them, which no path contains. */
  readonly paths: string
}

export const SPAN_FIELDS = 4
export const ID_CHARACTERS = 32
/** Of each write in an answer: 1 when it was right and is written, then size, time and inode of a new file. */
export const MARK_FIELDS = 4

export type Answer =
  | { readonly kind: 'written'; readonly number: number; readonly marks: Float64Array<ArrayBuffer> }
  | {
      readonly kind: 'failed'
      readonly number: number
      readonly index: number
      readonly code: string | undefined
      readonly syscall: string | undefined
      readonly message: string
    }
