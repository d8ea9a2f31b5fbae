import type { Command } from 'commander'
import { type Context, examples, flag, type Verb } from '../command.ts'
import { manageEach, manageOptions, readTargets } from '../tasks/manage.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  manageOptions(command, 'batches, or tasks of them: what failed of each or was killed is submitted again')
  command.addHelpText(
    'after',
    examples(
      'talko retry k3vq',
      'talko retry k3vq.7',
      'talko retry -l experiment=7 --state failed',
      'The new batch keeps name, labels and options of the old one. Of a map with a reduce, parts that are ready are in it as they are, and the reduce runs after the others.'
    )
  )
  run(async (context: Context, ids, options) => {
    const targets = readTargets(ids, options)
    const client = await context.client()
    const asked = { dryRun: flag(options, 'dryRun'), signal: context.signal }
    const done = (tasks: number): string => `submitted, with ${tasks} ${tasks === 1 ? 'task that had failed or was' : 'tasks that had failed or were'} killed`
    await manageEach(context, targets, { act: (target) => client.retry(target, asked), options, done })
    return undefined
  })
}
