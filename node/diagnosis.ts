/** From what was found out about a node's network and machine to what it means and what to do. Pure. */
import { isPrivateAddress } from '#protocol/peer/addresses'

export type Nat = 'public' | 'firewall' | 'cone' | 'symmetric' | 'unknown'

export interface RelayFacts {
  readonly address: string
  readonly connected: boolean
  /** It gave a place. */
  readonly reserved: boolean
  /** Whether the project answers through it. */
  readonly project: boolean
  /** What it saw; undefined when it did not say. `open`: undefined when it did not try. */
  readonly seen: { readonly address: string; readonly open: boolean | undefined; readonly nowMs: number } | undefined
  /** Milliseconds between asking and the answer. */
  readonly askedMs: number
  readonly answeredMs: number
  /** From where it saw a UDP packet of ours come; undefined for none. */
  readonly udp: string | undefined
}

export interface Facts {
  /** Own addresses of this machine. */
  readonly own: readonly string[]
  /** Pinned addresses of the project, with why one does not answer; undefined for one that does. */
  readonly direct: readonly { readonly address: string; readonly trouble: string | undefined }[]
  readonly relays: readonly RelayFacts[]
  readonly engines: readonly { readonly engine: string; readonly trouble: string | undefined }[]
}

export interface Finding {
  readonly what: string
  readonly state: 'ok' | 'note' | 'bad'
  readonly says: string
  /** What to do about it; empty when nothing has to be done. */
  readonly todo: string
}

export interface Diagnosis {
  readonly nat: Nat
  readonly udp: boolean | undefined
  readonly inbound: boolean | undefined
  /** It can take work: the project is reached, and an engine works. */
  readonly reached: boolean
  readonly findings: readonly Finding[]
}

/** Leases and records bear times; a clock that is further off than this confuses people and, beyond an hour, programs. */
const SKEW_MS_MAX = 60_000

export function diagnose(facts: Facts): Diagnosis {
  const { direct, relays, engines } = facts
  const seen = relays.flatMap((relay) => (relay.seen === undefined ? [] : [relay.seen]))
  const udps = relays.flatMap(({ udp }) => (udp === undefined ? [] : [udp]))
  // A relay of one's own network sees nothing of what stands before it.
  const outside = seen.filter(({ address }) => !isPrivateAddress(`/${address.includes(':') ? 'ip6' : 'ip4'}/${address}/`))
  const tried = outside.flatMap(({ open }) => (open === undefined ? [] : [open]))
  const inbound = tried.length === 0 ? undefined : tried.includes(true)
  const udp = seen.length === 0 ? undefined : udps.length > 0
  const nat = natOf(facts, outside, udps, inbound)
  const viaRelay = relays.filter(({ project }) => project).length
  const works = direct.filter(({ trouble }) => trouble === undefined)
  const reached = works.length > 0 || viaRelay > 0
  const findings: Finding[] = [
    network(nat, outside[0]?.address, { near: seen.length > 0, named: relays.length > 0 }),
    ...(outside.length === 0 ? [] : [inboundOf(inbound, nat)]),
    ...(udp === undefined ? [] : [udpOf(udp)]),
    ...projectOf({ works: works.length, direct, viaRelay, relays: relays.length, answer: relays.some(({ connected }) => connected) }),
    ...(relays.length === 0 ? [] : [relaysOf(relays)]),
    ...clockOf(relays),
    ...engines.map(engineOf)
  ]
  return { nat, udp, inbound, reached, findings }
}

function natOf({ own }: Facts, seen: readonly { readonly address: string }[], udps: readonly string[], inbound: boolean | undefined): Nat {
  const outside = seen[0]?.address
  if (outside === undefined) return 'unknown'
  if (own.includes(outside)) return inbound === undefined ? 'unknown' : inbound ? 'public' : 'firewall'
  // One socket of ours, seen by two: the same router's port for both, or another for each.
  if (udps.length < 2) return 'unknown'
  return new Set(udps).size === 1 ? 'cone' : 'symmetric'
}

const NETWORKS: Readonly<Record<Nat, string>> = {
  public: 'an address of its own that everybody can reach',
  firewall: 'an address of its own behind a firewall that lets nothing in',
  cone: 'behind a router that keeps its ports (cone NAT)',
  symmetric: 'behind a router that draws a new port for every destination (symmetric NAT)',
  unknown: 'cannot be told'
}

