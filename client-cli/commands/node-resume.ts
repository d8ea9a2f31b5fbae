import type { Command } from 'commander'
import { type Context, examples, flag, type Verb } from '../command.ts'
import { showStatus } from '../tasks/node-status.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('[dir]', "the node's folder (default: node, in your home folder of talko)")
    .option('--dry-run', 'only show the status')
    .addHelpText('after', examples('talko node resume', 'talko node resume /srv/talko'))
  run(async (context: Context, [dir], options) => {
    const { askNode, nodeDir } = await import('../live/node-control.ts')
    const folder = nodeDir(dir, context.home)
    const dryRun = flag(options, 'dryRun')
    showStatus(context.io, await askNode(folder, dryRun ? 'GET' : 'POST', dryRun ? '/status' : '/resume', context.signal))
    if (dryRun) context.io.say('would resume it; nothing was changed')
    return undefined
  })
}
