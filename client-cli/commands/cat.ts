import type { Command } from 'commander'
import { type Context, examples, flag, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'
import { placeSpeaker, readLines, readPlace, readReplica, replicaOption } from '../tasks/looking.ts'

const LINE_END = 10

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<id>', 'a file of the output, ID/path; of a task alone what it prints')
    .option('--head <lines>', 'only the first so many lines')
    .option('--tail <lines>', 'only the last so many lines')
    .option('--stderr', 'without a path: what the task prints on stderr instead of stdout')
  replicaOption(command, 'that execution instead of the first that runs')
  command.addHelpText(
    'after',
    examples(
      'talko cat k3vq.0/result.csv',
      'talko cat k3vq.0 --tail 100',
      'talko cat k3vq.0/model/losses.txt --head 20',
      '(what is written this moment is read up to where it is now)'
    )
  )
  run(async (context: Context, [given = ''], options) => {
    const { io, signal } = context
    const [head, tail] = [readLines(options, 'head'), readLines(options, 'tail')]
    if (head !== undefined && tail !== undefined) throw new ClientError('usage', 'either --head or --tail')
    const client = await context.client()
    const { of, path } = await readPlace(client, given, signal)
    const what = path === '' ? ({ file: flag(options, 'stderr') ? 'stderr' : 'stdout' } as const) : { path }
    if (head === 0 || tail === 0) return undefined
    const decode = new TextDecoder()
    let left = head ?? Number.POSITIVE_INFINITY
    for await (const piece of client.logs(of, { ...what, lines: tail ?? 0, attempt: readReplica(options), signal, onPlace: placeSpeaker(io) })) {
      const part = firstLines(piece, left)
      left -= part.lines
      if (io.json) io.outJson({ text: decode.decode(part.bytes, { stream: true }) })
      else io.raw(part.bytes)
      if (left === 0) break
    }
    return undefined
  })
}

function firstLines(bytes: Uint8Array, most: number): { readonly bytes: Uint8Array; readonly lines: number } {
  if (most === Number.POSITIVE_INFINITY) return { bytes, lines: 0 }
  let lines = 0
  for (const [index, byte] of bytes.entries()) if (byte === LINE_END && ++lines === most) return { bytes: bytes.subarray(0, index + 1), lines }
  return { bytes, lines }
}
