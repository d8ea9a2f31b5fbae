/** Whom a project lets in no more: one node, all nodes of an owner, or all that call from a network. */
import { isIPv4, isIPv6 } from 'node:net'
import type { PeerIdString } from '../ids.ts'

export const BAN_KINDS = ['node', 'owner', 'network'] as const
export type BanKind = (typeof BAN_KINDS)[number]

export interface BanTarget {
  readonly kind: BanKind
  /** A peer id, or a network as `networkPrefix` writes it. */
  readonly value: string
}

export interface BanView extends BanTarget {
  /** Who banned it, when, and why. */
  readonly by: PeerIdString
  readonly atMs: number
  readonly reason: string
}

/** Body of the answer to Ban. */
export interface BanAnswer {
  readonly target: BanTarget
  /** Whether it is banned now, or would be in a dry run. */
  readonly banned: boolean
  /** The nodes that are meant and known, with the runs that they lose and their results that do not count: of tasks that are not decided. */
  readonly nodes: readonly { readonly id: PeerIdString; readonly name: string; readonly runs: number; readonly results: number }[]
  /** So many more are meant than are named. */
  readonly more: number
}

/** Bits that networks are told apart by (protocol/callers/network.ts), and those of the widest that may be banned. */
const BITS = { ipv4: { min: 8, max: 24 }, ipv6: { min: 16, max: 48 } } as const

export interface NetworkPrefix {
  /** First address of it. */
  readonly address: string
  readonly bits: number
  readonly family: 'ipv4' | 'ipv6'
}

/** `203.0.113.0/24` or `2001:db8::/32`: /8 to /24, or /16 to /48. Undefined for anything else. */
export function parseNetwork(text: string): NetworkPrefix | undefined {
  const [, address = '', digits = ''] = /^([0-9a-fA-F:.]{2,45})\/(\d{1,2})$/.exec(text) ?? []
  const family = isIPv4(address) ? 'ipv4' : isIPv6(address) ? 'ipv6' : undefined
  const bits = Number(digits)
  if (family === undefined || bits < BITS[family].min || bits > BITS[family].max) return undefined
  return { address, bits, family }
}

/** The one way to write a network: by its first address, `203.0.113.0/24` for `203.0.113.7/24`. Undefined for what is none. */
export function networkPrefix(text: string): string | undefined {
  const prefix = parseNetwork(text)
  if (prefix === undefined) return undefined
  const { address, bits, family } = prefix
  if (family === 'ipv4') return `${masked(address.split('.').map(Number), bits, 8).join('.')}/${bits}`
  const groups = masked(groupsOf(address), bits, 16).map((group) => group.toString(16))
  return `${addressOf(groups.join(':'))}/${bits}`
}

/** The eight numbers of an IPv6 address. */
function groupsOf(address: string): number[] {
  const [head = '', tail] = addressOf(address).split('::')
  const numbers = (part = ''): number[] => (part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16)))
  const [before, after] = [numbers(head), numbers(tail)]
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after]
}

/** An IPv6 address as a URL's host is spelt: shortest, in small letters. */
function addressOf(address: string): string {
  return new URL(`http://[${address}]`).hostname.slice(1, -1)
}

/** Parts of so many bits each, all but the first `bits` of them zero. */
function masked(parts: readonly number[], bits: number, each: number): number[] {
  return parts.map((part, index) => {
    const kept = Math.min(each, Math.max(0, bits - index * each))
    return part & ~(2 ** (each - kept) - 1)
  })
}

/** Why this cannot be banned; undefined when it can. */
export function banTargetFault({ kind, value }: { readonly kind: string; readonly value: string }, isPeer: (text: string) => boolean): string | undefined {
  if (!BAN_KINDS.some((one) => one === kind)) return `a node, an owner or a network is banned, not ${JSON.stringify(kind.slice(0, 32))}`
  if (kind !== 'network') return isPeer(value) ? undefined : `${kind === 'node' ? 'a node' : 'an owner'} is named by its peer id such as 12D3KooW…`
  if (parseNetwork(value) !== undefined) return undefined
  return 'a network is written as 203.0.113.0/24 or 2001:db8::/32: /8 to /24, or /16 to /48, since the project tells no narrower ones apart'
}
