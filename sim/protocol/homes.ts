/**
 * Volunteers at home, and how two of them reach each other: at once, through a hole in both their routers, over a relay, or
 * not at all. What lies before whom, how far it is and which holes can be made is drawn as the population's (population/network.ts).
 */
import type { PeerIdString } from '#protocol/ids'
import type { Engine } from '../engine/engine.ts'
import type { Region } from '../population/availability.ts'
import { type AccessNetwork, drawLatencyMs, type Path as Kind, pathBetween, punches } from '../population/network.ts'
import type { Random } from '../random.ts'
import { PairPath } from './pair-path.ts'
import type { NodePath } from './path.ts'

export interface Home extends AccessNetwork {
  readonly region: Region
}

/** A way to another volunteer, for one connection. */
export interface Way {
  readonly path: PairPath
  /** Until the two have found each other. */
  readonly setUpMs: number
}

export interface HomesPorts {
  readonly engine: Engine
  readonly random: Random
  readonly see: (what: string) => void
}

interface Member {
  readonly number: number
  readonly home: Home
  readonly path: NodePath
  /** Where it has a place, so that others may call it though its router lets nobody in. */
  relay: number | undefined
}

export const RELAYS = 2
/** Who calls over a relay has its number from there, asks for a hole, and both try: this many times there and back. */
const PUNCH_TRIPS = 3
/** Node and relay notice within this that the other is gone, and the node has a place elsewhere. */
const MOVE_MS_MAX = 30_000

export class Homes {
  readonly #ports: HomesPorts
  readonly #members = new Map<PeerIdString, Member>()
  readonly #dead = new Set<number>()
  readonly #attempts = new Map<string, number>()
  /** Connections over each relay. */
  readonly #over = new Map<number, Set<PairPath>>()

  constructor(ports: HomesPorts) {
    this.#ports = ports
  }

  add(peer: PeerIdString, home: Home, path: NodePath): void {
    const number = this.#members.size
    this.#members.set(peer, { number, home, path, relay: home.reach === 'nat' ? number % RELAYS : undefined })
  }

  /** What it tells of itself. */
  addressesOf(peer: PeerIdString): string[] | undefined {
    const member = this.#members.get(peer)
    if (member === undefined) return undefined
    if (member.home.reach !== 'nat') return [`/ip4/8.1.${member.number % 256}.1/tcp/4600`]
    return member.relay === undefined ? [] : [relayed(member.relay)]
  }

  /** Undefined where nobody knows of them, `none` where there is no way now. */
  wayBetween(from: PeerIdString, to: PeerIdString): Way | 'none' | undefined {
    const [a, b] = [this.#members.get(from), this.#members.get(to)]
    if (a === undefined || b === undefined) return undefined
    const { random, see } = this.#ports
    // Who lets nobody in is asked over its relay to call back, or for a hole.
    if (b.home.reach === 'nat' && b.relay === undefined) {
      see('a node was not reached: it has no relay')
      return 'none'
    }
    const kind = this.#kindOf(a, b)
    const betweenMs = drawLatencyMs(random, a.home.region, b.home.region)
    const overRelayMs = betweenMs + drawLatencyMs(random, b.home.region, 'europe')
    const path = new PairPath({
      random,
      from: a.path,
      to: b.path,
      ms: kind === 'relayed' ? overRelayMs : betweenMs,
      relay: kind === 'relayed' ? relayed(b.relay) : undefined
    })
    if (kind === 'relayed' && b.relay !== undefined) this.#track(b.relay, path)
    see(kind === 'direct' ? 'a node was reached directly' : kind === 'punched' ? 'a node was reached through a hole' : 'a node was reached over a relay')
    return { path, setUpMs: b.home.reach !== 'nat' ? 0 : (kind === 'punched' ? PUNCH_TRIPS : 1) * 2 * overRelayMs }
  }

  /** A relay dies for so long: who was connected over it is not any more, and who had a place there looks for another. */
  dies(relay: number, forMs: number): void {
    const { engine } = this.#ports
    this.#dead.add(relay)
    for (const path of this.#over.get(relay) ?? []) {
      this.#ports.see('a connection died with its relay')
      path.cut()
    }
    this.#over.delete(relay)
    for (const member of this.#members.values()) {
      if (member.relay !== relay) continue
      member.relay = undefined
      this.#move(member)
    }
    engine.after(forMs, () => this.#dead.delete(relay))
  }

  /** All relays work again. */
  mend(): void {
    this.#dead.clear()
  }

  #move(member: Member): void {
    const { engine, random, see } = this.#ports
    engine.after(1_000 + random.below(MOVE_MS_MAX), () => {
      const living = Array.from({ length: RELAYS }, (_, relay) => relay).filter((relay) => !this.#dead.has(relay))
      if (living.length === 0) {
        this.#move(member)
        return
      }
      member.relay = random.pick(living)
      see('a node moved to another relay')
    })
  }

  #kindOf(a: Member, b: Member): Kind {
    const kind = pathBetween(a.home, b.home)
    if (kind !== 'punched') return kind
    const pair = `${Math.min(a.number, b.number)} ${Math.max(a.number, b.number)}`
    const attempt = (this.#attempts.get(pair) ?? 0) + 1
    this.#attempts.set(pair, attempt)
    if (punches(this.#ports.random, attempt)) return 'punched'
    this.#ports.see('a hole was missed at first')
    return 'relayed'
  }

  #track(relay: number, path: PairPath): void {
    const paths = this.#over.get(relay) ?? new Set()
    this.#over.set(relay, paths.add(path))
    path.limit(this.#ports.engine, (why) => {
      paths.delete(path)
      if (why !== '') this.#ports.see(why)
    })
  }
}

function relayed(relay: number | undefined): string {
  return `/ip4/8.2.${relay}.1/tcp/4600/p2p/relay${relay}/p2p-circuit`
}
