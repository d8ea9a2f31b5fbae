import type { Command } from 'commander'
import { type Context, examples, flag, type Verb } from '../command.ts'
import { placeSpeaker, readLines, readPlace, readReplica, replicaOption } from '../tasks/looking.ts'

const LINES = 10

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<id>', 'a file of the output, ID/path; of a task alone what it prints')
    .option('-f, --follow', 'go on until the task ends, over lost connections, and when the file is cut or replaced')
    .option('-n, --lines <lines>', 'begin with the last so many lines', String(LINES))
    .option('--stderr', 'without a path: what the task prints on stderr instead of stdout')
  replicaOption(command, 'that execution instead of the first that runs')
  command.addHelpText('after', examples('talko tail k3vq.0', 'talko tail -f k3vq.0/train.log', 'talko tail -f -n 100 k3vq.0 --stderr'))
  run(async (context: Context, [given = ''], options) => {
    const { io, signal } = context
    const lines = readLines(options, 'lines') ?? LINES
    const client = await context.client()
    const { of, path } = await readPlace(client, given, signal)
    const what = path === '' ? ({ file: flag(options, 'stderr') ? 'stderr' : 'stdout' } as const) : { path }
    const decode = new TextDecoder()
    const reading = { ...what, lines, follow: flag(options, 'follow'), attempt: readReplica(options), signal, onPlace: placeSpeaker(io) }
    for await (const piece of client.logs(of, reading)) {
      if (io.json) io.outJson({ text: decode.decode(piece, { stream: true }) })
      else io.raw(piece)
    }
    return undefined
  })
}
