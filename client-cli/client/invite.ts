/** An invite names a project, where its coordinator can be dialled, and relays: `talko://<project>?a=<multiaddr>&a=…&b=<multiaddr of a relay>`. */
import { peerIdFromString } from '@libp2p/peer-id'
import type { PeerIdString } from '#protocol/ids'
import { isRelayed } from '#protocol/peer/addresses'
import { ClientError } from '../errors.ts'

export interface Invite {
  readonly project: PeerIdString
  readonly addresses: readonly string[]
  /** Relays: through them the project is reached when no address answers, and its record is found in their DHT. */
  readonly bootstrap: readonly string[]
}

export const INVITE_CHARS_MAX = 8192
export const INVITE_ADDRESSES_MAX = 32

export function formatInvite(invite: Invite): string {
  const query = [...invite.addresses.map((address) => `a=${encode(address)}`), ...invite.bootstrap.map((address) => `b=${encode(address)}`)]
  return `talko://${invite.project}${query.length === 0 ? '' : `?${query.join('&')}`}`
}

/** Throws ClientError `usage` when the text is not an invite. */
export function parseInvite(text: string): Invite {
  const wrong = (what: string): never => {
    throw new ClientError('usage', `not an invite (${what}); it looks like talko://12D3Koo…?a=/ip4/203.0.113.7/tcp/4600 and \`talko invite\` prints it`)
  }
  if (text.length > INVITE_CHARS_MAX) wrong('too long')
  const match = /^talko:\/\/([A-Za-z0-9]{20,100})\/?(?:\?(.*))?$/.exec(text)
  const project = match?.[1]
  if (project === undefined || !isPeerId(project)) return wrong('no project id')
  const query = new URLSearchParams(match?.[2] ?? '')
  const addresses = query.getAll('a')
  const bootstrap = query.getAll('b')
  if (addresses.length + bootstrap.length > INVITE_ADDRESSES_MAX) wrong('too many addresses')
  for (const address of [...addresses, ...bootstrap]) if (!/^\/[!-~]{3,400}$/.test(address)) wrong('a malformed address')
  return { project, addresses, bootstrap }
}

export function isPeerId(text: string): boolean {
  try {
    return peerIdFromString(text).type === 'Ed25519'
  } catch {
    return false
  }
}

/** Multiaddrs stay readable: only what would break the query is escaped. */
function encode(address: string): string {
  return encodeURIComponent(address).replaceAll('%2F', '/').replaceAll('%3A', ':')
}

/** Addresses as they are worth giving to others: without the machine's own when there are any better. Those through relays follow from the relays. */
export function shareable(addresses: readonly string[]): string[] {
  const bare = addresses.filter((address) => !isRelayed(address)).map((address) => address.replace(/\/p2p\/[A-Za-z0-9]+$/, ''))
  const outer = bare.filter((address) => !/^\/(ip4\/127\.|ip6\/::1\/|dns[46]?\/localhost\/)/.test(address))
  return (outer.length > 0 ? outer : bare).slice(0, INVITE_ADDRESSES_MAX)
}
