import type { Command } from 'commander'
import { type Context, examples, flag, text, type Verb } from '../command.ts'
import { formatBytes } from '../output/text.ts'
import { showTransfer } from '../tasks/show-transfer.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<path>', 'a file or folder of this machine')
    .option('--name <name>', 'a name to use in place of its id')
    .option('--dry-run', 'read it and print its id, and send nothing')
    .addHelpText(
      'after',
      examples(
        'talko upload ./genomes --name genomes',
        'talko run alpine -i genomes=genomes -W -- ls /in/genomes',
        'The id is the one `ipfs add` gives under the profile unixfs-v1-2025: equal data has an equal id.'
      )
    )
  run(upload)
}

async function upload(context: Context, [path = '']: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io, signal } = context
  const dryRun = flag(options, 'dryRun')
  const name = text(options, 'name')
  const client = await (dryRun ? context.offline() : context.client())
  const beganMs = io.nowMs
  const { root, bytes, files } = await client.upload(path, { signal, dryRun, ...(name === undefined ? {} : { name }), onProgress: showTransfer(io) })
  io.progressEnd()
  if (io.json) io.outJson({ id: root, bytes, files, ...(name === undefined ? {} : { name }), dryRun })
  else {
    io.out(root)
    io.say(
      `${files} ${files === 1 ? 'file' : 'files'}, ${formatBytes(bytes)}, ${((io.nowMs - beganMs) / 1000).toFixed(1)} s${dryRun ? '; nothing was sent' : ''}`
    )
  }
}
