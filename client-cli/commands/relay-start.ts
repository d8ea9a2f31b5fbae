import type { Command } from 'commander'
import { type Context, examples, flag, type Verb } from '../command.ts'

const READY_MS_MAX = 20_000

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('[dir]', "the relay's folder (default: relay, in your home folder of talko)")
    .option('--detach', 'in the background; its log is the file `log` in the folder')
    .option('--dry-run', 'say what would be started, and start nothing')
    .addHelpText(
      'after',
      `${examples('talko relay start', 'talko relay start /srv/relay --detach')}\nIts addresses, one a line, are printed: projects name them (talko init --relay).\n`
    )
  run(start)
}

async function start(context: Context, [dir]: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io, signal } = context
  const [{ relayDir, relayStatus }, daemons] = await Promise.all([import('../live/node-control.ts'), import('../live/daemon.ts')])
  const folder = relayDir(dir, context.home)
  if (flag(options, 'dryRun')) {
    if (io.json) io.outJson({ dryRun: true, dir: folder })
    else io.say(`would start the relay in ${folder}; nothing was started`)
    return
  }
  const show = (addresses: readonly unknown[]): void => {
    for (const address of addresses) io.out(String(address))
  }
  if (flag(options, 'detach')) {
    const running = await daemons.runningDaemon(folder)
    if (running === undefined) {
      const id = await daemons.startDaemon(folder, 'relay', ['relay', 'start', folder])
      await daemons.untilReady(folder, id, READY_MS_MAX, () => relayStatus(folder, signal).catch(() => undefined), signal)
    }
    const status = await relayStatus(folder, signal)
    if (io.json) io.outJson(status)
    else {
      show(Array.isArray(status.addresses) ? status.addresses : [])
      io.say(`${running === undefined ? 'started' : 'it runs already'}; its log is ${daemons.logPath(folder)}`)
    }
    return
  }
  const [{ startRelay }, { daemonLogger }] = await Promise.all([import('#relay/main'), import('../live/logger.ts')])
  // A signal while it starts stops it when it has; a second one does not wait.
  context.endsItself()
  const relay = await startRelay({ dir: folder, logger: daemonLogger(folder, (line) => io.say(line)) })
  const stop = (): void => {
    relay.stop().catch(() => {})
  }
  try {
    await daemons.recordDaemon(folder, { role: 'relay', peer: relay.peerId, addresses: relay.addresses() })
    if (io.json) io.outJson(relay.status())
    else show(relay.addresses())
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    await relay.stopped
  } finally {
    signal.removeEventListener('abort', stop)
    await daemons.forgetDaemon(folder)
  }
}
