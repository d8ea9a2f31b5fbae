/**
 * A small internet of network namespaces: public hosts on one segment (5.5.5.0/24, which libp2p takes for public addresses
 * and which never leaves the namespaces), and homes behind routers that translate, drop and lose as real ones do. Needs root
 * on Linux with `ip` and `iptables`; `whyNot` says what is missing.
 */
import { execFileSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { startProgram, type TestProcess } from '../support/process.ts'

/**
 * Where a host stands:
 * - `public`: an address of its own, everything gets in;
 * - `firewall`: an address of its own, only answers get in;
 * - `cone`: behind a home router that keeps ports where it can and lets answers in only (port-restricted cone);
 * - `symmetric`: behind one that draws a new port for every destination;
 * - `carrier`: behind a home router behind its provider's (double NAT);
 * - `tcp-only`: behind a home router that lets no UDP through;
 * - `web-only`: behind one that lets TCP to ports 80 and 443 through and nothing else;
 * - `far`: behind a home router on a line that loses 2 % of its packets and takes 200 ms to the server of the internet and back.
 */
export type Standing = 'public' | 'firewall' | 'cone' | 'symmetric' | 'carrier' | 'tcp-only' | 'web-only' | 'far'

export const STANDINGS: readonly Standing[] = ['public', 'firewall', 'cone', 'symmetric', 'carrier', 'tcp-only', 'web-only', 'far']

const SEGMENT = '5.5.5'
/** The first host is the server. */
const SERVER_HOST = 9
/** One that closed networks let through. */
const SERVER_PORT = 443
const ONE_WAY_MS = 100
const LOST = '0.02'
const DELAY_LINE = fileURLToPath(new URL('./delay-line.ts', import.meta.url))
const DELAY_PORT = '4000'

/** A host: programs that are started in it see its network and no other. */
export interface Place {
  readonly name: string
  readonly standing: Standing
  /** Its own address: public, or one of its home's. */
  readonly address: string
  /** What stands before a program's arguments to run it here. */
  readonly within: readonly string[]
  /** The router in front of it gets another public address; what goes on over the old one comes from nowhere known. */
  renumber(): void
}

/** Why there can be no such internet here; undefined when there can. */
export function whyNot(): string | undefined {
  if (process.platform !== 'linux') return 'network namespaces are Linux only'
  if (process.getuid?.() !== 0) return 'network namespaces need root'
  const probe = `talko-probe-${process.pid}`
  try {
    run('ip', ['netns', 'add', probe])
    run('ip', ['netns', 'exec', probe, 'iptables', '-t', 'nat', '-A', 'POSTROUTING', '-j', 'MASQUERADE', '--random-fully'])
    run('ip', ['netns', 'exec', probe, 'iptables', '-A', 'FORWARD', '-m', 'statistic', '--mode', 'random', '--probability', LOST, '-j', 'DROP'])
    return undefined
  } catch (error) {
    return `network namespaces with iptables cannot be made here: ${error instanceof Error ? error.message.split('\n').slice(0, 2).join(' ') : error}`
  } finally {
    quietly(() => run('ip', ['netns', 'del', probe]))
  }
}

export class Internet {
  /** Where the one server of this internet listens: what far hosts are far from. */
  readonly server: { readonly address: string; readonly port: number }
  /** Names of namespaces are the whole machine's. */
  readonly #prefix = `talko-${process.pid}-${next++}`
  readonly #spaces: string[] = []
  readonly #lines: TestProcess[] = []
  readonly #segment: string
  #hosts = SERVER_HOST

  constructor() {
    this.server = { address: `${SEGMENT}.${SERVER_HOST + 1}`, port: SERVER_PORT }
    this.#segment = this.#space('net')
    this.#ip(this.#segment, 'link', 'add', 'br0', 'type', 'bridge')
    this.#ip(this.#segment, 'link', 'set', 'br0', 'up')
  }

  /** A new host, the first of them the server. Its name is its own, at most 8 letters. */
  place(name: string, standing: Standing): Place {
    if (standing === 'public' || standing === 'firewall') return this.#publicPlace(name, standing)
    const wan = this.#router(`${name}-r`)
    const outer = standing === 'carrier' ? this.#home(wan, `${name}-h`, '100.64.0') : undefined
    if (outer !== undefined) translate(outer.space)
    const { space, address } = this.#home(outer?.space ?? wan, name, '192.168.1')
    if (standing === 'tcp-only' || standing === 'web-only') forbid(wan, '-p', 'udp')
    if (standing === 'web-only') forbid(wan, '-p', 'tcp', '-m', 'multiport', '!', '--dports', '80,443')
    translate(wan, ...(standing === 'symmetric' ? ['--random-fully'] : []))
    if (standing === 'far') this.#makeFar(wan)
    return this.#made(name, standing, { space, address, wan })
  }

  /** Ends what still runs in its hosts, and takes all of it away. */
  async close(): Promise<void> {
    for (const line of this.#lines) await line.kill('SIGKILL')
    for (const space of this.#spaces.reverse()) {
      for (const pid of ask('ip', ['netns', 'pids', space]).split('\n')) if (pid !== '') quietly(() => process.kill(Number(pid), 'SIGKILL'))
      quietly(() => run('ip', ['netns', 'del', space]))
    }
  }

  #made(name: string, standing: Standing, { space, address, wan }: { space: string; address: string; wan: string }): Place {
    return {
      name,
      standing,
      address,
      within: within(space),
      renumber: () => {
        const old = ask('ip', ['-n', wan, '-4', '-o', 'addr', 'show', 'dev', 'eth0']).match(/inet (\S+)/)?.[1]
        if (old === undefined) throw new Error(`${name} has no address that could change`)
        this.#ip(wan, 'addr', 'del', old, 'dev', 'eth0')
        this.#ip(wan, 'addr', 'add', `${SEGMENT}.${++this.#hosts}/24`, 'dev', 'eth0')
      }
    }
  }

  #publicPlace(name: string, standing: Standing): Place {
    const space = this.#space(name)
    const address = this.#plug(space)
    if (standing === 'firewall') answersOnly(space, 'INPUT')
    return this.#made(name, standing, { space, address, wan: space })
  }

  /** A router with its public side on the segment. */
  #router(name: string): string {
    const space = this.#space(name)
    this.#plug(space)
    return space
  }

  /** A host whose way out is `router`. */
  #home(router: string, name: string, net: string): { space: string; address: string } {
    const space = this.#space(name)
    const address = `${net}.2`
    run('ip', ['link', 'add', 'lan', 'netns', router, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space])
    this.#ip(router, 'addr', 'add', `${net}.1/24`, 'dev', 'lan')
    this.#ip(router, 'link', 'set', 'lan', 'up')
    this.#ip(space, 'addr', 'add', `${address}/24`, 'dev', 'eth0')
    this.#ip(space, 'link', 'set', 'eth0', 'up')
    this.#ip(space, 'route', 'add', 'default', 'via', `${net}.1`)
    return { space, address }
  }

  /** Not every kernel can delay packets: what passes the router's door is delayed, what leaves its house is lost. */
  #makeFar(wan: string): void {
    const { address, port } = this.server
    iptables(wan, '-t', 'nat', '-I', 'PREROUTING', '-i', 'lan', '-d', address, '-p', 'tcp', '--dport', String(port), '-j', 'REDIRECT', '--to-ports', DELAY_PORT)
    for (const [chain, side] of [
      ['OUTPUT', '-o'],
      ['INPUT', '-i']
    ] as const)
      iptables(wan, '-I', chain, side, 'eth0', '-m', 'statistic', '--mode', 'random', '--probability', LOST, '-j', 'DROP')
    this.#lines.push(startProgram(DELAY_LINE, [DELAY_PORT, `${address}:${port}`, String(ONE_WAY_MS)], {}, within(wan)))
  }

  #plug(space: string): string {
    const address = `${SEGMENT}.${++this.#hosts}`
    run('ip', ['link', 'add', `v${this.#hosts}`, 'netns', this.#segment, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', space])
    this.#ip(this.#segment, 'link', 'set', `v${this.#hosts}`, 'master', 'br0', 'up')
    this.#ip(space, 'addr', 'add', `${address}/24`, 'dev', 'eth0')
    this.#ip(space, 'link', 'set', 'eth0', 'up')
    return address
  }

  #space(name: string): string {
    const space = `${this.#prefix}-${name}`
    run('ip', ['netns', 'add', space])
    this.#spaces.push(space)
    this.#ip(space, 'link', 'set', 'lo', 'up')
    return space
  }

  #ip(space: string, ...argv: readonly string[]): void {
    run('ip', ['-n', space, ...argv])
  }
}

