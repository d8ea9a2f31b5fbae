/**
 * Which network a node calls from, by the address that the server sees: the first 24 bits of an IPv4 address, 48 of an IPv6
 * one, which is what one household or company gets. '' when that says nothing of who it is: the machine itself, addresses of
 * a local network (of a router or container bridge that all calls may come through), and relays.
 */
import { BlockList, isIPv4, isIPv6 } from 'node:net'

const SAYS_NOTHING = new BlockList()
for (const [net, bits] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  // Shared by the customers of a provider (RFC 6598).
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16]
] as const)
  SAYS_NOTHING.addSubnet(net, bits, 'ipv4')
for (const [net, bits] of [
  ['::', 127],
  ['fc00::', 7],
  ['fe80::', 10]
] as const)
  SAYS_NOTHING.addSubnet(net, bits, 'ipv6')

/** `address` is a multiaddr as text: `/ip4/203.0.113.7/tcp/4000`. */
export function networkOf(address: string): string {
  const [, kind, ip = ''] = address.split('/')
  if (address.includes('/p2p-circuit')) return ''
  if (kind === 'ip4' && isIPv4(ip)) return ofIpv4(ip)
  if (kind !== 'ip6' || !isIPv6(ip) || SAYS_NOTHING.check(ip, 'ipv6')) return ''
  const groups = groupsOf(ip)
  const mapped = groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff
  if (mapped) return ofIpv4([groups[6], groups[7]].flatMap((group = 0) => [group >>> 8, group & 255]).join('.'))
  const prefix = groups.slice(0, 3).map((group) => group.toString(16))
  return `${prefix.join(':')}::/48`
}

/** The machine itself, or a local network: not a relay, whatever it is reached by. */
export function isLocal(address: string): boolean {
  const [, kind, ip = ''] = address.split('/')
  if (address.includes('/p2p-circuit')) return false
  if (kind === 'ip4') return isIPv4(ip) && SAYS_NOTHING.check(ip, 'ipv4')
  return kind === 'ip6' && isIPv6(ip) && SAYS_NOTHING.check(ip, 'ipv6')
}

function ofIpv4(ip: string): string {
  return SAYS_NOTHING.check(ip, 'ipv4') ? '' : `${ip.slice(0, ip.lastIndexOf('.'))}.0/24`
}

/** The eight numbers of an IPv6 address, whichever way it is spelt: as a URL's host it has one form only. */
function groupsOf(ip: string): number[] {
  const zoneless = ip.split('%')[0]
  const [head = '', tail] = new URL(`http://[${zoneless}]`).hostname.slice(1, -1).split('::')
  const numbers = (part: string): number[] => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const before = numbers(head)
  const after = tail === undefined ? [] : numbers(tail)
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after]
}
