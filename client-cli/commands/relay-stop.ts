import type { Command } from 'commander'
import { type Context, examples, flag, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'
import { showStatus } from '../tasks/node-status.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('[dir]', "the relay's folder (default: relay, in your home folder of talko)")
    .option('--dry-run', 'only show the status')
    .addHelpText('after', examples('talko relay stop', 'talko relay stop /srv/relay'))
  run(async (context: Context, [dir], options) => {
    const { io, signal } = context
    const [{ relayDir, relayStatus }, daemons] = await Promise.all([import('../live/node-control.ts'), import('../live/daemon.ts')])
    const folder = relayDir(dir, context.home)
    if (flag(options, 'dryRun')) {
      showStatus(io, await relayStatus(folder, signal))
      io.say('would stop it; nothing was changed')
      return undefined
    }
    const running = await daemons.runningDaemon(folder)
    if (running === undefined) throw new ClientError('unreachable', `no relay runs in ${folder}`)
    await daemons.stopDaemon(running)
    if (io.json) io.outJson({ dir: folder, stopped: running.pid })
    else io.say('the relay has stopped; what it carried moves to others')
    return undefined
  })
}