/** `near`: a relay in this network looked; `named`: the invite names relays. */
function network(nat: Nat, outside: string | undefined, { near, named }: { readonly near: boolean; readonly named: boolean }): Finding {
  const says = `${NETWORKS[nat]}${outside === undefined ? '' : `; seen from outside as ${outside}`}`
  if (outside !== undefined) return { what: 'network', state: 'ok', says, todo: '' }
  if (near) return { what: 'network', state: 'ok', says: 'the relays are in this network too, and see nothing from outside', todo: '' }
  const todo = named
    ? 'none of the relays was there to look: ask the owner whether they run'
    : 'no relay was there to look: ask the owner for an invite that names relays (talko invite)'
  return { what: 'network', state: 'note', says, todo }
}

function inboundOf(inbound: boolean | undefined, nat: Nat): Finding {
  if (inbound === undefined) return { what: 'inbound', state: 'note', says: 'no relay had time to try', todo: 'ask again in a while' }
  if (inbound) return { what: 'inbound', state: 'ok', says: 'connections from outside get in', todo: '' }
  const todo =
    nat === 'firewall' ? 'nothing has to be done; to serve others directly, let a TCP port in and name it in node.json (listen)' : 'nothing has to be done'
  return { what: 'inbound', state: 'note', says: 'connections from outside do not get in; others come through relays', todo }
}

function udpOf(udp: boolean): Finding {
  return {
    what: 'udp',
    state: udp ? 'ok' : 'note',
    says: udp ? 'gets out and back' : 'does not get through',
    todo: udp ? '' : 'nothing has to be done: talko uses TCP'
  }
}

interface Ways {
  readonly works: number
  readonly direct: Facts['direct']
  readonly viaRelay: number
  readonly relays: number
  /** One of them at least answers. */
  readonly answer: boolean
}

function projectOf({ works, direct, viaRelay, relays, answer }: Ways): Finding[] {
  const findings: Finding[] = []
  if (direct.length > 0) {
    const why = direct.map(({ address, trouble }) => `${address}${trouble === undefined ? '' : ` (${trouble})`}`).join(', ')
    if (works > 0) findings.push({ what: 'project', state: 'ok', says: `answers directly, at ${works} of ${direct.length} addresses`, todo: '' })
    else if (viaRelay > 0)
      findings.push({ what: 'project', state: 'note', says: `does not answer directly: ${why}`, todo: 'nothing has to be done: it is reached through a relay' })
    else {
      const todo =
        'is it running? is this machine on the internet? a closed network often lets only port 443 out: ask the owner for an address there, and for relays'
      findings.push({ what: 'project', state: 'bad', says: `does not answer: ${why}`, todo })
    }
  }
  if (relays > 0) {
    const state = viaRelay > 0 ? 'ok' : works > 0 ? 'note' : 'bad'
    const says = `is reached through ${viaRelay} of ${relays} relays`
    const todo =
      viaRelay > 0
        ? ''
        : works > 0
          ? `nothing has to be done; tell the owner that the relays of the invite ${answer ? 'do not know the project' : 'do not answer'}`
          : 'ask the owner whether the project runs, and for a new invite'
    findings.push({ what: 'project', state, says, todo })
  }
  return findings
}

function relaysOf(relays: readonly RelayFacts[]): Finding {
  const connected = relays.filter((relay) => relay.connected).length
  const reserved = relays.filter((relay) => relay.reserved).length
  const says = `${connected} of ${relays.length} answer, ${reserved} give this node a place`
  if (reserved > 0) return { what: 'relays', state: 'ok', says, todo: '' }
  const todo =
    connected > 0
      ? 'they are full: others cannot fetch from this node; ask the owner for more relays'
      : 'does this network let out TCP to their ports? ask for a relay on port 443'
  return { what: 'relays', state: 'note', says, todo }
}

/** Half of the time that the answer took is on either way. */
function clockOf(relays: readonly RelayFacts[]): Finding[] {
  const skews = relays.flatMap(({ seen, askedMs, answeredMs }) => (seen === undefined ? [] : [(askedMs + answeredMs) / 2 - seen.nowMs])).sort((a, b) => a - b)
  const skew = skews[Math.floor(skews.length / 2)]
  if (skew === undefined) return []
  const seconds = Math.round(Math.abs(skew) / 1000)
  if (seconds * 1000 <= SKEW_MS_MAX) return [{ what: 'clock', state: 'ok', says: `right within ${Math.max(1, seconds)} s`, todo: '' }]
  return [
    {
      what: 'clock',
      state: 'bad',
      says: `${seconds} s ${skew > 0 ? 'ahead' : 'behind'}`,
      todo: 'set it, and keep it set (systemctl enable --now systemd-timesyncd, or chronyd)'
    }
  ]
}

function engineOf({ engine, trouble }: Facts['engines'][number]): Finding {
  return trouble === undefined
    ? { what: engine, state: 'ok', says: 'runs tasks', todo: '' }
    : { what: engine, state: 'bad', says: trouble, todo: engine === 'docker' ? 'start Docker, or let this account use it; npm run setup says how' : '' }
}
