import { resolve } from 'node:path'
import type { Command } from 'commander'
import { formatInvite, type Invite, shareable } from '../client/invite.ts'
import { type Context, examples, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('[dir]', 'folder of a project that is served on this machine (default: ask the chosen project)')
    .addHelpText('after', examples('talko invite', 'talko invite primes', 'talko node join "$(talko invite)"'))
  run(async (context: Context, [dir]) => {
    const { io } = context
    const invite = dir === undefined ? await asked(context) : await served(resolve(dir))
    const shown = formatInvite({ ...invite, addresses: shareable(invite.addresses) })
    if (io.json) io.outJson({ invite: shown, ...invite })
    else io.out(shown)
    return undefined
  })
}

async function asked(context: Context): Promise<Invite> {
  const client = await context.client()
  const { addresses, relays = [] } = await client.info({ signal: context.signal })
  return { project: client.project, addresses, bootstrap: relays }
}

async function served(dir: string): Promise<Invite> {
  const { runningDaemon } = await import('../live/daemon.ts')
  const daemon = await runningDaemon(dir)
  if (daemon?.role !== 'project' || daemon.peer === undefined)
    throw new ClientError('unreachable', `no project server runs on ${dir}; start it with \`talko serve ${dir}\``)
  return { project: daemon.peer, addresses: daemon.addresses ?? [], bootstrap: daemon.relays ?? [] }
}
