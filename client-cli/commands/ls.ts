import type { Command } from 'commander'
import type { FileView } from '#protocol/owner/messages'
import { type Context, examples, type Verb } from '../command.ts'
import { formatBytes, formatTable } from '../output/text.ts'
import { executionText, readPlace, readReplica, replicaOption } from '../tasks/looking.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command.argument('<id>', "a task's output folder, or a folder in it: ID[/path]")
  replicaOption(command, 'that execution instead of the first that runs')
  command.addHelpText('after', examples('talko ls k3vq.0', 'talko ls k3vq.0/checkpoints', 'talko ls k3vq.0 --replica 2 -o json'))
  run(async (context: Context, [given = ''], options) => {
    const { io, signal } = context
    const client = await context.client()
    const { of, path } = await readPlace(client, given, signal)
    const view = await client.list(of, path, { attempt: readReplica(options), signal })
    if (io.json) {
      io.outJson(view)
      return undefined
    }
    if (view.attempt > 0) io.say(executionText(view))
    const [head = '', ...lines] = formatTable(['BYTES', 'CHANGED', 'NAME'], view.entries.map(row))
    io.say(head)
    for (const line of lines) io.out(line)
    if (view.more) io.warn(`there are more than these ${view.entries.length}; they are not shown`)
    return undefined
  })
}

function row({ name, kind, bytes, modifiedMs, target }: FileView): string[] {
  const shown = { file: name, directory: `${name}/`, link: `${name} -> ${target ?? ''} (a link; not followed)`, special: `${name} (fifo, socket or device)` }[
    kind
  ]
  return [kind === 'file' ? formatBytes(bytes) : '-', modifiedMs === undefined ? '-' : new Date(modifiedMs).toISOString().slice(0, 19), shown]
}
