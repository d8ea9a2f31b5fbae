import type { Command } from 'commander'
import { type Context, examples, flag, type Verb } from '../command.ts'

const READY_MS_MAX = 20_000

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('[dir]', "the node's folder (default: node, in your home folder of talko)")
    .option('--detach', 'in the background; its log is the file `log` in the folder')
    .option('--dry-run', 'say what would be started, and start nothing')
    .addHelpText('after', examples('talko node start', 'talko node start /srv/talko --detach', 'talko node status /srv/talko'))
  run(start)
}

async function start(context: Context, [dir]: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io, signal } = context
  const [{ askNode, nodeDir }, daemons] = await Promise.all([import('../live/node-control.ts'), import('../live/daemon.ts')])
  const folder = nodeDir(dir, context.home)
  if (flag(options, 'dryRun')) {
    if (io.json) io.outJson({ dryRun: true, dir: folder })
    else io.say(`would start the node in ${folder}; nothing was started`)
    return
  }
  if (flag(options, 'detach')) {
    const running = await daemons.runningDaemon(folder)
    if (running === undefined) {
      const id = await daemons.startDaemon(folder, 'node', ['node', 'start', folder])
      await daemons.untilReady(folder, id, READY_MS_MAX, () => askNode(folder, 'GET', '/status', signal).catch(() => undefined), signal)
    }
    const status = await askNode(folder, 'GET', '/status', signal)
    if (io.json) io.outJson(status)
    else {
      io.out(String(status.peerId))
      io.say(`${running === undefined ? 'started' : 'it runs already'}; its log is ${daemons.logPath(folder)}`)
    }
    return
  }
  const [{ startNode }, { daemonLogger }] = await Promise.all([import('#node/main'), import('../live/logger.ts')])
  const node = await startNode({ dir: folder, logger: daemonLogger(folder, (line) => io.say(line)) })
  context.endsItself()
  await daemons.recordDaemon(folder, { role: 'node', peer: node.peerId })
  const stop = (): void => {
    node.stop('now').catch(() => {})
  }
  try {
    if (io.json) io.outJson(node.status())
    else io.out(node.peerId)
    signal.addEventListener('abort', stop, { once: true })
    if (signal.aborted) stop()
    await node.stopped
  } finally {
    signal.removeEventListener('abort', stop)
    await daemons.forgetDaemon(folder)
  }
}
