/** Receipts as they come: from a file, or from the project by a task's id. */

import { decodeManifest } from '#protocol/bundle/manifest'
import {
  checkReceipt,
  decodeReceipt,
  decodeSignedReceipt,
  RECEIPT_BYTES_MAX,
  type Receipt,
  type ReceiptCheck,
  type SignedReceipt
} from '#protocol/result/receipt'
import type { Context } from '../command.ts'
import { ClientError } from '../errors.ts'
import { formatCommand, printable } from '../output/text.ts'

/** The receipt in a file when there is such a file, else that of a task. */
export async function findReceipt(context: Context, of: string): Promise<SignedReceipt> {
  const fromFile = await readReceiptFile(of)
  return fromFile ?? (await context.client()).receipt(of, { signal: context.signal })
}

async function readReceiptFile(path: string): Promise<SignedReceipt | undefined> {
  const { readFile, stat } = await import('node:fs/promises')
  const info = await stat(path).catch(() => undefined)
  if (info === undefined) {
    if (/[/]|\.receipt$/.test(path)) throw new ClientError('not_found', `there is no file ${path}`)
    return undefined
  }
  const receipt = info.isFile() && info.size <= RECEIPT_BYTES_MAX * 2 ? decodeSignedReceipt(await readFile(path)) : undefined
  if (receipt === undefined) throw new ClientError('refused', `${path} is not a receipt; \`talko receipt save TASK\` writes one`)
  return receipt
}

/** Throws ClientError `refused` when it cannot be read at all. */
export function readReceipt(signed: SignedReceipt): Receipt {
  const receipt = decodeReceipt(signed.body)
  if (receipt === undefined) throw new ClientError('refused', 'the receipt is not of a version that this talko reads')
  return receipt
}

export function receiptLines(receipt: Receipt, { manifest }: SignedReceipt): string[] {
  const { command, image } = decodeManifest(manifest)
  return [
    `task       ${printable(receipt.task)}`,
    `project    ${printable(receipt.project)}`,
    `command    ${printable(formatCommand(command))}`,
    `image      ${image === null ? '(bare machine)' : image.toString()}`,
    `decided    ${new Date(receipt.decidedAtMs).toISOString()}, epoch ${receipt.epoch}`,
    `agreed on  ${printable(receipt.vote)}, quorum ${receipt.quorum}`
  ]
}

/** As JSON shows it: no raw bytes. */
export function receiptJson(receipt: Receipt, { manifest }: SignedReceipt, check: ReceiptCheck): object {
  const { bundle, results, ...rest } = receipt
  return {
    ok: check.ok,
    checks: check.lines,
    ...rest,
    bundle: bundle.toString(),
    command: decodeManifest(manifest).command,
    results: (check.results ?? []).map((result) => ({
      ...result,
      bundle: result.bundle.toString(),
      output: result.output.toString(),
      stdout: result.stdout.toString(),
      stderr: result.stderr.toString()
    })),
    signatures: results.length
  }
}

export { checkReceipt }
