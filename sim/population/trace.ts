/**
 * Recorded hosts: when each was up and down, from a CSV such as the Failure Trace Archive's event tables. Columns `node`,
 * `state` (1 up, 0 down), `start_s`, `end_s`, others are skipped; rows of one host in the order of time. What no row covers
 * counts as down. The times begin with the earliest row. A file whose name ends with .gz is unpacked.
 */
import { createReadStream } from 'node:fs'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { createGunzip } from 'node:zlib'

export const TRACE_ROWS_MAX = 20_000_000
export const TRACE_HOSTS_MAX = 2_000_000
const LINE_CHARS_MAX = 1024

export type TraceErrorCode = 'header' | 'row' | 'order' | 'too_large' | 'empty'

/** The message says the line and what belongs there. */
export class TraceError extends Error {
  override readonly name = 'TraceError'
  readonly code: TraceErrorCode
  /** Counted from 1. */
  readonly line: number

  constructor(code: TraceErrorCode, line: number, message: string) {
    super(`line ${line}: ${message}`)
    this.code = code
    this.line = line
  }
}

const COLUMNS = ['node', 'state', 'start_s', 'end_s'] as const
const WHOLE = /^-?\d{1,12}(?:\.\d{1,9})?$/

/** Up intervals by host, in numbers alone. */
export class Trace {
  /** Names as the file has them, in the order they came. */
  readonly names: readonly string[]
  /** How long the whole trace is. */
  readonly lengthMs: number
  readonly #bounds: readonly Float64Array[]

  constructor(names: readonly string[], bounds: readonly Float64Array[], lengthMs: number) {
    this.names = names
    this.#bounds = bounds
    this.lengthMs = lengthMs
  }

  /** Whether the host is up at a moment, and until when; after its last row it is down for good (Infinity). */
  at(host: number, nowMs: number): { readonly up: boolean; readonly untilMs: number } {
    const bounds = this.#bounds[host]
    if (bounds === undefined) throw new RangeError(`the trace has ${this.names.length} hosts, there is no host ${host}`)
    // Ups and downs alternate: the first bound after now tells.
    let low = 0
    let high = bounds.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((bounds[middle] as number) <= nowMs) low = middle + 1
      else high = middle
    }
    return { up: low % 2 === 1, untilMs: bounds[low] ?? Number.POSITIVE_INFINITY }
  }
}

/** Reads a trace file. Throws TraceError for what is in it, and the system's error for a file that cannot be read. */
export async function readTrace(path: string): Promise<Trace> {
  const lines = createInterface({ input: openTrace(path), crlfDelay: Number.POSITIVE_INFINITY })
  try {
    const reader = new TraceReader()
    for await (const line of lines) reader.line(line)
    return reader.done()
  } finally {
    lines.close()
  }
}

function openTrace(path: string): Readable {
  const file = createReadStream(path)
  if (!path.endsWith('.gz')) return file
  const unpacked = createGunzip()
  file.on('error', (error) => unpacked.destroy(error))
  return file.pipe(unpacked)
}

export function parseTrace(text: string): Trace {
  const reader = new TraceReader()
  for (const line of text.split(/\r?\n/)) reader.line(line)
  return reader.done()
}

class TraceReader {
  #line = 0
  #rows = 0
  #columns: readonly number[] | undefined
  readonly #hosts = new Map<string, number[]>()
  #firstS = Number.POSITIVE_INFINITY
  #lastS = Number.NEGATIVE_INFINITY
  /** End of the last row of each host, up or down. */
  readonly #ends = new Map<string, number>()

  line(text: string): void {
    this.#line++
    if (text.length > LINE_CHARS_MAX) this.#refuse('too_large', `it has ${text.length} characters, at most ${LINE_CHARS_MAX} are read`)
    if (text.trim() === '') return
    const cells = text.split(',').map((cell) => cell.trim())
    if (this.#columns === undefined) this.#columns = this.#header(cells)
    else this.#row(cells, this.#columns)
  }

  done(): Trace {
    if (this.#rows === 0) this.#refuse('empty', `no rows; after the header ${COLUMNS.join(',')} one row an interval is expected`)
    const bounds = [...this.#hosts.values()].map((seconds) => Float64Array.from(seconds, (s) => (s - this.#firstS) * 1000))
    return new Trace([...this.#hosts.keys()], bounds, (this.#lastS - this.#firstS) * 1000)
  }

  #header(cells: readonly string[]): readonly number[] {
    const missing = COLUMNS.filter((name) => !cells.includes(name))
    if (missing.length > 0) this.#refuse('header', `the header lacks ${missing.join(', ')}; it names the columns, such as ${COLUMNS.join(',')}`)
    return COLUMNS.map((name) => cells.indexOf(name))
  }

  #row(cells: readonly string[], columns: readonly number[]): void {
    if (++this.#rows > TRACE_ROWS_MAX) this.#refuse('too_large', `more than ${TRACE_ROWS_MAX} rows`)
    const [name = '', state = '', start = '', end = ''] = columns.map((at) => cells[at] ?? '')
    if (name === '') this.#refuse('row', 'the node is empty')
    if (state !== '0' && state !== '1') this.#refuse('row', `the state is ${JSON.stringify(state)}; 1 is up, 0 is down`)
    if (!WHOLE.test(start) || !WHOLE.test(end)) this.#refuse('row', `start_s and end_s are seconds, got ${JSON.stringify(start)} and ${JSON.stringify(end)}`)
    const [startS, endS] = [Number(start), Number(end)]
    if (endS < startS) this.#refuse('row', `it ends at ${end}, before it starts at ${start}`)
    const last = this.#ends.get(name)
    if (last !== undefined && startS < last) this.#refuse('order', `host ${name} starts at ${start}, its row before ends at ${last}`)
    this.#ends.set(name, endS)
    this.#firstS = Math.min(this.#firstS, startS)
    this.#lastS = Math.max(this.#lastS, endS)
    const bounds = this.#boundsOf(name)
    if (state === '0' || endS === startS) return
    // Two rows up without a gap are one interval.
    if (bounds.at(-1) === startS) bounds[bounds.length - 1] = endS
    else bounds.push(startS, endS)
  }

  #boundsOf(name: string): number[] {
    let bounds = this.#hosts.get(name)
    if (bounds === undefined) {
      if (this.#hosts.size >= TRACE_HOSTS_MAX) this.#refuse('too_large', `more than ${TRACE_HOSTS_MAX} hosts`)
      bounds = []
      this.#hosts.set(name, bounds)
    }
    return bounds
  }

  #refuse(code: TraceErrorCode, message: string): never {
    throw new TraceError(code, Math.max(1, this.#line), message)
  }
}
