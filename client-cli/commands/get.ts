import type { Command } from 'commander'
import type { Client } from '../client/client.ts'
import { splits } from '../client/resolve.ts'
import { type Context, examples, flag, text, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'
import { formatBytes, printable } from '../output/text.ts'
import { executionText, readPlace, readReplica, replicaOption } from '../tasks/looking.ts'
import { showTransfer } from '../tasks/show-transfer.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<id>', 'a finished task or uploaded data, ID[/path]; with --now a running task')
    .argument('[to]', 'where to put it, a path that does not exist yet (default: named after it, here); - prints a file')
    .option('--to <path>', 'the same as an option')
    .option('--now', 'of a running task: what it has written so far, each file as it is at one moment')
    .option('--dry-run', 'say what would be fetched, and fetch nothing')
    .addHelpText(
      'after',
      examples(
        'talko get k3vq.0',
        'talko get k3vq.0/result.csv result.csv',
        'talko get --now k3vq.0/checkpoints ./so-far',
        'talko get genomes/chr1.fa - | head',
        '(-o is --output, the format of what is printed; the destination is an argument)'
      )
    )
  replicaOption(command, 'with --now: that execution instead of the first that runs')
  run(get)
}

async function get(context: Context, [of = '', to]: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io, signal } = context
  const client = await context.client()
  if (flag(options, 'now')) return getNow(context, client, of, { to: text(options, 'to') ?? to, options })
  if (readReplica(options) > 0) throw new ClientError('usage', '--replica goes with --now: what is kept of a task that is over is of no one execution')
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

async function getNow(
  { io, signal }: Context,
  client: Client,
  given: string,
  { to, options }: { readonly to: string | undefined; readonly options: Readonly<Record<string, unknown>> }
): Promise<undefined> {
  const { of, path } = await readPlace(client, given, signal)
  const destination = to ?? nameOf(given)
  if (destination === '-') throw new ClientError('usage', `a running task's file is printed by talko cat ${given}`)
  const attempt = readReplica(options)
  if (flag(options, 'dryRun')) {
    const { entries } = await client.list(of, path, { attempt, signal })
    if (io.json) io.outJson({ dryRun: true, of, path, to: destination, entries: entries.length })
    else io.say(`would copy ${entries.length} files and folders of it to ${destination}; nothing was copied`)
    return
  }
  const { saveRunning } = await import('../live/save-running.ts')
  const saved = await saveRunning(client, { of, path, attempt, signal }, destination)
  if (io.json) {
    io.outJson({ to: destination, ...saved })
    return
  }
  io.out(destination)
  io.say(`${saved.files} files, ${formatBytes(saved.bytes)}, of ${executionText(saved)}, as they were one after another`)
  for (const one of saved.left) io.warn(printable(`left out ${one.path}: ${one.why}`))
}

/** The last part of what was asked for. */
export function nameOf(of: string): string {
  return splits(of)[0]?.of.split('/').at(-1) ?? of
}
