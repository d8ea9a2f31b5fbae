import type { Progress, TransferOptions } from '../client/client.ts'
import type { Io } from '../output/io.ts'
import { renderTransfer } from '../output/progress.ts'

const WORDS = { reading: 'reading', sending: 'sending', fetching: 'fetching', writing: 'writing' } as const

/** Shows the steps of a transfer as they go. */
export function showTransfer(io: Io, what = ''): NonNullable<TransferOptions['onProgress']> {
  return (step: keyof typeof WORDS, { bytes, totalBytes }: Progress) => {
    io.progress(`${WORDS[step]}${what === '' ? '' : ` ${what}`}`, bytes, totalBytes, renderTransfer)
  }
}
