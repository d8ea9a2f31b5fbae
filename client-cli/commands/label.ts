import type { Command } from 'commander'
import { checkLabelChanges } from '../client/manage.ts'
import { type Context, examples, flag, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'
import { readSelection, selectionOptions, showManaged } from '../tasks/manage.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command.argument('[words...]', 'a batch (none with a selection), then labels: key=value sets one, key- takes it away')
  selectionOptions(command)
  command
    .option('--dry-run', 'say what it would be done to, and change nothing')
    .addHelpText('after', examples('talko label k3vq experiment=7 stage=draft', 'talko label k3vq stage-', 'talko label -l experiment=7 stage=final'))
  run(async (context: Context, words, options) => {
    const selection = readSelection(options)
    const [of = '', ...rest] = words
    const changes = selection === undefined ? rest : words
    if (changes.length === 0) throw new ClientError('usage', 'which labels? like: talko label k3vq experiment=7')
    checkLabelChanges(changes)
    const client = await context.client()
    const managed = await client.label(selection ?? of, changes, { dryRun: flag(options, 'dryRun'), signal: context.signal })
    showManaged(context, managed, options, 'labels changed')
    return undefined
  })
}
