import type { Command } from 'commander'
import { parseGrace } from '../client/units.ts'
import { type Context, examples, flag, text, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'
import { showStatus } from '../tasks/node-status.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('[dir]', "the node's folder (default: node, in your home folder of talko)")
    .option('--now', 'end what runs and give it back, instead of finishing it')
    .option('--grace <time>', 'finish what runs for so long at most, then end it and give it back (default: for as long as it takes)')
    .option('--dry-run', 'only show the status')
    .addHelpText('after', examples('talko node stop', 'talko node stop --grace 10m', 'talko node stop /srv/talko --now'))
  run(stop)
}

async function stop(context: Context, [dir]: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io, signal } = context
  const [{ askNode, nodeDir }, { runningDaemon, untilGone }] = await Promise.all([import('../live/node-control.ts'), import('../live/daemon.ts')])
  const folder = nodeDir(dir, context.home)
  const dryRun = flag(options, 'dryRun')
  const daemon = await runningDaemon(folder)
  const grace = text(options, 'grace')
  if (flag(options, 'now') && grace !== undefined) throw new ClientError('usage', '--now and --grace contradict each other')
  const how = flag(options, 'now') ? 'mode=now' : `mode=finish${grace === undefined ? '' : `&grace=${parseGrace(grace, '--grace')}`}`
  const status = await askNode(folder, dryRun ? 'GET' : 'POST', dryRun ? '/status' : `/stop?${how}`, signal)
  if (dryRun) {
    showStatus(io, status)
    io.say('would stop it; nothing was changed')
    return
  }
  if (daemon !== undefined) await untilGone(daemon, signal)
  if (io.json) io.outJson({ id: status.peerId, stopped: true })
  else io.say('the node has stopped')
}
