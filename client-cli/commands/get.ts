import type { Command } from 'commander'
import { splits } from '../client/resolve.ts'
import { type Context, examples, flag, text, type Verb } from '../command.ts'
import { formatBytes } from '../output/text.ts'
import { showTransfer } from '../tasks/show-transfer.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<id>', 'a finished task or uploaded data, ID[/path]')
    .argument('[to]', 'where to put it, a path that does not exist yet (default: named after it, here); - prints a file')
    .option('--to <path>', 'the same as an option')
    .option('--dry-run', 'say what would be fetched, and fetch nothing')
    .addHelpText(
      'after',
      examples(
        'talko get k3vq.0',
        'talko get k3vq.0/result.csv result.csv',
        'talko get genomes/chr1.fa - | head',
        '(-o is --output, the format of what is printed; the destination is an argument)'
      )
    )
  run(get)
}

async function get(context: Context, [of = '', to]: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io, signal } = context
  const client = await context.client()
  const found = await client.find(of, { signal })
  const destination = text(options, 'to') ?? to ?? nameOf(of)
  if (flag(options, 'dryRun')) {
    if (io.json) io.outJson({ dryRun: true, ...found, to: destination })
    else {
      io.out(found.root)
      io.say(`would fetch ${found.root}${found.path === undefined || found.path === '' ? '' : `/${found.path}`} to ${destination}; nothing was fetched`)
    }
    return
  }
  if (destination === '-') {
    for await (const piece of client.read(found, { signal })) io.raw(piece)
    return
  }
  const { bytes } = await client.get(found, destination, { signal, onProgress: showTransfer(io) })
  io.progressEnd()
  if (io.json) io.outJson({ id: found.root, path: found.path ?? '', to: destination, bytes })
  else {
    io.out(destination)
    io.say(`${formatBytes(bytes)}, every block verified`)
  }
}

/** The last part of what was asked for. */
export function nameOf(of: string): string {
  return splits(of)[0]?.of.split('/').at(-1) ?? of
}
