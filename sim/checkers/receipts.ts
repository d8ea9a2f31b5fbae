/** [1, 2, 3] Every receipt that is on disk when all is over can be checked by whoever holds it, with nothing but itself. */

import { decodeReceiptPage, decodeStoredReceipt, RECEIPTS_PREFIX, signedReceipt } from '#project-server/coordinator/receipt-records'
import { messageOf } from '#protocol/message-of'
import { checkReceipt, decodeReceipt, type Receipt } from '#protocol/result/receipt'
import { peekBundle } from '../stored-tasks.ts'
import type { Scene } from './scene.ts'

type Records = Scene['disk']['records']

/** What is wrong with the first that does not hold. */
export async function checkReceipts({ disk: { records }, project }: Pick<Scene, 'disk' | 'project'>): Promise<string | undefined> {
  for (const stored of storedReceipts(records)) {
    const { task } = receiptOf(stored)
    const manifest = async (bundle: string): Promise<Uint8Array> => peekBundle(records, task, bundle).bytes
    try {
      const { ok, lines } = checkReceipt(await signedReceipt(stored, { get: (name) => records.get(name), manifest }), { project: project.peerId })
      if (!ok) return `the receipt of ${task}: ${lines.at(-1)}`
    } catch (error) {
      return `the receipt of ${task}: ${messageOf(error)}`
    }
  }
  return undefined
}

/** How many there are. */
export function countReceipts(records: Records): number {
  return [...storedReceipts(records)].length
}

/** Throws when it is damaged. */
export function receiptOf(stored: Uint8Array): Receipt {
  const receipt = decodeReceipt(decodeStoredReceipt(stored).body)
  if (receipt === undefined) throw new Error('a stored receipt does not decode')
  return receipt
}

function* storedReceipts(records: Records): Iterable<Uint8Array> {
  for (const key of records.keys(RECEIPTS_PREFIX)) yield* decodeReceiptPage(records.peek(key) ?? new Uint8Array(0))
}
