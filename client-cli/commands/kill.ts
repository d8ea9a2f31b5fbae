import type { Command } from 'commander'
import { type Context, examples, flag, type Verb } from '../command.ts'
import { manageEach, manageOptions, readTargets } from '../tasks/manage.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  manageOptions(command, 'tasks or batches')
  command.addHelpText('after', examples('talko kill k3vq.0', 'talko kill k3vq q5rn', 'talko kill -l experiment=7', 'talko kill --name sweep --state waiting'))
  run(async (context: Context, ids, options) => {
    const targets = readTargets(ids, options)
    const client = await context.client()
    const asked = { dryRun: flag(options, 'dryRun'), signal: context.signal }
    const done = (): string => 'ended; executions stop within seconds, and what they had made can be had then (talko get, talko logs)'
    await manageEach(context, targets, { act: (target) => client.kill(target, asked), options, done })
    return undefined
  })
}
