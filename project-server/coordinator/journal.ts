/**
 * What happened, for people: every move of a task, a replica, a batch and a node, with its cause and whoever
 * caused it. One entry a commit, in the commit that it tells of: numbers into a table of texts, about ten bytes a move. A
 * bounded number of moves is kept; the oldest entries go first. Nothing is decided by it.
 *
 * The moves of one entry are numbered from the number in its key on, one by one, over restarts.
 */
import { Writer } from '#protocol/cbor/writer'
import type { MoveView } from '#protocol/owner/messages'
import { JOURNAL_MOVES_MAX } from './policy.ts'
import { decodeRecord, RECORD_VERSION } from './record-version.ts'

const WRITER = new Writer()

/** What moved. Numbers are stored: none is ever used again for something else. */
const KINDS: readonly MoveView['kind'][] = ['batch', 'task', 'replica', 'node']

/** Why; the place in the list is stored, so that a new one comes last. There is room for 16. */
const CAUSES = [
  // A client's.
  'submit',
  'kill',
  'hold',
  'release',
  // A node's.
  'hello',
  'gone',
  'start',
  'reports',
  'returned',
  'bye',
  // The coordinator's: placing, the quorum and what follows from replicas, a fetched output, the sweep.
  'place',
  'settle',
  'pulled',
  'sweep',
  'other',
  // The administrator's.
  'ban'
] as const
export type Cause = (typeof CAUSES)[number]

const NUMBERS = Object.fromEntries(CAUSES.map((cause, number) => [cause, number])) as Readonly<Record<Cause, number>>

export function isCause(text: string): text is Cause {
  return text in NUMBERS
}

/**
 * A move is a code (kind, cause, whether there are an actor and a detail, and the place of its state), then a batch or a node;
 * of a task its index, of a replica its attempt and its node, too; the actor and the detail if there are any; and the time
 * since the move before.
 */
const CAUSE_UNIT = 4
const ACTOR_UNIT = 64
const DETAIL_UNIT = 128
const STATE_UNIT = 256
const [BATCH, TASK, REPLICA, NODE] = [0, 1, 2, 3]
const ROWS_AT_FIRST = 1024

/** Gathers the moves of one commit. */
export class Journal {
  /** Off, moves are let pass. */
  recording = true
  /** Who acts, and why; the coordinator itself when it is null. */
  #actor: string | null = null
  #cause = NUMBERS.other
  #nowMs = 0
  #fromMs = 0
  /** Of the last move. */
  #atMs = 0
  /** Kept from entry to entry: a list that grows anew for each is copied a dozen times. */
  #rows = new Float64Array(ROWS_AT_FIRST)
  #length = 0
  #count = 0
  /** Moves of one batch come together. */
  #lastId = ''
  #lastPlace = 0
  #texts: string[] = []
  readonly #places = new Map<string, number>()
  #next = 1
  /** Number of the first move of each entry that is kept, from the oldest on. */
  #kept: number[] = []
  #oldest = 0

  /** Whatever moves from now on is this one's doing. */
  because(cause: Cause, actor: string | null, nowMs: number): void {
    this.#cause = NUMBERS[cause]
    this.#actor = actor
    this.#nowMs = nowMs
  }

  /** Of the last event. */
  get nowMs(): number {
    return this.#nowMs
  }

  batch(id: string, state: string, detail: string | null = null): void {
    if (!this.recording) return
    this.#begin(BATCH, id, state, detail)
    this.#end(detail)
  }

  task(batch: string, index: number, state: string, detail: string | null = null): void {
    if (!this.recording) return
    this.#begin(TASK, batch, state, detail)
    this.#push(index)
    this.#end(detail)
  }

  replica(batch: string, index: number, attempt: number, node: string, state: string, detail: string | null = null): void {
    if (!this.recording) return
    this.#begin(REPLICA, batch, state, detail)
    this.#push(index)
    this.#push(attempt)
    this.#push(this.#place(node))
    this.#end(detail)
  }

  node(id: string, state: string, detail: string | null = null): void {
    if (!this.recording) return
    this.#begin(NODE, id, state, detail)
    this.#end(detail)
  }

  /** After a restart: numbers of the entries on disk, in order, and the last of them. */
  loaded(kept: number[], last: Uint8Array): void {
    this.#kept = kept
    this.#next = (kept.at(-1) ?? 1) + decodeEntry(0, last).length
  }

