/** What `relay.json` says. Pure. */
import { isPrivateAddress } from '#protocol/peer/addresses'
import { limitsFault, type RelayLimits } from '#protocol/relay/limits'

export interface RelaySettings {
  /** Multiaddrs to listen on. */
  readonly listen: readonly string[]
  /** Multiaddrs told to others in their place, for a relay behind a forwarded port or a name. */
  readonly announce?: readonly string[]
  /** Multiaddrs with `/p2p/<peer>` of other relays: together they are the DHT. */
  readonly bootstrap?: readonly string[]
  /** Those that differ from the defaults (protocol/relay/limits.ts). */
  readonly limits?: Partial<RelayLimits>
}

export const DEFAULT_RELAY_LISTEN = '/ip4/0.0.0.0/tcp/4610'
const ADDRESSES_MAX = 64

/** What is wrong with settings from disk or from a caller, for a person; undefined when nothing is. Then the value is RelaySettings. */
export function settingsFault(value: unknown, isAddress: (text: string) => boolean): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'not a map of settings'
  const { v, listen, announce = [], bootstrap = [], limits = {} }: Partial<Record<keyof RelaySettings | 'v', unknown>> = value
  if (v !== undefined && v !== 1) return `version ${JSON.stringify(v)} is not known; this talko reads version 1`
  if (!Array.isArray(listen) || listen.length === 0) return `\`listen\` must be a list of multiaddrs such as ${DEFAULT_RELAY_LISTEN}`
  for (const [key, list] of Object.entries({ listen, announce, bootstrap })) {
    if (!Array.isArray(list) || list.length > ADDRESSES_MAX) return `\`${key}\` is a list of at most ${ADDRESSES_MAX} addresses`
    const bad = list.find((address) => typeof address !== 'string' || !isAddress(address))
    if (bad !== undefined) return `\`${key}\`: ${JSON.stringify(bad)} is not a multiaddr like ${DEFAULT_RELAY_LISTEN}`
  }
  const nameless = Array.isArray(bootstrap) ? bootstrap.find((address) => !String(address).includes('/p2p/')) : undefined
  if (nameless !== undefined) return `\`bootstrap\`: ${nameless} must end with /p2p/ and the peer's id`
  return limitsFault(limits)
}

/**
 * Whether it is a relay of a local network, where there are no other addresses than private ones: elsewhere those that peers
 * say are theirs would be dialled, and handed on to others. Who listens everywhere listens at the machine's `own` addresses.
 */
export function isLocal({ listen, announce = [], bootstrap = [] }: RelaySettings, own: readonly string[]): boolean {
  if (announce.length > 0) return false
  const at = listen.flatMap((address) => (/^\/(ip4\/0\.0\.0\.0|ip6\/::)\//.test(address) ? own : [address]))
  return at.every(isPrivateAddress) || bootstrap.some(isPrivateAddress)
}
