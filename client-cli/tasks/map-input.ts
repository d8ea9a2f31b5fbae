/** The input of a map: cut into part files here, uploaded as one tree. */
import { createReadStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Client } from '../client/client.ts'
import type { Input } from '../client/spec.ts'
import type { Context } from '../command.ts'
import { ClientError } from '../errors.ts'
import { renderTransfer } from '../output/progress.ts'
import { cutStream } from '../split/live/cut-file.ts'
import { cutter, partPath, type Split } from '../split/split.ts'
import { showTransfer } from './show-transfer.ts'

export interface Parts {
  readonly root: string
  /** Path of each part below the root. */
  readonly paths: readonly string[]
}

interface Source {
  readonly bytes: number
  readonly stream: AsyncIterable<Uint8Array>
}

/** Cuts a file of this machine, or one the project holds, and gives the project the parts. */
export async function uploadParts(context: Context, client: Client, input: string, split: Split, dryRun: boolean): Promise<Parts> {
  const { io, signal } = context
  const { Home } = await import('../live/home.ts')
  const scratch = await Home.at(context.home).scratch()
  try {
    const { bytes, stream } = await openSource(context, client, input, scratch)
    if (bytes === 0) throw new ClientError('usage', `${input} is empty; there is nothing to map`)
    const folder = join(scratch, 'parts')
    const count = await cutStream(stream, cutter(split, bytes), {
      folder,
      pathOf: partPath,
      onProgress: (done) => {
        signal.throwIfAborted()
        io.progress(`cutting ${input}`, done, bytes, renderTransfer)
      }
    })
    io.progressEnd()
    const { root } = await client.upload(folder, { signal, dryRun, onProgress: showTransfer(io, 'parts') })
    io.progressEnd()
    return { root, paths: Array.from({ length: count }, (_, index) => partPath(index)) }
  } finally {
    await rm(scratch, { recursive: true, force: true })
  }
}

async function openSource(context: Context, client: Client, input: string, scratch: string): Promise<Source> {
  const here = await stat(input).catch(() => undefined)
  if (here?.isFile() === true) return { bytes: here.size, stream: createReadStream(input) }
  if (here?.isDirectory() === true) throw new ClientError('usage', `${input} is a folder; map takes one file`)
  if (/^(\.{0,2}|~)\//.test(input)) throw new ClientError('not_found', `there is no file ${input}`)
  const found: Input = await client.find(input, { signal: context.signal })
  const path = join(scratch, 'input')
  await client.get(found, path, { signal: context.signal, onProgress: showTransfer(context.io, input) })
  context.io.progressEnd()
  const fetched = await stat(path)
  if (!fetched.isFile()) throw new ClientError('usage', `${input} is a folder; map takes one file (ID/path)`)
  return { bytes: fetched.size, stream: createReadStream(path) }
}