  /** What was gathered, with the entries that are too old by now; undefined when nothing was. */
  take(): { readonly first: number; readonly value: Uint8Array; readonly gone: readonly number[] } | undefined {
    const count = this.#count
    if (count === 0) return undefined
    const first = this.#next
    WRITER.list(4).int(RECORD_VERSION).int(this.#fromMs).list(this.#texts.length)
    for (const text of this.#texts) WRITER.text(text)
    WRITER.list(this.#length)
    for (let at = 0; at < this.#length; at++) WRITER.int(this.#rows[at] as number)
    const value = WRITER.done()
    this.#length = 0
    this.#count = 0
    this.#texts = []
    this.#places.clear()
    this.#lastId = ''
    this.#next += count
    this.#kept.push(first)
    const gone: number[] = []
    // The last entry stays, however many moves it has: the numbering goes on from it.
    for (; this.#oldest < this.#kept.length - 1 && (this.#kept[this.#oldest + 1] ?? 0) <= this.#next - JOURNAL_MOVES_MAX; this.#oldest++)
      gone.push(this.#kept[this.#oldest] ?? 0)
    if (this.#oldest > this.#kept.length / 2) {
      this.#kept = this.#kept.slice(this.#oldest)
      this.#oldest = 0
    }
    return { first, value, gone }
  }

  /** The code and whose it is; the rest follows. */
  #begin(kind: number, id: string, state: string, detail: string | null): void {
    if (this.#count++ === 0) this.#fromMs = this.#atMs = this.#nowMs
    const code = kind + this.#cause * CAUSE_UNIT + (this.#actor === null ? 0 : ACTOR_UNIT) + (detail === null ? 0 : DETAIL_UNIT)
    if (id !== this.#lastId) {
      this.#lastId = id
      this.#lastPlace = this.#place(id)
    }
    this.#push(code + this.#place(state) * STATE_UNIT)
    this.#push(this.#lastPlace)
  }

  #end(detail: string | null): void {
    if (this.#actor !== null) this.#push(this.#place(this.#actor))
    if (detail !== null) this.#push(this.#place(detail))
    this.#push(this.#nowMs - this.#atMs)
    this.#atMs = this.#nowMs
  }

  #push(number: number): void {
    if (this.#length === this.#rows.length) {
      const rows = new Float64Array(2 * this.#length)
      rows.set(this.#rows)
      this.#rows = rows
    }
    this.#rows[this.#length++] = number
  }

  #place(text: string): number {
    const known = this.#places.get(text)
    if (known !== undefined) return known
    const place = this.#texts.push(text) - 1
    this.#places.set(text, place)
    return place
  }
}

export function journalKey(first: number): string {
  return `${JOURNAL_PREFIX}${String(first).padStart(16, '0')}`
}

export const JOURNAL_PREFIX = 'event/'

/** The number of an entry's first move. */
export function firstOf(key: string): number {
  return Number(key.slice(JOURNAL_PREFIX.length))
}

/** The moves of an entry. Throws when the bytes are not one that this version wrote. */
export function decodeEntry(first: number, value: Uint8Array): MoveView[] {
  const [fromMs, texts, rows] = decodeRecord<[number, string[], number[]]>('event', value)
  const moves: MoveView[] = []
  let at = 0
  let atMs = fromMs
  const next = (): number => rows[at++] ?? 0
  const text = (): string => texts[next()] ?? ''
  while (at < rows.length) {
    const code = next()
    const kind = code % CAUSE_UNIT
    const owner = text()
    const parts = [owner, ...(kind === TASK || kind === REPLICA ? [next()] : []), ...(kind === REPLICA ? [next()] : [])]
    const node = kind === REPLICA ? text() : null
    const actor = (code & ACTOR_UNIT) === 0 ? null : text()
    const detail = (code & DETAIL_UNIT) === 0 ? null : text()
    atMs += next()
    moves.push({
      number: first + moves.length,
      atMs,
      kind: KINDS[kind] ?? 'node',
      id: parts.join('.'),
      state: texts[Math.floor(code / STATE_UNIT)] ?? '',
      cause: CAUSES[Math.floor((code % ACTOR_UNIT) / CAUSE_UNIT)] ?? 'other',
      ...given({ node, actor, detail })
    })
  }
  return moves
}

function given(texts: Readonly<Record<'node' | 'actor' | 'detail', string | null>>): Pick<MoveView, 'node' | 'actor' | 'detail'> {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== null))
}
