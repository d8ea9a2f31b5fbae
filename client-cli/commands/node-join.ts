import { availableParallelism, hostname } from 'node:os'
import type { Command } from 'commander'
import { isTag, TAGS_MAX } from '#protocol/bundle/policy'
import { signOwnership } from '#protocol/control/owner'
import { areGroups } from '#protocol/owner/clients'
import { parseInvite } from '../client/invite.ts'
import { parseBytes, parseCpus, parseWhole } from '../client/units.ts'
import { type Context, collect, examples, flag, text, texts, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'
import { Home } from '../live/home.ts'

const SLOTS_MAX = 1024
const LISTEN = '/ip4/0.0.0.0/tcp/0'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<invite>', "the project's invite: talko://…")
    .argument('[dir]', "the node's folder (default: node, in your home folder of talko)")
    .option('--name <name>', 'what others see (default: the name of this machine)')
    .option('--slots <n>', 'tasks run at once', '1')
    .option('--engine <engine>', 'docker (default), or process: runs the project’s programs on your bare machine, for projects you trust; may repeat', collect)
    .option('--cpus <n>', 'CPUs to lend (default all)')
    .option('--memory <amount>', 'memory to lend, like 8G (default all)')
    .option('--tag <tag>', 'what tasks may ask for (talko run --tag); may repeat', collect)
    .option('--exclusive-tag <tag>', 'a tag without which a task gets nothing here; may repeat', collect)
    .option('--mine', 'the node is yours: your tasks get it before others do')
    .option('--only-mine', 'it takes your tasks and no others')
    .option('--group <name>', "it takes the tasks of this group's clients (talko owner set --group) and yours, and no others; may repeat", collect)
    .option('--listen <address>', 'multiaddr at which other nodes fetch what lies here (default /ip4/0.0.0.0/tcp/0, any free port); may repeat', collect)
    .option('--no-listen', 'listen nowhere: other nodes come through relays')
    .option('--keep <amount>', 'room for results that other nodes leave here while the project is away; 0 keeps none (default 1G)')
    .option('--upload <amount>', 'bytes a second given to other nodes, like 512K; 0 for nothing (default 2M)')
    .option('--no-gpus', 'lend no GPU (default: all that the NVIDIA driver knows)')
    .option(
      '--no-crash-log',
      'tell the project nothing of this node’s log when it crashed with tasks in hand (default: its last lines, without paths and addresses)'
    )
    .option('--dry-run', 'say what would be made, and make nothing')
    .addHelpText(
      'after',
      examples(
        "talko node join 'talko://12D3Koo…?a=/ip4/203.0.113.7/tcp/4600'",
        "talko node join 'talko://…' /srv/talko --slots 4 --cpus 4 --memory 8G",
        "talko node join 'talko://…' --mine --tag lab --exclusive-tag big-memory",
        "talko node join 'talko://…' --mine --group physics",
        'talko node start'
      )
    )
  run(join)
}

async function join(context: Context, [given = '', dir]: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io } = context
  const invite = parseInvite(given)
  if (invite.addresses.length + invite.bootstrap.length === 0)
    throw new ClientError('usage', 'the invite has no address; ask its owner for a new one (talko invite)')
  const engines = texts(options, 'engine').length === 0 ? ['docker'] : [...new Set(texts(options, 'engine'))]
  const known = engines.filter((engine) => engine === 'docker' || engine === 'process')
  if (known.length !== engines.length) throw new ClientError('usage', `--engine is docker or process, not ${engines.join(', ')}`)
  const cpus = text(options, 'cpus')
  const memory = text(options, 'memory')
  const exclusive = texts(options, 'exclusiveTag')
  const tags = [...new Set([...texts(options, 'tag'), ...exclusive])]
  const bad = tags.find((tag) => !isTag(tag))
  if (bad !== undefined)
    throw new ClientError('usage', `a tag is 1 to 63 letters, digits and . _ : = / -, the first a letter or digit, not ${JSON.stringify(bad)}`)
  const groups = [...new Set(texts(options, 'group'))]
  if (!areGroups(groups)) throw new ClientError('usage', `--group is a name of letters, digits and . _ : = / -, at most ${TAGS_MAX} of them`)
  const listen = texts(options, 'listen')
  const upload = text(options, 'upload')
  const keep = text(options, 'keep')
  const onlyMine = flag(options, 'onlyMine')
  const settings = {
    project: invite.project,
    addresses: invite.addresses,
    bootstrap: invite.bootstrap,
    name: text(options, 'name') ?? hostname().slice(0, 64),
    slots: parseWhole(text(options, 'slots') ?? '1', '--slots', 1, SLOTS_MAX),
    engines: known,
    ...(options.listen === false ? {} : { listen: listen.length === 0 ? [LISTEN] : listen }),
    ...(keep === undefined ? {} : { keepBytes: parseBytes(keep, '--keep') }),
    ...(upload === undefined ? {} : { uploadPerSecond: parseBytes(upload, '--upload') }),
    ...(cpus === undefined ? {} : { cpuMillis: parseCpus(cpus, '--cpus') }),
    ...(memory === undefined ? {} : { memoryBytes: parseBytes(memory, '--memory') }),
    ...(tags.length === 0 ? {} : { tags }),
    ...(exclusive.length === 0 ? {} : { exclusiveTags: [...new Set(exclusive)] }),
    ...(options.gpus === false ? { gpus: 'none' as const } : {}),
    ...(options.crashLog === false ? { tellCrashes: false } : {}),
    ...(onlyMine ? { ownerOnly: true } : {}),
    ...(groups.length === 0 ? {} : { groups })
  }
  const { nodeDir } = await import('../live/node-control.ts')
  const folder = nodeDir(dir, context.home)
  if (flag(options, 'dryRun')) {
    if (io.json) io.outJson({ dryRun: true, dir: folder, ...settings })
    else io.say(`would make node ${settings.name} for project ${settings.project} in ${folder}; nothing was made`)
    return
  }
  const { initNode } = await import('#node/main')
  const signer = onlyMine || flag(options, 'mine') ? await Home.at(context.home).signer() : undefined
  const { peerId } = await initNode(folder, settings, signer === undefined ? undefined : (node) => signOwnership(signer, node, invite.project))
  if (io.json) io.outJson({ id: peerId, dir: folder, ...settings })
  else {
    io.out(peerId)
    const cores = availableParallelism()
    if (settings.slots > cores)
      io.say(`${settings.slots} slots on ${cores} cores: runs that compute will share them; \`talko node status\` tells what each has`)
    io.say(`node ${settings.name} of project ${settings.project}; start it with: talko node start${dir === undefined ? '' : ` ${dir}`}`)
  }
}
