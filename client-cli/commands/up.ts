import { resolve } from 'node:path'
import type { Command } from 'commander'
import { formatInvite } from '../client/invite.ts'
import { parseWhole } from '../client/units.ts'
import { type Context, examples, flag, text, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'
import { formatDuration } from '../output/text.ts'

const NODES_MAX = 64
const SLOTS_MAX = 64

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .option('--nodes <n>', 'how many nodes', '3')
    .option('--engine <engine>', 'what they run tasks with: docker, process or both', 'docker')
    .option('--slots <n>', 'tasks that each runs at once', '1')
    .option('--dir <dir>', 'where it lives (default: local, in your home folder of talko)')
    .option('--dry-run', 'say what would be started, and start nothing')
    .addHelpText('after', examples('talko up --nodes 3', 'talko up --nodes 5 --engine process', 'talko run alpine -W -- echo hello', 'talko down'))
  run(up)
}

async function up(context: Context, _args: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io, signal } = context
  const nodes = parseWhole(text(options, 'nodes') ?? '', '--nodes', 0, NODES_MAX)
  const slots = parseWhole(text(options, 'slots') ?? '', '--slots', 1, SLOTS_MAX)
  const engine = text(options, 'engine')
  if (engine !== 'docker' && engine !== 'process' && engine !== 'both')
    throw new ClientError('usage', `--engine is docker, process or both, not ${JSON.stringify(engine)}`)
  const engines: ('docker' | 'process')[] = engine === 'both' ? ['docker', 'process'] : [engine]
  const [{ localDir, startNetwork }, { Home }] = await Promise.all([import('../live/network.ts'), import('../live/home.ts')])
  const home = Home.at(context.home)
  const given = text(options, 'dir')
  const dir = localDir(given === undefined ? undefined : resolve(given), home)
  if (flag(options, 'dryRun')) {
    if (io.json) io.outJson({ dryRun: true, dir, nodes, engines, slots })
    else io.say(`would start a project server and ${nodes} nodes (${engines.join(', ')}) in ${dir}; nothing was started`)
    return
  }
  const beganMs = io.nowMs
  const network = await startNetwork({ dir, home, nodes, engines, slots, signal, say: (line) => io.say(line) })
  const invite = formatInvite(network.invite)
  if (io.json) io.outJson({ invite, ...network.invite, dir, nodes: network.nodes })
  else {
    io.out(invite)
    const fresh = network.nodes.filter(({ started }) => started).length
    io.say(
      `${network.nodes.length} nodes are connected (${fresh} started now), ready after ${formatDuration(io.nowMs - beganMs)}; logs are in ${dir}/*/log; stop it with: talko down${given === undefined ? '' : ` --dir ${given}`}`
    )
  }
}
