import type { Command } from 'commander'
import { type Context, examples, flag, type Verb } from '../command.ts'
import { manageOptions, showManaged } from '../tasks/manage.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  manageOptions(command)
  command.addHelpText('after', examples('talko release k3vq', 'talko release k3vq.7'))
  run(async (context: Context, [of = ''], options) => {
    const client = await context.client()
    const managed = await client.release(of, { dryRun: flag(options, 'dryRun'), signal: context.signal })
    showManaged(context, managed, options, 'released, and goes on')
    return undefined
  })
}
