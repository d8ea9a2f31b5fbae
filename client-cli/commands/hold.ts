import type { Command } from 'commander'
import { type Context, examples, flag, text, type Verb } from '../command.ts'
import { manageEach, manageOptions, readTargets } from '../tasks/manage.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  manageOptions(command, 'tasks or batches')
  command
    .option('--reason <text>', 'why, for whoever looks at it (talko why, talko info)')
    .option('--stop', 'take back what runs, too; it is run again when it is released')
    .addHelpText('after', examples('talko hold k3vq --reason "wrong input"', 'talko hold k3vq.7 --stop', 'talko hold -l experiment=7', 'talko release k3vq'))
  run(async (context: Context, ids, options) => {
    const stop = flag(options, 'stop')
    const targets = readTargets(ids, options)
    const client = await context.client()
    const asked = { reason: text(options, 'reason') ?? '', stop, dryRun: flag(options, 'dryRun'), signal: context.signal }
    const done = (): string => (stop ? 'held, and what ran is taken back' : 'held; what runs goes on, nothing new starts (talko release)')
    await manageEach(context, targets, { act: (target) => client.hold(target, asked), options, done })
    return undefined
  })
}
