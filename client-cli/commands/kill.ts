import type { Command } from 'commander'
import { type Context, examples, flag, type Verb } from '../command.ts'
import { manageOptions, readTarget, showManaged } from '../tasks/manage.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  manageOptions(command, 'a task or a batch')
  command.addHelpText('after', examples('talko kill k3vq.0', 'talko kill k3vq', 'talko kill -l experiment=7', 'talko kill --name sweep --state waiting'))
  run(async (context: Context, [of], options) => {
    const target = readTarget(of, options)
    const client = await context.client()
    const managed = await client.kill(target, { dryRun: flag(options, 'dryRun'), signal: context.signal })
    showManaged(context, managed, options, 'ended; executions stop within seconds, and what they had made can be had then (talko get, talko logs)')
    return undefined
  })
}
