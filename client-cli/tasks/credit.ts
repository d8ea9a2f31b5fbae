/** Credit as it is shown, and a ledger as it lies in a file: a line of JSON for each page, its bytes in base64. */
import { type CreditTotal, PAGE_BYTES_MAX, type SignedPage } from '#protocol/credit/ledger'
import type { CreditRow } from '#protocol/owner/credit'
import { ClientError } from '../errors.ts'
import { formatTable } from '../output/text.ts'

/** A line holds a page in base64 and little else. */
const LINE_CHARS_MAX = 2 * PAGE_BYTES_MAX

export interface TotalRow extends CreditTotal {
  readonly id: string
}

export function creditTable(rows: readonly CreditRow[]): string[] {
  return formatTable(
    ['NODE', 'CREDIT', 'VALID', 'INVALID', 'ERROR RATE', 'OWNER', 'ID'],
    rows.map(({ id, name = '', credit, valid = 0, invalid = 0, errorRate = 0, owner }) => [
      name,
      amountText(credit),
      String(valid),
      String(invalid),
      `${(errorRate * 100).toFixed(1)}%`,
      owner === undefined ? '-' : owner.slice(-8),
      id
    ])
  )
}

export function ownerCreditTable(rows: readonly CreditRow[]): string[] {
  return formatTable(
    ['OWNER', 'CREDIT', 'NODES'],
    rows.map(({ id, credit, nodes = 0 }) => [id, amountText(credit), String(nodes)])
  )
}

/** Those with most first. */
export function totalRows(totals: ReadonlyMap<string, CreditTotal>): TotalRow[] {
  return [...totals].map(([id, total]) => ({ id, ...total })).sort((a, b) => b.credit - a.credit || (a.id < b.id ? -1 : 1))
}

export function totalTable(title: string, rows: readonly TotalRow[]): string[] {
  return formatTable(
    [title, 'CREDIT', 'OF IT BONUS', 'RESULTS'],
    rows.map(({ id, credit, bonus, results }) => [id, amountText(credit), amountText(bonus), String(results)])
  )
}

/** Thousandths as what they are parts of. */
export function amountText(thousandths: number): string {
  return (thousandths / 1000).toFixed(3)
}

export function ledgerLine({ body, signature }: SignedPage): string {
  return `${JSON.stringify({ body: Buffer.from(body).toString('base64'), signature: Buffer.from(signature).toString('base64') })}\n`
}

/** The pages of a file. Throws ClientError `not_found`, `refused`. */
export async function* ledgerIn(path: string): AsyncGenerator<SignedPage, void, undefined> {
  const { open } = await import('node:fs/promises')
  const file = await open(path).catch(() => undefined)
  if (file === undefined) throw new ClientError('not_found', `there is no file ${path}`)
  try {
    let number = 0
    for await (const line of file.readLines({ autoClose: false })) {
      number++
      const page = line.length > LINE_CHARS_MAX ? undefined : pageOf(line)
      if (page === undefined) throw new ClientError('refused', `line ${number} of ${path} is no page of a ledger; \`talko credit save FILE\` writes one`)
      yield page
    }
  } finally {
    await file.close()
  }
}

function pageOf(line: string): SignedPage | undefined {
  try {
    const { body, signature }: Readonly<Record<string, unknown>> = JSON.parse(line)
    if (typeof body !== 'string' || typeof signature !== 'string') return undefined
    return { body: new Uint8Array(Buffer.from(body, 'base64')), signature: new Uint8Array(Buffer.from(signature, 'base64')) }
  } catch {
    return undefined
  }
}
