/** What can be read off a multiaddr's text. Pure. */
import { multiaddr } from '@multiformats/multiaddr'

const CIRCUIT = '/p2p-circuit'

/** Whether the text is one at all. */
export function isMultiaddr(text: string): boolean {
  try {
    multiaddr(text)
    return true
  } catch {
    return false
  }
}

/** Whether what is dialled there goes through a relay. */
export function isRelayed(address: string): boolean {
  return address.includes(CIRCUIT)
}

/** The last peer that a multiaddr names. */
export function peerIn(address: string): string | undefined {
  return /\/p2p\/([A-Za-z0-9]+)$/.exec(address)?.[1]
}

/** Where a peer is reached through a relay that it has a reservation at. */
export function throughRelay(relay: string, peer: string): string {
  return `${relay}${CIRCUIT}/p2p/${peer}`
}

/** An address of a machine's own network or of itself, which means nothing elsewhere. */
export function isPrivateAddress(address: string): boolean {
  return /^\/(ip4\/(0|127|10|192\.168|172\.(1[6-9]|2\d|3[01])|169\.254|100\.(6[4-9]|[7-9]\d|1[01]\d|12[0-7]))\.|ip6\/(::1?\/|fe[89ab]|f[cd])|dns[46]?\/localhost)/.test(
    plain(address)
  )
}

/** The network that an address is in: an IPv4 address stands for itself, of an IPv6 address the first half counts. */
export function networkOf(address: string): string {
  const [, kind = '', host = ''] = plain(address).split('/')
  return kind === 'ip6' ? wide(host).slice(0, 4).join(':') : host
}

/** An IPv4 address that is written as a name, or inside an IPv6 address, as what it is: both are dialled as such. */
function plain(address: string): string {
  const [, kind = '', host = ''] = address.split('/', 3)
  const rest = address.slice(kind.length + host.length + 2)
  if (kind.startsWith('dns') && /^\d+(\.\d+){3}$/.test(host)) return `/ip4/${host}${rest}`
  if (kind !== 'ip6') return address
  const parts = wide(host.replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, ...bytes) => hexOf(bytes.slice(0, 4).map(Number)))).map((part) =>
    Number.parseInt(part, 16)
  )
  if (parts.length !== 8 || parts.slice(0, 5).some((part) => part !== 0) || parts[5] !== 0xffff) return address
  return `/ip4/${parts
    .slice(6)
    .flatMap((part) => [part >> 8, part & 255])
    .join('.')}${rest}`
}

function hexOf([a = 0, b = 0, c = 0, d = 0]: readonly number[]): string {
  return `${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
}

/** The eight parts of an IPv6 address. */
function wide(host: string): string[] {
  const [head = '', tail] = host.toLowerCase().split('::')
  const front = head === '' ? [] : head.split(':')
  if (tail === undefined) return front
  const back = tail === '' ? [] : tail.split(':')
  return [...front, ...Array.from({ length: Math.max(0, 8 - front.length - back.length) }, () => '0'), ...back]
}
