import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type Context, examples, flag, text, type Verb } from '../command.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .option('--dir <dir>', 'the network to stop (default: local, in your home folder of talko)')
    .option('--delete', 'delete its folder too: batches, results, keys and all')
    .option('--dry-run', 'say what would be stopped, and stop nothing')
    .addHelpText('after', examples('talko down', 'talko down --delete'))
  run(down)
}

async function down(context: Context, _args: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io } = context
  const [{ deleteNetwork, localDir, networkDaemons, stopNetwork }, { isRunning }, { Home }] = await Promise.all([
    import('../live/network.ts'),
    import('../live/process.ts'),
    import('../live/home.ts')
  ])
  const given = text(options, 'dir')
  const dir = localDir(given === undefined ? undefined : resolve(given), Home.at(context.home))
  const dryRun = flag(options, 'dryRun')
  const stopped = dryRun ? (await networkDaemons(dir)).filter(isRunning) : await stopNetwork(dir)
  const deleting = flag(options, 'delete')
  if (deleting && !dryRun) await deleteNetwork(dir)
  const nodes = stopped.filter(({ role }) => role === 'node').length
  if (io.json) io.outJson({ dryRun, dir, stopped: stopped.map(({ pid, role, peer }) => ({ pid, role, peer })), deleted: deleting && !dryRun })
  else if (stopped.length === 0) io.say(`nothing runs in ${dir}`)
  else io.say(`${dryRun ? 'would stop' : 'stopped'} ${stopped.length - nodes === 0 ? '' : 'the project server and '}${nodes} nodes in ${dir}`)
}
