import type { Command } from 'commander'
import { type Context, examples, flag, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<id>', 'a task or a batch')
    .option('--dry-run', 'say what would be ended, and end nothing')
    .addHelpText('after', examples('talko kill k3vq.0', 'talko kill k3vq'))
  run(async (context: Context, [of = ''], options) => {
    const { io, signal } = context
    const client = await context.client()
    const { kind, id } = await client.resolve(of, { signal })
    if (kind === 'data') throw new ClientError('usage', `${of} is data, not a task or batch`)
    const dryRun = flag(options, 'dryRun')
    if (!dryRun) await client.kill(id, { signal })
    if (io.json) io.outJson({ kind, id, dryRun })
    else {
      io.out(id)
      io.say(
        dryRun
          ? `would end ${kind} ${id}; nothing was changed`
          : `${kind} ${id} is ended; its executions stop within seconds, and what they had made can be had then (talko get, talko logs)`
      )
    }
    return undefined
  })
}
