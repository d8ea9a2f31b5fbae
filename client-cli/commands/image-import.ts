import type { Command } from 'commander'
import { type Context, examples, flag, text, type Verb } from '../command.ts'
import { formatBytes } from '../output/text.ts'
import { showTransfer } from '../tasks/show-transfer.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<source>', 'a Docker reference (alpine:3), an archive (docker save, OCI), or a folder with a root file system')
    .option('--name <name>', 'a name to use in place of its id (default: the reference)')
    .option('--dry-run', 'read it and print its id, and send nothing')
    .addHelpText(
      'after',
      examples(
        'talko image import alpine',
        'talko image import ./image.tar --name tools:1',
        'talko image import ./rootfs --name tiny',
        'talko run tiny -W -- /bin/true'
      )
    )
  run(importImage)
}

async function importImage(context: Context, [source = '']: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io, signal } = context
  const dryRun = flag(options, 'dryRun')
  const reference = /^[A-Za-z0-9][A-Za-z0-9._:/@-]*$/.test(source) && !/\.(tar|tgz|tar\.\w+)$/.test(source)
  const name = text(options, 'name') ?? (reference ? source : undefined)
  const client = await (dryRun ? context.offline() : context.client())
  const { root, bytes } = await client.importImage(source, { signal, dryRun, ...(name === undefined ? {} : { name }), onProgress: showTransfer(io) })
  io.progressEnd()
  if (io.json) io.outJson({ id: root, bytes, ...(name === undefined ? {} : { name }), dryRun })
  else {
    io.out(root)
    io.say(`image ${name ?? source}, ${formatBytes(bytes)}${dryRun ? '; nothing was sent' : ''}`)
  }
}
