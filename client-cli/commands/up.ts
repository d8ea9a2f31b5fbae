import { resolve } from 'node:path'
import type { Command } from 'commander'
import { formatInvite } from '../client/invite.ts'
import { parseWhole } from '../client/units.ts'
import { type Context, examples, flag, text, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'
import type { NodeOptions } from '../live/network.ts'
import { formatDuration } from '../output/text.ts'

const NODES_MAX = 64
const SLOTS_MAX = 64

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .option('--nodes <n>', 'how many nodes', '3')
    .option('--engine <engine>', 'what they run tasks with: docker, process or both (default: docker, or as before)')
    .option('--slots <n>', 'tasks that each runs at once (default: 1, or as before)')
    .option('--dir <dir>', 'where it lives (default: local, in your home folder of talko)')
    .option('--dry-run', 'say what would be started, and start nothing')
    .addHelpText('after', examples('talko up --nodes 3', 'talko up --nodes 5 --engine process', 'talko run alpine -W -- echo hello', 'talko down'))
  run(up)
}

async function up(context: Context, _args: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io, signal } = context
  const nodes = parseWhole(text(options, 'nodes') ?? '', '--nodes', 0, NODES_MAX)
  const given: NodeOptions = { ...slotsOf(text(options, 'slots')), ...enginesOf(text(options, 'engine')) }
  const [{ localDir, startNetwork }, { Home }] = await Promise.all([import('../live/network.ts'), import('../live/home.ts')])
  const home = Home.at(context.home)
  const folder = text(options, 'dir')
  const dir = localDir(folder === undefined ? undefined : resolve(folder), home)
  if (flag(options, 'dryRun')) {
    const lent = given.engines === undefined ? '' : ` (${given.engines.join(', ')})`
    if (io.json) io.outJson({ dryRun: true, dir, nodes, ...given })
    else io.say(`would start a project server and ${nodes} nodes${lent} in ${dir}; nothing was started`)
    return
  }
  const beganMs = io.nowMs
  const network = await startNetwork({ dir, home, nodes, given, signal, say: (line) => io.say(line) })
  const invite = formatInvite(network.invite)
  if (io.json) io.outJson({ invite, ...network.invite, dir, nodes: network.nodes })
  else {
    io.out(invite)
    const fresh = network.nodes.filter(({ started }) => started).length
    io.say(
      `${network.nodes.length} nodes are connected (${fresh} started now), ready after ${formatDuration(io.nowMs - beganMs)}; logs are in ${dir}/*/log; stop it with: talko down${folder === undefined ? '' : ` --dir ${folder}`}`
    )
  }
}

function slotsOf(slots: string | undefined): Pick<NodeOptions, 'slots'> {
  return slots === undefined ? {} : { slots: parseWhole(slots, '--slots', 1, SLOTS_MAX) }
}

function enginesOf(engine: string | undefined): Pick<NodeOptions, 'engines'> {
  if (engine === undefined) return {}
  if (engine === 'both') return { engines: ['docker', 'process'] }
  if (engine !== 'docker' && engine !== 'process') throw new ClientError('usage', `--engine is docker, process or both, not ${JSON.stringify(engine)}`)
  return { engines: [engine] }
}
