/**
 * The ledger of credit: what nodes earned by work that others confirmed, as pages that the project signed. Whoever has them can
 * add up, offline and years later, what every node and owner has, and see that nothing was changed, left out or added: a page
 * names the hash of the one before it. What was granted wrongly is taken back by an entry of its own.
 *
 * Credit is counted in thousandths: 1,000 are one second of one processor.
 */
import { readCbor } from '../cbor/reader.ts'
import { Writer } from '../cbor/writer.ts'
import { sha256 } from '../content/cid.ts'
import { type PeerIdString, type TaskId, taskId } from '../ids.ts'
import { type Signer, verify } from '../signing/keys.ts'

export const CREDIT_DOMAIN = 'talko-credit-1'
/** Entries of one page, and bytes of it: 16,384 entries of different nodes and batches are 2 MB. */
export const PAGE_ENTRIES_MAX = 16_384
export const PAGE_BYTES_MAX = 4 * 1024 * 1024
const HASH_BYTES = 32
const ENTRY_NUMBERS = 8
const WRITER = new Writer()

/**
 * - `earned`: its result is one of those that decided the task, or agrees with what was decided.
 * - `late`: it came when the task was decided, and agrees.
 * - `taken_back`: it had decided alone, and others found it wrong. The amounts are those that it earned by it.
 */
export type CreditKind = 'earned' | 'late' | 'taken_back'

/** The place in the list is stored: a new one comes last. */
const KINDS: readonly CreditKind[] = ['earned', 'late', 'taken_back']

export interface CreditEntry {
  readonly kind: CreditKind
  readonly task: TaskId
  readonly attempt: number
  readonly node: PeerIdString
  /** Whose node it was then; null for nobody's. */
  readonly owner: PeerIdString | null
  /** In thousandths, as the next. */
  readonly base: number
  /** For an early return. */
  readonly bonus: number
}

export interface CreditPage {
  readonly project: PeerIdString
  readonly epoch: number
  /** From 1 on, without a gap. */
  readonly number: number
  /** SHA-256 of the page before it; nothing for the first. */
  readonly previous: Uint8Array
  readonly atMs: number
  readonly entries: readonly CreditEntry[]
}

/** As it is stored and handed out. */
export interface SignedPage {
  readonly body: Uint8Array
  readonly signature: Uint8Array
}

/** What an entry adds to its node's credit. */
export function amountOf(kind: CreditKind, { base, bonus }: Pick<CreditEntry, 'base' | 'bonus'>): number {
  return kind === 'taken_back' ? -(base + bonus) : base + bonus
}

/** Gathers entries: numbers into a table of texts, about 20 bytes each. */
export class PageBuilder {
  count = 0
  #texts: string[] = []
  readonly #places = new Map<string, number>()
  #numbers: number[] = []
  /** Entries of one batch come together. */
  #lastBatch = ''
  #lastPlace = 0

  add(kind: CreditKind, { batch, index, attempt, node, owner, base, bonus }: CreditRow): void {
    if (batch !== this.#lastBatch) {
      this.#lastBatch = batch
      this.#lastPlace = this.#place(batch)
    }
    const whose = owner === null ? 0 : this.#place(owner) + 1
    this.#numbers.push(KINDS.indexOf(kind), this.#lastPlace, index, attempt, this.#place(node), whose, base, bonus)
    this.count++
  }

