/** Cuts a file (or any stream of bytes) into part files, in one pass and constant memory. */

import { once } from 'node:events'
import { createWriteStream, type WriteStream } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { ClientError } from '../../errors.ts'
import { type Cutter, PARTS_MAX } from '../split.ts'

/**
 * Writes the parts to `pathOf(index)` below `folder`; answers how many there are. An empty input has no parts.
 * Throws ClientError `usage` beyond PARTS_MAX.
 */
export async function cutStream(
  input: AsyncIterable<Uint8Array>,
  cutter: Cutter,
  options: { readonly folder: string; readonly pathOf: (index: number) => string; readonly onProgress?: (bytes: number) => void }
): Promise<number> {
  const { folder, pathOf, onProgress } = options
  let parts = 0
  let bytes = 0
  let current: WriteStream | undefined
  const write = async (piece: Uint8Array): Promise<void> => {
    if (piece.length === 0) return
    current ??= await open(join(folder, pathOf(parts)))
    if (!current.write(piece)) await once(current, 'drain')
  }
  const close = async (): Promise<void> => {
    if (current === undefined) return
    current.end()
    await once(current, 'close')
    current = undefined
    parts++
    if (parts > PARTS_MAX) throw new ClientError('usage', `the input has more than ${PARTS_MAX} parts; make them larger`)
  }
  for await (const piece of input) {
    let from = 0
    for (const cut of cutter.push(piece)) {
      await write(piece.subarray(from, cut - bytes))
      await close()
      from = cut - bytes
    }
    await write(piece.subarray(from))
    bytes += piece.length
    onProgress?.(bytes)
  }
  await close()
  return parts
}

async function open(path: string): Promise<WriteStream> {
  await mkdir(dirname(path), { recursive: true })
  const stream = createWriteStream(path, { flags: 'wx' })
  await once(stream, 'open')
  return stream
}
