import type { Command } from 'commander'
import { type Context, examples, flag, type Verb } from '../command.ts'
import { manageOptions, readTarget, showManaged } from '../tasks/manage.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  manageOptions(command, 'a task or a batch')
  command.addHelpText('after', examples('talko release k3vq', 'talko release k3vq.7', 'talko release --state held'))
  run(async (context: Context, [of], options) => {
    const target = readTarget(of, options)
    const client = await context.client()
    const managed = await client.release(target, { dryRun: flag(options, 'dryRun'), signal: context.signal })
    showManaged(context, managed, options, 'released, and going on')
    return undefined
  })
}
