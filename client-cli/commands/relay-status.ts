import type { Command } from 'commander'
import { type Context, examples, type Verb } from '../command.ts'
import { showStatus } from '../tasks/node-status.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('[dir]', "the relay's folder (default: relay, in your home folder of talko)")
    .addHelpText('after', examples('talko relay status', 'talko relay status /srv/relay -o json'))
  run(async (context: Context, [dir]) => {
    const { relayDir, relayStatus } = await import('../live/node-control.ts')
    showStatus(context.io, await relayStatus(relayDir(dir, context.home), context.signal))
    return undefined
  })
}