let next = 1

/** Consumer routers drop what nobody inside asked for, they do not refuse it. */
function translate(router: string, ...how: readonly string[]): void {
  run('ip', ['netns', 'exec', router, 'sysctl', '-qw', 'net.ipv4.ip_forward=1'])
  iptables(router, '-t', 'nat', '-A', 'POSTROUTING', '-o', 'eth0', '-j', 'MASQUERADE', ...how)
  answersOnly(router, 'FORWARD')
  iptables(router, '-A', 'FORWARD', '-i', 'lan', '-o', 'eth0', '-j', 'ACCEPT')
  answersOnly(router, 'INPUT')
  iptables(router, '-A', 'INPUT', '-i', 'lan', '-j', 'ACCEPT')
}

function answersOnly(space: string, chain: 'INPUT' | 'FORWARD'): void {
  iptables(space, '-A', chain, '-m', 'conntrack', '--ctstate', 'ESTABLISHED,RELATED', '-j', 'ACCEPT')
  if (chain === 'INPUT') iptables(space, '-A', chain, '-i', 'lo', '-j', 'ACCEPT')
  iptables(space, '-P', chain, 'DROP')
}

function forbid(router: string, ...what: readonly string[]): void {
  iptables(router, '-I', 'FORWARD', '-i', 'lan', ...what, '-j', 'DROP')
}

function iptables(space: string, ...argv: readonly string[]): void {
  run('ip', ['netns', 'exec', space, 'iptables', '-w', ...argv])
}

function within(space: string): readonly string[] {
  return ['ip', 'netns', 'exec', space]
}

function run(program: string, argv: readonly string[]): void {
  execFileSync(program, argv, { stdio: ['ignore', 'ignore', 'pipe'] })
}

function ask(program: string, argv: readonly string[]): string {
  return execFileSync(program, argv, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })
}

/** For what may be gone already. */
function quietly(act: () => void): void {
  try {
    act()
  } catch {
    return
  }
}
