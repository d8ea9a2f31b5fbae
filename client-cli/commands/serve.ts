import { resolve } from 'node:path'
import type { Command } from 'commander'
import { formatInvite, shareable } from '../client/invite.ts'
import { type Context, collect, examples, flag, texts, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'

const READY_MS_MAX = 30_000

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('[dir]', 'folder of the project (default: this one)')
    .option('--listen <address>', "multiaddr to listen on, in place of the project file's; may repeat", collect)
    .option('--clean', 'begin anew: deletes all batches, results and data of the project first; needs --yes')
    .option('--yes', 'yes, delete')
    .option('--detach', 'in the background; its log is the file `log` in the folder')
    .option('--stop', 'stop the server that runs on the folder')
    .option('--dry-run', 'say what would be done, and do nothing')
    .addHelpText(
      'after',
      examples(
        'talko serve',
        'talko serve primes --detach',
        'talko serve primes --stop',
        'talko serve primes --listen /ip4/127.0.0.1/tcp/0',
        'talko serve primes --clean --yes'
      )
    )
  run(serve)
}

async function serve(context: Context, [dir = '.']: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io, signal } = context
  const folder = resolve(dir)
  const clean = flag(options, 'clean')
  const listen = texts(options, 'listen')
  if (flag(options, 'dryRun')) {
    if (io.json) io.outJson({ dryRun: true, dir: folder, clean, listen })
    else
      io.say(
        `would ${flag(options, 'stop') ? 'stop the server of' : 'serve'} the project in ${folder}${clean ? ' after deleting all its batches, results and data' : ''}; nothing was done`
      )
    return
  }
  if (clean && !flag(options, 'yes')) throw new ClientError('usage', `--clean deletes all batches, results and data in ${folder}; add --yes to do it`)
  const daemons = await import('../live/daemon.ts')
  if (flag(options, 'stop')) {
    const running = await daemons.runningDaemon(folder)
    if (running === undefined) throw new ClientError('unreachable', `no project server runs on ${folder}`)
    await daemons.stopDaemon(running)
    if (io.json) io.outJson({ dir: folder, stopped: running.pid })
    else io.say('the project server has stopped; nodes keep what they run and come back')
    return
  }
  if (flag(options, 'detach')) {
    const running = await daemons.runningDaemon(folder)
    if (running !== undefined && clean) throw new ClientError('refused', `a server runs on ${folder}; stop it first (talko serve ${dir} --stop)`)
    const ready = async (): Promise<{ peer: string; addresses: readonly string[] } | undefined> => {
      const record = await daemons.readDaemon(folder)
      return record?.peer === undefined ? undefined : { peer: record.peer, addresses: record.addresses ?? [] }
    }
    const args = ['serve', folder, ...listen.flatMap((address) => ['--listen', address]), ...(clean ? ['--clean', '--yes'] : [])]
    if (context.home !== undefined) args.push('--home', context.home)
    const record =
      running?.peer === undefined
        ? await daemons.untilReady(folder, await daemons.startDaemon(folder, 'project', args), READY_MS_MAX, ready, signal)
        : await ready()
    if (record === undefined) return
    if (io.json) io.outJson({ id: record.peer, addresses: record.addresses })
    else {
      io.out(record.peer)
      io.say(`${running === undefined ? 'serving' : 'it runs already'}; its log is ${daemons.logPath(folder)}`)
    }
    return
  }
  const [{ startProjectServer }, { daemonLogger }, { Home }] = await Promise.all([
    import('#project-server/main'),
    import('../live/logger.ts'),
    import('../live/home.ts')
  ])
  // A signal while it starts stops it when it has; a second one does not wait.
  context.endsItself()
  const server = await startProjectServer({
    dir: folder,
    clean,
    // Neither daemon knows the other: the sandbox of nodes is handed to the project here.
    programs: async (tools) => new (await import('#node/main')).Programs(tools),
    ...(listen.length === 0 ? {} : { listen }),
    logger: daemonLogger(folder, (line) => io.say(line))
  })
  const stop = (): void => {
    server.stop().catch(() => {})
  }
  try {
    const invite = { project: server.peerId, addresses: server.addresses(), bootstrap: server.relays }
    const home = Home.at(context.home)
    if ((await home.chosen())?.project === server.peerId) await home.choose(invite)
    await daemons.recordDaemon(folder, { role: 'project', peer: server.peerId, addresses: invite.addresses, relays: server.relays })
    if (io.json) io.outJson({ id: server.peerId, epoch: server.epoch, addresses: invite.addresses, invite: formatInvite(invite) })
    else io.out(formatInvite({ ...invite, addresses: shareable(invite.addresses) }))
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    await server.stopped
  } finally {
    signal.removeEventListener('abort', stop)
    await daemons.forgetDaemon(folder)
  }
}
