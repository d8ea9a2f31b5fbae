import type { Command } from 'commander'
import { type Context, examples, flag, text, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'
import { placeSpeaker, readReplica, replicaOption } from '../tasks/looking.ts'
import { stepOf, wholeLog } from '../tasks/step-logs.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<id>', 'a task (or a batch of one)')
    .option('-f, --follow', 'go on until the task ends')
    .option('--stderr', 'what it prints on stderr instead of stdout')
    .option('--step <step>', 'only what this one of several commands printed, by its number or name, as far as it is there (talko run --step)')
  replicaOption(command, 'that execution instead of the first that runs')
  command.addHelpText('after', examples('talko logs k3vq.0', 'talko logs -f k3vq.0', 'talko logs --stderr k3vq.0 > errors.txt', 'talko logs --step 2 k3vq.0'))
  run(async (context: Context, [of = ''], options) => {
    const { io, signal } = context
    const client = await context.client()
    const decode = new TextDecoder()
    const file = flag(options, 'stderr') ? 'stderr' : 'stdout'
    const step = text(options, 'step')
    if (step !== undefined) {
      if (flag(options, 'follow')) throw new ClientError('usage', '--step shows what is there: leave out -f')
      const log = await wholeLog(client.logs(of, { file, attempt: readReplica(options), signal, onPlace: placeSpeaker(io) }))
      const part = stepOf((await client.task(of, { signal })).command, step, { file, log })
      if (io.json) io.outJson({ text: part })
      else io.raw(Buffer.from(part))
      return
    }
    for await (const piece of client.logs(of, { file, follow: flag(options, 'follow'), attempt: readReplica(options), signal, onPlace: placeSpeaker(io) })) {
      if (io.json) io.outJson({ text: decode.decode(piece, { stream: true }) })
      else io.raw(piece)
    }
    return undefined
  })
}
