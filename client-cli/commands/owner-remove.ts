import type { Command } from 'commander'
import { type Context, examples, type Verb } from '../command.ts'
import { readPeer, showClients } from '../tasks/grants.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<peer>', 'a client, by its peer id')
    .addHelpText('after', `${examples('talko owner remove 12D3KooW…')}\nWhat it submitted goes on; talko kill ends it.\n`)
  run(async (context: Context, [peer = '']) => {
    showClients(context, [await (await context.client()).grant(readPeer(peer), { member: false, signal: context.signal })])
    return undefined
  })
}
