import type { Command } from 'commander'
import { type Context, examples, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'
import { grant, grantOptions, readGrant } from '../tasks/grants.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  grantOptions(command)
  command.addHelpText(
    'after',
    examples(
      'talko owner set 12D3KooW… --share 2',
      'talko owner set 12D3KooW… --disk 10GiB --time 100h --parallel 50',
      'talko owner set 12D3KooW… --group physics --group chemistry'
    )
  )
  run(async (context: Context, [peer = ''], options) => {
    const settings = readGrant(options)
    if (Object.keys(settings).length === 0) throw new ClientError('usage', 'what is to be set? see: talko owner set --help')
    return grant(context, peer, { options, settings })
  })
}
