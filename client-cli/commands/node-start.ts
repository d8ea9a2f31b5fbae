import type { Command } from 'commander'
import { parseGrace } from '../client/units.ts'
import { type Context, examples, flag, text, type Verb } from '../command.ts'

const READY_MS_MAX = 20_000
/** Below the 90 s after which service managers kill what they stop. */
const GRACE = '1m'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('[dir]', "the node's folder (default: node, in your home folder of talko)")
    .option('--detach', 'in the background; its log is the file `log` in the folder')
    .option('--grace <time>', 'when it is stopped by a signal: how long what runs may go on', GRACE)
    .option('--dry-run', 'say what would be started, and start nothing')
    .addHelpText(
      'after',
      examples('talko node start', 'talko node start /srv/talko --detach', 'talko node start --grace 10m', 'talko node status /srv/talko') +
        '\nStopped by a signal (TERM, or Ctrl-C), it takes no new task, gives back what has not begun, and ends when what runs\nhas ended and was handed over. After --grace, or at a second signal, what still runs is ended and given back.\n'
    )
  run(start)
}

async function start(context: Context, [dir]: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io, signal } = context
  const [{ askNode, nodeDir }, daemons] = await Promise.all([import('../live/node-control.ts'), import('../live/daemon.ts')])
  const folder = nodeDir(dir, context.home)
  const grace = text(options, 'grace') ?? GRACE
  const graceMs = parseGrace(grace, '--grace')
  if (flag(options, 'dryRun')) {
    if (io.json) io.outJson({ dryRun: true, dir: folder })
    else io.say(`would start the node in ${folder}; nothing was started`)
    return
  }
  if (flag(options, 'detach')) {
    const running = await daemons.runningDaemon(folder)
    if (running === undefined) {
      const id = await daemons.startDaemon(folder, 'node', ['node', 'start', folder, '--grace', grace])
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
  let end: ((mode: 'finish' | 'now') => void) | undefined
  // Before it starts: a signal that comes meanwhile stops it as one that comes later does; a second one does not wait.
  context.endsItself(() => {
    end?.('now')
    return end !== undefined
  })
  const node = await startNode({ dir: folder, logger: daemonLogger(folder, (line) => io.say(line)) })
  end = (mode) => {
    node.stop(mode, graceMs).catch(() => {})
  }
  const stop = (): void => {
    const running = node.status().replicas.filter(({ phase }) => phase === 'running').length
    if (running > 0 && graceMs > 0) io.say(`finishing ${running} running task${running === 1 ? '' : 's'} first, ${grace} at most; Ctrl-C again ends them now`)
    end?.(graceMs === 0 ? 'now' : 'finish')
  }
  try {
    await daemons.recordDaemon(folder, { role: 'node', peer: node.peerId })
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
