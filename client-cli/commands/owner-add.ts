import type { Command } from 'commander'
import { type Context, examples, type Verb } from '../command.ts'
import { grant, grantOptions, readGrant } from '../tasks/grants.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  grantOptions(command)
  command.addHelpText('after', examples('talko owner add 12D3KooW…', 'talko owner add 12D3KooW… --share 2 --parallel 50'))
  run(async (context: Context, [peer = ''], options) => {
    return grant(context, peer, { options, settings: readGrant(options), member: true })
  })
}