  /** The page; the builder is empty again. */
  done({ project, epoch, number, previous, atMs }: Omit<CreditPage, 'entries'>): Uint8Array {
    WRITER.list(8).int(1).text(project).int(epoch).int(number).bytes(previous).int(atMs).list(this.#texts.length)
    for (const text of this.#texts) WRITER.text(text)
    WRITER.list(this.#numbers.length)
    for (const one of this.#numbers) WRITER.int(one)
    this.count = 0
    this.#texts = []
    this.#places.clear()
    this.#numbers = []
    this.#lastBatch = ''
    return WRITER.done()
  }

  #place(text: string): number {
    const known = this.#places.get(text)
    if (known !== undefined) return known
    const next = this.#texts.push(text) - 1
    this.#places.set(text, next)
    return next
  }
}

export interface CreditRow extends Omit<CreditEntry, 'kind' | 'task'> {
  readonly batch: string
  readonly index: number
}

/** Decodes hostile bytes; undefined for anything that is not a page. */
export function decodePage(bytes: Uint8Array): CreditPage | undefined {
  if (bytes.length > PAGE_BYTES_MAX) return undefined
  let value: unknown
  try {
    value = readCbor(bytes)
  } catch {
    return undefined
  }
  if (!Array.isArray(value) || value.length !== 8) return undefined
  const [v, project, epoch, number, previous, atMs, texts, numbers] = value as unknown[]
  if (v !== 1 || typeof project !== 'string' || !isCount(epoch) || !isCount(number) || !isCount(atMs)) return undefined
  if (!(previous instanceof Uint8Array) || (previous.length !== 0 && previous.length !== HASH_BYTES)) return undefined
  if (!Array.isArray(texts) || !Array.isArray(numbers) || numbers.length > PAGE_ENTRIES_MAX * ENTRY_NUMBERS) return undefined
  if (numbers.length % ENTRY_NUMBERS !== 0 || !texts.every((text) => typeof text === 'string') || !numbers.every(isCount)) return undefined
  const entries: CreditEntry[] = []
  for (let at = 0; at < numbers.length; at += ENTRY_NUMBERS) {
    const [code = 0, batch = 0, index = 0, attempt = 0, node = 0, owner = 0, base = 0, bonus = 0] = (numbers as number[]).slice(at, at + ENTRY_NUMBERS)
    const kind = KINDS[code]
    const named = [texts[batch], texts[node], owner === 0 ? null : texts[owner - 1]] as readonly (string | null | undefined)[]
    const [of, by, whose] = named
    if (kind === undefined || typeof of !== 'string' || typeof by !== 'string' || whose === undefined) return undefined
    entries.push({ kind, task: taskId(of, index), attempt, node: by, owner: whose, base, bonus })
  }
  return { project, epoch, number, previous, atMs, entries }
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

export function signPage(signer: Pick<Signer, 'sign'>, body: Uint8Array): SignedPage {
  return { body, signature: signer.sign(CREDIT_DOMAIN, body) }
}

/** By which the next page names it. */
export function hashOf(body: Uint8Array): Uint8Array {
  return sha256(body)
}

export interface CreditTotal {
  /** In thousandths. */
  credit: number
  /** Of it, for early returns. */
  bonus: number
  /** Results that it was given for and that still count. */
  results: number
}

/** What a ledger comes to. `fault`: why it is not to be believed, and the first page that shows it. */
export interface Replay {
  readonly fault?: string
  readonly project: PeerIdString
  readonly pages: number
  readonly entries: number
  readonly nodes: ReadonlyMap<PeerIdString, CreditTotal>
  readonly owners: ReadonlyMap<PeerIdString, CreditTotal>
}

/** Adds pages up, one after the other, and finds what is wrong with them. */
export class LedgerReplay {
  readonly #nodes = new Map<PeerIdString, CreditTotal>()
  readonly #owners = new Map<PeerIdString, CreditTotal>()
  /** What each result earned, as long as it was not taken back. */
  readonly #earned = new Map<string, CreditEntry | null>()
  #project: PeerIdString
  #previous: Uint8Array = new Uint8Array(0)
  #pages = 0
  #entries = 0

  /** `project`: whose ledger it must be; '' for the one that the first page names. */
  constructor(project: PeerIdString = '') {
    this.#project = project
  }

  /** The next page. Undefined when it fits; else what is wrong with it: then nothing of it was added. */
  add({ body, signature }: SignedPage): string | undefined {
    const page = decodePage(body)
    const at = `page ${this.#pages + 1}`
    if (page === undefined) return `${at} is not a page of version 1`
    if (this.#project === '') this.#project = page.project
    if (page.project !== this.#project) return `${at} is of project ${page.project}, expected ${this.#project}`
    if (page.number !== this.#pages + 1) return `${at} is missing: page ${page.number} follows`
    if (!verify(page.project, CREDIT_DOMAIN, body, signature)) return `the signature of project ${page.project} under ${at} does not match`
    if (Buffer.compare(page.previous, this.#previous) !== 0) return `${at} does not follow the page before it: one of the two was exchanged`
    const fault = this.#count(page.entries)
    if (fault !== undefined) return `${at}: ${fault}`
    this.#previous = hashOf(body)
    this.#pages++
    this.#entries += page.entries.length
    return undefined
  }

  get sums(): Replay {
    return { project: this.#project, pages: this.#pages, entries: this.#entries, nodes: this.#nodes, owners: this.#owners }
  }

  #count(entries: readonly CreditEntry[]): string | undefined {
    for (const entry of entries) {
      const { kind, task, node, owner, base, bonus } = entry
      const key = `${task} ${node}`
      const before = this.#earned.get(key)
      if (kind !== 'taken_back') {
        if (before !== undefined) return `node ${node} is paid twice for task ${task}`
        this.#earned.set(key, entry)
      } else {
        if (before === undefined || before === null) return `what is taken back from node ${node} for task ${task} was never given`
        if (before.base !== base || before.bonus !== bonus || before.owner !== owner)
          return `node ${node} loses something else for task ${task} than it was given`
        this.#earned.set(key, null)
      }
      addTo(this.#nodes, node, entry)
      if (owner !== null) addTo(this.#owners, owner, entry)
    }
    return undefined
  }
}

function addTo(totals: Map<PeerIdString, CreditTotal>, id: PeerIdString, entry: CreditEntry): void {
  const total = totals.get(id) ?? { credit: 0, bonus: 0, results: 0 }
  const sign = entry.kind === 'taken_back' ? -1 : 1
  total.credit += amountOf(entry.kind, entry)
  total.bonus += sign * entry.bonus
  total.results += sign
  totals.set(id, total)
}
