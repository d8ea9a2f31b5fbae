import type { Command } from 'commander'
import { type Context, examples, flag, type Verb } from '../command.ts'
import { showStatus } from '../tasks/node-status.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('[dir]', "the node's folder (default: node, in your home folder of talko)")
    .option('--now', 'what runs is ended, too, and goes back to the project; what leaves checkpoints is gone on with from its last one')
    .option('--dry-run', 'only show the status')
    .addHelpText('after', examples('talko node pause', 'talko node pause --now', 'talko node pause /srv/talko'))
  run(async (context: Context, [dir], options) => {
    const { askNode, nodeDir } = await import('../live/node-control.ts')
    const folder = nodeDir(dir, context.home)
    const dryRun = flag(options, 'dryRun')
    const path = dryRun ? '/status' : flag(options, 'now') ? '/pause?mode=now' : '/pause'
    showStatus(context.io, await askNode(folder, dryRun ? 'GET' : 'POST', path, context.signal))
    if (dryRun) context.io.say('would pause it; nothing was changed')
    return undefined
  })
}
