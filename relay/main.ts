/** The relay's front door: makes a relay's folder, and starts a relay in it. A relay carries what others say to each other and serves the DHT; it computes nothing and keeps nothing on disk but its key. */
import { networkInterfaces } from 'node:os'
import { resolve } from 'node:path'
import { CallerBook } from '#protocol/callers/serve'
import { answer, checkDoor, type Door, openDoor } from '#protocol/daemon/live/door'
import type { PeerIdString } from '#protocol/ids'
import { createHost } from '#protocol/peer/live/host'
import { serveReach } from '#protocol/reach/live/serve'
import type { RelayCounts } from '#protocol/relay/accounts'
import { DEFAULT_RELAY_LIMITS, type RelayLimits } from '#protocol/relay/limits'
import { RelayError } from './errors.ts'
import { every } from './live/every.ts'
import { makeRelayFolder, readRelayFolder } from './live/folder.ts'
import { isLocal, type RelaySettings } from './settings.ts'

export type { RelaySettings } from './settings.ts'
export { DEFAULT_RELAY_LISTEN } from './settings.ts'

/** How often the log tells what was carried, when something was. */
const REPORT_MS = 600_000

export interface Logger {
  debug(facts: object, message: string): void
  info(facts: object, message: string): void
  warn(facts: object, message: string): void
  error(facts: object, message: string): void
}

export interface RelayStatus extends RelayCounts {
  readonly peerId: PeerIdString
  readonly addresses: readonly string[]
  readonly limits: RelayLimits
}

export interface StartedRelay {
  readonly peerId: PeerIdString
  /** Multiaddrs with `/p2p/<peer>`: what invites carry. */
  addresses(): string[]
  status(): RelayStatus
  /** Ends all that it carries; peers move to other relays. */
  stop(): Promise<void>
  readonly stopped: Promise<void>
}

const SILENT: Logger = { debug() {}, info() {}, warn() {}, error() {} }

/** Makes the relay's folder: `relay.json` and its key. Throws RelayError `exists`, `bad_settings`. */
export async function initRelay(dir: string, settings: RelaySettings): Promise<{ readonly peerId: PeerIdString }> {
  const { peerId } = await makeRelayFolder(dir, settings)
  return { peerId }
}

/** Starts the relay of a folder. Throws RelayError `not_a_relay_folder`, `bad_settings`, `bad_key`, `in_use`, `storage`; HostError `address_in_use`, `bad_address`. */
export async function startRelay({ dir: given, logger = SILENT }: { readonly dir: string; readonly logger?: Logger }): Promise<StartedRelay> {
  const dir = resolve(given)
  const { settings, signer } = await readRelayFolder(dir)
  // Before its port: that a relay runs already says more than that something listens there.
  const door: Door = { what: 'relay', dir, socket: 'relay.sock', Failure: RelayError }
  await checkDoor(door)
  const { listen, announce = [], bootstrap = [] } = settings
  const limits = { ...DEFAULT_RELAY_LIMITS, ...settings.limits }
  await using opened = new AsyncDisposableStack()
  const callers = new CallerBook()
  const host = await createHost({
    signer,
    listen,
    announce,
    role: 'relay',
    relay: limits,
    onCall: (call) => callers.called(call),
    logger,
    dht: { bootstrap, serve: true, allowPrivate: isLocal(settings, ownAddresses()) }
  })
  opened.defer(() => host.stop())
  await callers.serve(host)
  opened.defer(await serveReach(host, portOf(host.addresses()[0] ?? '')))
  const status = (): RelayStatus => ({ peerId: signer.peerId, addresses: host.addresses(), limits, ...(host.relayed() as RelayCounts) })
  opened.defer(
    await openDoor(door, ({ method, url }, response) =>
      method === 'GET' && url === '/status' ? answer(response, 200, status()) : answer(response, 404, { error: 'GET /status' })
    )
  )
  let told = 0
  opened.defer(
    every(REPORT_MS, () => {
      const { peers, ...counts } = host.relayed() as RelayCounts
      if (counts.bytes !== told) logger.info({ ...counts, most: peers[0]?.peer }, 'carried')
      told = counts.bytes
    })
  )
  logger.info({ peerId: signer.peerId, addresses: host.addresses() }, 'the relay has started')
  const all = opened.move()
  const done = Promise.withResolvers<void>()
  let stopping: Promise<void> | undefined
  return {
    peerId: signer.peerId,
    addresses: () => host.addresses(),
    status,
    stop() {
      stopping ??= all.disposeAsync().then(() => {
        logger.info({ peerId: signer.peerId }, 'the relay has stopped')
        done.resolve()
      }, done.reject)
      return stopping
    },
    stopped: done.promise
  }
}

/** Multiaddrs of this machine, without ports. */
function ownAddresses(): string[] {
  return Object.values(networkInterfaces()).flatMap((entries) =>
    (entries ?? []).map(({ family, address }) => `/${family === 'IPv6' ? 'ip6' : 'ip4'}/${address}/`)
  )
}

/** UDP is answered at the port of the first address. */
function portOf(address: string): number {
  return Number(/\/tcp\/(\d+)/.exec(address)?.[1] ?? 0)
}
