import type { Command } from 'commander'
import { parseBytes, parseWhole } from '../client/units.ts'
import { type Context, collect, examples, flag, text, texts, type Verb } from '../command.ts'

const COUNT_MAX = 1_000_000

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('[dir]', "the relay's folder (default: relay, in your home folder of talko)")
    .option('--listen <address>', 'multiaddr to listen on (default /ip4/0.0.0.0/tcp/4610); may repeat', collect)
    .option('--announce <address>', 'multiaddr told to others, for a relay behind a forwarded port or a name; may repeat', collect)
    .option('--peer <address>', 'multiaddr with /p2p/ID of another relay: together they keep the records by which projects are found; may repeat', collect)
    .option('--per-hour <amount>', 'bytes carried in an hour, like 100G')
    .option('--per-peer-hour <amount>', 'bytes carried in an hour for one peer')
    .option('--per-connection <amount>', 'bytes after which a connection has to be made anew')
    .option('--reservations <n>', 'peers that can be reached through it at once')
    .option('--dry-run', 'say what would be made, and make nothing')
    .addHelpText(
      'after',
      `${examples(
        'talko relay init',
        'talko relay init --listen /ip4/0.0.0.0/tcp/4610 --listen /ip4/0.0.0.0/tcp/443/ws --per-hour 20G',
        'talko relay init /srv/relay --peer /ip4/203.0.113.7/tcp/4610/p2p/12D3Koo…',
        'talko relay start'
      )}\nA relay needs a public address. It runs nothing, and cannot read what it carries.\n`
    )
  run(init)
}

async function init(context: Context, [dir]: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io } = context
  const [{ DEFAULT_RELAY_LISTEN, initRelay }, { relayDir }] = await Promise.all([import('#relay/main'), import('../live/node-control.ts')])
  const folder = relayDir(dir, context.home)
  const listen = texts(options, 'listen')
  const announce = texts(options, 'announce')
  const bootstrap = texts(options, 'peer')
  const bytes = (name: string, option: string): number | undefined => {
    const given = text(options, name)
    return given === undefined ? undefined : parseBytes(given, option)
  }
  const reservations = text(options, 'reservations')
  const limits = Object.fromEntries(
    Object.entries({
      bytesPerHour: bytes('perHour', '--per-hour'),
      peerBytesPerHour: bytes('perPeerHour', '--per-peer-hour'),
      circuitBytesMax: bytes('perConnection', '--per-connection'),
      reservationsMax: reservations === undefined ? undefined : parseWhole(reservations, '--reservations', 0, COUNT_MAX)
    }).filter(([, limit]) => limit !== undefined)
  )
  const settings = {
    listen: listen.length === 0 ? [DEFAULT_RELAY_LISTEN] : listen,
    ...(announce.length === 0 ? {} : { announce }),
    ...(bootstrap.length === 0 ? {} : { bootstrap }),
    ...(Object.keys(limits).length === 0 ? {} : { limits })
  }
  if (flag(options, 'dryRun')) {
    if (io.json) io.outJson({ dryRun: true, dir: folder, ...settings })
    else io.say(`would make a relay in ${folder} that listens on ${settings.listen.join(', ')}; nothing was made`)
    return
  }
  const { peerId } = await initRelay(folder, settings)
  if (io.json) io.outJson({ id: peerId, dir: folder, ...settings })
  else {
    io.out(peerId)
    io.say(`a relay is in ${folder}; its limits are in relay.json there; start it with: talko relay start${dir === undefined ? '' : ` ${dir}`}`)
  }
}
