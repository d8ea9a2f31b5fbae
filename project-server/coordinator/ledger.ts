/**
 * The project's ledger of credit as it is written: entries are gathered, and go as signed pages into the commit in which they
 * were made. What owners have is kept beside it; what a node has is in its own record.
 *
 * | key | value |
 * | --- | --- |
 * | `credit/<number, 16 digits>` | a page of the ledger and the project's signature: protocol/credit/ledger.ts |
 * | `earned/<peer>` | what the nodes of this owner earned, while they were its own |
 */
import { amountOf, type CreditKind, type CreditRow, hashOf, PAGE_ENTRIES_MAX, PageBuilder, type SignedPage, signPage } from '#protocol/credit/ledger'
import type { PeerIdString } from '#protocol/ids'
import type { Signer } from '#protocol/signing/keys'
import type { Change } from '../ports.ts'
import { decodeRecord, encodeRecord, RECORD_VERSION } from './record-version.ts'
import { WRITER } from './record-writer.ts'

export const CREDIT_PREFIX = 'credit/'
export const EARNED_PREFIX = 'earned/'

export interface LedgerOptions {
  readonly project: PeerIdString
  readonly epoch: number
  readonly signer: Pick<Signer, 'sign'>
}

export class Ledger {
  /** Number of the page that what is granted now will be in. */
  page = 1
  readonly owners = new Map<PeerIdString, number>()
  /** Off, what is granted is added up and not written. */
  recording = true
  readonly #options: LedgerOptions
  #previous: Uint8Array = new Uint8Array(0)
  /** Of the last page; a page that is full before its commit says the time of the one before. */
  #nowMs = 0
  readonly #builder = new PageBuilder()
  #taken: Change[] = []
  readonly #changed = new Set<PeerIdString>()

  constructor(options: LedgerOptions) {
    this.#options = options
  }

  add(kind: CreditKind, row: CreditRow): void {
    if (this.recording) {
      if (this.#builder.count >= PAGE_ENTRIES_MAX) this.#close()
      this.#builder.add(kind, row)
    }
    const { owner } = row
    if (owner === null) return
    this.owners.set(owner, (this.owners.get(owner) ?? 0) + amountOf(kind, row))
    this.#changed.add(owner)
  }

  /** After a restart: the last page. */
  loaded(number: number, { body }: SignedPage): void {
    this.page = number + 1
    this.#previous = hashOf(body)
  }

  /** What was granted since the last call, to be written. */
  take(nowMs: number): Change[] {
    this.#nowMs = nowMs
    if (this.#builder.count > 0) this.#close()
    if (this.#changed.size > 0) {
      for (const owner of this.#changed) this.#taken.push({ key: `${EARNED_PREFIX}${owner}`, value: encodeRecord([this.owners.get(owner) ?? 0]) })
      this.#changed.clear()
    }
    const changes = this.#taken
    if (changes.length > 0) this.#taken = []
    return changes
  }

  #close(): void {
    const { project, epoch, signer } = this.#options
    const number = this.page++
    const body = this.#builder.done({ project, epoch, number, previous: this.#previous, atMs: this.#nowMs })
    this.#taken.push({ key: creditKey(number), value: encodeSignedPage(signPage(signer, body)) })
    this.#previous = hashOf(body)
  }
}

export function creditKey(number: number): string {
  return `${CREDIT_PREFIX}${String(number).padStart(16, '0')}`
}

function encodeSignedPage({ body, signature }: SignedPage): Uint8Array {
  return WRITER.list(3).int(RECORD_VERSION).bytes(body).bytes(signature).done()
}

export function decodeSignedPage(value: Uint8Array): SignedPage {
  const [body, signature] = decodeRecord<[Uint8Array, Uint8Array]>('credit', value)
  return { body, signature }
}

export function decodeEarned(value: Uint8Array): number {
  return decodeRecord<[number]>('earned', value)[0]
}
