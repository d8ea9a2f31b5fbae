/**
 * The line in which a running task may say how far it is (O08): `.progress` in its output folder, `37 %`, `37/100`, `37 of 100`
 * or `0.37`, and a word or two after that. A whole number alone is not believed: `1` could be a percent or all of it.
 */
import { DONE_PPM_MAX, PROGRESS_NOTE_CHARS_MAX } from '#protocol/control/messages'

export const PROGRESS_FILE = '.progress'
/** So much of the file is looked at. */
export const PROGRESS_BYTES_MAX = 128

export interface Figure {
  /** Millionths of the whole. */
  readonly donePpm: number
  /** What stands after it; '' for nothing. */
  readonly note: string
}

const NUMBER = String.raw`(\d{1,15}(?:\.\d{1,15})?)`
const LINE = new RegExp(String.raw`^${NUMBER}[ \t]*(?:(%)|(?:/|of )[ \t]*${NUMBER})?(?:[ \t]+([^ \t%/].*))?$`)

/** undefined when it says nothing of that kind, or more than all of it. */
export function figureOf(bytes: Uint8Array): Figure | undefined {
  const text = new TextDecoder().decode(bytes.subarray(0, PROGRESS_BYTES_MAX))
  const line = text.split(/[\r\n]/, 1)[0] ?? ''
  const [, first = '', percent, whole, note = ''] = LINE.exec(line.trim()) ?? []
  if (percent === undefined && whole === undefined && !first.includes('.')) return undefined
  const done = Number(first) / (percent === undefined ? Number(whole ?? '1') : 100)
  return done >= 0 && done <= 1 ? { donePpm: Math.round(done * DONE_PPM_MAX), note: noteOf(note) } : undefined
}

/** What a terminal could take for a command is a blank. */
function noteOf(text: string): string {
  return text
    .slice(0, PROGRESS_NOTE_CHARS_MAX)
    .replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu, ' ')
    .trim()
}
