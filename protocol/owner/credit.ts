/** What is answered of credit: who has most, and pages of the ledger (protocol/credit). */
import type { PeerIdString } from '../ids.ts'

/** `credit` of 'nodes' or 'owners': those that have most, at most QUERY_ROWS_MAX. In thousandths of a processor's second. */
export interface CreditRow {
  readonly id: PeerIdString
  readonly credit: number
  /** With nodes: its name, whose it is now, what became of its results, and the share of them that are wrong (BOINC's estimate). */
  readonly name?: string
  readonly owner?: PeerIdString
  readonly valid?: number
  readonly invalid?: number
  readonly errorRate?: number
  /** With owners: its nodes that the project knows. */
  readonly nodes?: number
}

/** `ledger`, from the page after `after` on, of the administrator alone: entries name everybody's tasks. */
export type LedgerPart = readonly (readonly [body: Uint8Array, signature: Uint8Array])[]

/** Bytes of pages in one answer, beyond its first page. */
export const LEDGER_PART_BYTES_MAX = 2 * 1024 * 1024
