import type { Command } from 'commander'
import { checkLabelChanges } from '../client/manage.ts'
import { type Context, examples, flag, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'
import { manageEach, readTargets, selectionOptions } from '../tasks/manage.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command.argument('[words...]', 'batches (none with a selection), then labels: key=value sets one, key- takes it away')
  selectionOptions(command)
  command
    .option('--dry-run', 'say what it would be done to, and change nothing')
    .addHelpText('after', examples('talko label k3vq experiment=7 stage=draft', 'talko label k3vq q5rn stage-', 'talko label -l experiment=7 stage=final'))
  run(async (context: Context, words, options) => {
    const isChange = (word: string): boolean => word.includes('=') || word.endsWith('-')
    const first = words.findIndex(isChange)
    const [ids, changes] = first === -1 ? [words, []] : [words.slice(0, first), words.slice(first)]
    if (changes.length === 0) throw new ClientError('usage', 'which labels? like: talko label k3vq experiment=7')
    checkLabelChanges(changes)
    const targets = readTargets(ids, options)
    const client = await context.client()
    const asked = { dryRun: flag(options, 'dryRun'), signal: context.signal }
    await manageEach(context, targets, { act: (target) => client.label(target, changes, asked), options, done: () => 'labels changed' })
    return undefined
  })
}
