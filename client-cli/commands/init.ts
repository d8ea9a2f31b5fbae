import { resolve } from 'node:path'
import type { Command } from 'commander'
import { type Context, collect, examples, flag, text, texts, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('[dir]', 'folder of the project (default: this one)')
    .option('--name <name>', "the project's name (default: the folder's)")
    .option('--listen <address>', 'multiaddr to listen on (default /ip4/0.0.0.0/tcp/4600); may repeat', collect)
    .option('--announce <address>', 'multiaddr told to others, for a server behind a forwarded port; may repeat', collect)
    .option('--relay <address>', 'multiaddr with /p2p/ID of a relay through which a project behind a router is reached; may repeat', collect)
    .option('--owner <peer>', 'who else may submit, by peer id (you may always, and administer the project); may repeat', collect)
    .option('--dry-run', 'say what would be made, and make nothing')
    .addHelpText('after', examples('talko init primes --name "Prime numbers"', 'talko init --listen /ip4/0.0.0.0/tcp/4100', 'talko serve primes'))
  run(init)
}

async function init(context: Context, [dir = '.']: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io } = context
  const folder = resolve(dir)
  const [{ Home }, { initProject }, { isPeerId }] = await Promise.all([
    import('../live/home.ts'),
    import('#project-server/main'),
    import('../client/invite.ts')
  ])
  const home = Home.at(context.home)
  const others = texts(options, 'owner')
  const wrong = others.find((peer) => !isPeerId(peer))
  if (wrong !== undefined) throw new ClientError('usage', `--owner is a peer id like 12D3Koo…, not ${JSON.stringify(wrong)}`)
  const name = text(options, 'name') ?? folder.split('/').at(-1) ?? 'project'
  const listen = texts(options, 'listen')
  const announce = texts(options, 'announce')
  const relays = texts(options, 'relay')
  if (flag(options, 'dryRun')) {
    if (io.json) io.outJson({ dryRun: true, dir: folder, name, listen, announce, relays, owners: others })
    else io.say(`would make project ${name} in ${folder}; nothing was made`)
    return
  }
  const me = (await home.signer()).peerId
  const { id } = await initProject(folder, { name, owners: [...new Set([me, ...others])], announce, relays, ...(listen.length === 0 ? {} : { listen }) })
  await home.choose({ project: id, addresses: [], bootstrap: [] })
  if (io.json) io.outJson({ id, dir: folder, name, owners: [me, ...others] })
  else {
    io.out(id)
    io.say(`project ${name} is in ${folder} and yours (${me}); its key is project.key there: keep a copy where nobody else can read it`)
    io.say(`next: talko serve ${dir}   and then: talko invite`)
  }
}
