/** [1, 2, 3] Every receipt that is on disk when all is over can be checked by whoever holds it, with nothing but itself. */

import { decodeBundleRecord } from '#project-server/coordinator/bundle-records'
import { bundleKey } from '#project-server/coordinator/keys'
import { signedReceipt } from '#project-server/coordinator/receipt-records'
import { parseTaskId } from '#protocol/ids'
import { messageOf } from '#protocol/message-of'
import { checkReceipt } from '#protocol/result/receipt'
import type { Scene } from './scene.ts'

/** What is wrong with the first that does not hold. */
export async function checkReceipts({ disk: { records }, project }: Pick<Scene, 'disk' | 'project'>): Promise<string | undefined> {
  for (const key of records.keys('receipt/')) {
    const batch = parseTaskId(key.slice('receipt/'.length))?.batch ?? ''
    const manifest = async (bundle: string): Promise<Uint8Array> => decodeBundleRecord(records.peek(bundleKey(batch, bundle)) ?? new Uint8Array(0))
    try {
      const { ok, lines } = checkReceipt(await signedReceipt(records.peek(key) ?? new Uint8Array(0), { get: (name) => records.get(name), manifest }), {
        project: project.peerId
      })
      if (!ok) return `${key}: ${lines.at(-1)}`
    } catch (error) {
      return `${key}: ${messageOf(error)}`
    }
  }
  return undefined
}
