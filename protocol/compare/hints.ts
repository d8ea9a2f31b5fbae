/** A guess why two runs of one bundle left different files, and what its owner can do about it. For people: nothing is decided by it. */
import type { FileSource } from './npz.ts'
import { HINT_BYTES_MAX } from './policy.ts'
import { wayOf } from './rules.ts'
import { compareFiles } from './trees.ts'

export interface Hint {
  /**
   * numbers: they are close. time: dates, or a packer's clock. order: the same lines in another order. place: paths or names of the
   * machine. random: drawn ids. other: nothing that is known.
   */
  readonly kind: 'numbers' | 'time' | 'order' | 'place' | 'random' | 'other'
  readonly message: string
  /** A rule under which they agree, as `parseRules` reads it. */
  readonly rule?: string
}

/** The tolerances that are tried, and that people choose from. */
const TRIED = [1e-12, 1e-9, 1e-6, 1e-4, 1e-2]

/** `path` is that of both files. Reads both whole when numbers may be the reason, else their beginnings. */
export async function hintOf(path: string, a: FileSource, b: FileSource): Promise<Hint> {
  const ending = path.includes('.') ? `*${path.slice(path.lastIndexOf('.'))}` : path
  const { format } = wayOf(path, { abs: 0, rel: 0, files: [{ files: '**', ignore: false, abs: 0, rel: 0, format: '' }] }) ?? { format: 'text' as const }
  const [x, y] = [await startOf(a), await startOf(b)]
  const packed = packerOf(x, y)
  if (packed !== undefined) return { kind: 'time', message: packed }
  const clock = isText(x) && isText(y) ? clockOf(x.toString('latin1'), y.toString('latin1')) : undefined
  if (clock !== undefined) return clock
  for (const rel of isText(x) && isText(y) ? TRIED : format === 'npy' || format === 'npz' ? TRIED : [])
    if ((await compareFiles(a, b, { format, rel, abs: rel / 1000 })) === undefined)
      return {
        kind: 'numbers',
        message: `only numbers differ, by less than ${rel} of their size: floating-point work differs between processors and with the order of threads`,
        rule: `${ending}: rel=${rel} abs=${Number((rel / 1000).toPrecision(6))}`
      }
  return isText(x) && isText(y)
    ? hintOfText(x.toString('latin1'), y.toString('latin1'))
    : { kind: 'other', message: `${firstDifference(x, y)} of binary content` }
}

/** Seconds since 1970, or milliseconds. */
const UNIX_TIME = /\b(?:1[6-9]|2[01])\d{8}(?:\d{3})?(?:\.\d+)?\b/g
const TIME = /\d{4}-\d\d-\d\d|\d{1,2}:\d\d:\d\d|(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? /
const PLACE = /(?:\/(?:tmp|home|var|root|work|in|out)\/|\.local\b|[Hh]ost(?:name)?\b|\bpid\b)/
const RANDOM = /[0-9a-f]{8}-[0-9a-f]{4}-|\b[0-9a-f]{16,}\b|0x[0-9a-f]{6,}/

/** Where they differ first, nothing but the time does: two numbers that are close, which no tolerance should let agree. */
function clockOf(a: string, b: string): Hint | undefined {
  const { x, y, where } = firstLine(a.split('\n'), b.split('\n'))
  return x !== y && x.replace(UNIX_TIME, '') === y.replace(UNIX_TIME, '') ? timeHint(where) : undefined
}

function timeHint(where: string): Hint {
  return { kind: 'time', message: `${where}: a date or time; leave it out, or take it from an input` }
}

function firstLine(left: readonly string[], right: readonly string[]): { x: string; y: string; where: string } {
  const found = left.findIndex((text, index) => text !== right[index])
  const line = found === -1 ? left.length : found
  const [x, y] = [left[line] ?? '', right[line] ?? '']
  return { x, y, where: `line ${line + 1}, ${shown(x)} and ${shown(y)}` }
}

function hintOfText(a: string, b: string): Hint {
  const [left, right] = [a.split('\n'), b.split('\n')]
  if (left.length === right.length && same([...left].sort(), [...right].sort()))
    return { kind: 'order', message: 'the same lines in another order: sort what threads, sets or folders give' }
  const { x, y, where } = firstLine(left, right)
  const both = (pattern: RegExp): boolean => pattern.test(x) && pattern.test(y)
  if (both(TIME)) return timeHint(where)
  if (both(RANDOM)) return { kind: 'random', message: `${where}: an id, hash or address that was drawn; seed it from an input` }
  if (both(PLACE)) return { kind: 'place', message: `${where}: a path or name of the machine; leave it out` }
  return { kind: 'other', message: where }
}

function packerOf(x: Buffer, y: Buffer): string | undefined {
  const gzip = (bytes: Buffer): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b
  if (gzip(x) && gzip(y) && x.length === y.length && x.subarray(8).equals(y.subarray(8))) return 'gzip wrote the time of packing: use gzip -n'
  const zip = (bytes: Buffer): boolean => bytes.length > 30 && bytes.readUInt32LE(0) === 0x04034b50
  if (zip(x) && zip(y) && !x.subarray(10, 14).equals(y.subarray(10, 14)) && x.subarray(14, 30).equals(y.subarray(14, 30)))
    return 'zip wrote the times of its files: set them, or use zip -X after touch'
  return undefined
}

async function startOf(file: FileSource): Promise<Buffer> {
  const chunks: Uint8Array[] = []
  for await (const chunk of file.read(0, Math.min(file.bytes, HINT_BYTES_MAX))) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function isText(bytes: Buffer): boolean {
  return !bytes.includes(0)
}

function firstDifference(x: Buffer, y: Buffer): string {
  let at = 0
  while (at < x.length && x[at] === y[at]) at++
  return at < x.length || at < y.length ? `byte ${at}` : `something after ${at} bytes`
}

function same(x: readonly string[], y: readonly string[]): boolean {
  return x.every((line, index) => line === y[index])
}

function shown(line: string): string {
  return JSON.stringify(line.length > 60 ? `${line.slice(0, 60)}...` : line)
}
