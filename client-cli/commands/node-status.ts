import type { Command } from 'commander'
import { type Context, examples, type Verb } from '../command.ts'
import { showStatus } from '../tasks/node-status.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('[dir]', "the node's folder (default: node, in your home folder of talko)")
    .addHelpText('after', examples('talko node status', 'talko node status /srv/talko -o json'))
  run(async (context: Context, [dir]) => {
    const { askNode, nodeDir } = await import('../live/node-control.ts')
    showStatus(context.io, await askNode(nodeDir(dir, context.home), 'GET', '/status', context.signal))
    return undefined
  })
}
