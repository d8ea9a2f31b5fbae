import type { Command } from 'commander'
import { type Context, examples, flag, type Verb } from '../command.ts'
import { manageEach, manageOptions, readTargets } from '../tasks/manage.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  manageOptions(command, 'tasks or batches')
  command.addHelpText('after', examples('talko release k3vq', 'talko release k3vq.7', 'talko release --state held'))
  run(async (context: Context, ids, options) => {
    const targets = readTargets(ids, options)
    const client = await context.client()
    const asked = { dryRun: flag(options, 'dryRun'), signal: context.signal }
    await manageEach(context, targets, { act: (target) => client.release(target, asked), options, done: () => 'released, and going on' })
    return undefined
  })
}
