import type { Command } from 'commander'
import { type Context, examples, type Verb } from '../command.ts'
import { grantOptions, readGrant, readPeer, showClients } from '../tasks/grants.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  grantOptions(command)
  command.addHelpText('after', examples('talko owner add 12D3KooW…', 'talko owner add 12D3KooW… --share 2 --parallel 50'))
  run(async (context: Context, [peer = ''], options) => {
    const settings = readGrant(options)
    showClients(context, [await (await context.client()).grant(readPeer(peer), { settings, member: true, signal: context.signal })])
    return undefined
  })
}
