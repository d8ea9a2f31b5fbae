import type { Command } from 'commander'
import { type Context, examples, flag, type Verb } from '../command.ts'
import { manageOptions, readTarget, showManaged } from '../tasks/manage.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  manageOptions(command, 'a batch, or a task of one: what failed of it or was killed is submitted again')
  command.addHelpText(
    'after',
    examples(
      'talko retry k3vq',
      'talko retry k3vq.7',
      'talko retry -l experiment=7 --state failed',
      'The new batch keeps name, labels and options of the old one. Of a map with a reduce, parts that are ready are in it as they are, and the reduce runs after the others.'
    )
  )
  run(async (context: Context, [of], options) => {
    const target = readTarget(of, options)
    const client = await context.client()
    const managed = await client.retry(target, { dryRun: flag(options, 'dryRun'), signal: context.signal })
    const tasks = managed.targets.reduce((total, one) => total + (one.tasks ?? 0), 0)
    showManaged(context, managed, options, `submitted, with ${tasks} ${tasks === 1 ? 'task that had failed or was' : 'tasks that had failed or were'} killed`)
    return undefined
  })
}
