import type { Command } from 'commander'
import { type Context, examples, flag, type Verb } from '../command.ts'
import { placeSpeaker, readReplica, replicaOption } from '../tasks/looking.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<id>', 'a task (or a batch of one)')
    .option('-f, --follow', 'go on until the task ends')
    .option('--stderr', 'what it prints on stderr instead of stdout')
  replicaOption(command, 'that execution instead of the first that runs')
  command.addHelpText('after', examples('talko logs k3vq.0', 'talko logs -f k3vq.0', 'talko logs --stderr k3vq.0 > errors.txt'))
  run(async (context: Context, [of = ''], options) => {
    const { io, signal } = context
    const client = await context.client()
    const decode = new TextDecoder()
    const file = flag(options, 'stderr') ? 'stderr' : 'stdout'
    for await (const piece of client.logs(of, { file, follow: flag(options, 'follow'), attempt: readReplica(options), signal, onPlace: placeSpeaker(io) })) {
      if (io.json) io.outJson({ text: decode.decode(piece, { stream: true }) })
      else io.raw(piece)
    }
    return undefined
  })
}
