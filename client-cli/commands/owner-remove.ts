import type { Command } from 'commander'
import { type Context, examples, type Verb } from '../command.ts'
import { dryRunOption, grant } from '../tasks/grants.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<peer>', 'a client, by its peer id')
    .addHelpText(
      'after',
      `${examples('talko owner remove 12D3KooW…', 'talko owner remove 12D3KooW… --dry-run')}\nWhat it submitted goes on; talko kill ends it.\n`
    )
  dryRunOption(command)
  run((context: Context, [peer = ''], options) => grant(context, peer, { options, member: false }))
}
