/**
 * Tells nodes which other nodes have what they are about to fetch, and where those can be reached: the project's own line is
 * spared, and nothing depends on it. What nodes say of themselves is kept in memory alone and costs a failed dial when it is wrong.
 */
import type { PeerIdString } from '#protocol/ids'
import { OldestFirst } from '#protocol/oldest-first'
import { isPrivateAddress, isRelayed, networkOf } from '#protocol/peer/addresses'
import type { FrameStream, Host } from '#protocol/peer/host'
import { type Ask, decodeAsk, Found, NEIGHBOURS_MAX, SOURCES_FRAME_BYTES_MAX, SOURCES_MAX, SOURCES_PROTOCOL, type Source } from '#protocol/sources/messages'
import { Neighbours } from './neighbours.ts'
import {
  ASKS,
  NEIGHBOURS_LOOKED_MAX,
  SOURCE_PLACES_MAX,
  SOURCE_STREAMS_MAX,
  SOURCES_LOOKED_MAX,
  SOURCES_PER_ROOT,
  TURN_AGAIN_DRAWN_MS,
  TURN_AGAIN_MS,
  TURN_BYTES_MIN,
  TURN_NODES_MIN
} from './policy.ts'
import type { Clock, Random } from './ports.ts'
import { Rates } from './rates.ts'
import { Turns } from './turns.ts'

export interface SourcesPorts {
  readonly host: Pick<Host, 'handle'>
  readonly coordinator: {
    /** Whether it is a node that is there. */
    isOnline(node: PeerIdString): boolean
    /** Those that are there and have the tree, of at most `max` nodes, beginning with the one drawn. */
    holdersOf(root: string, draw: number, max: number): readonly PeerIdString[]
    /** Bytes of a tree that the node is without and needs. */
    comingTo(node: PeerIdString, root: string): number | undefined
    /** How many nodes have the tree, or are to have it. */
    crowdAt(root: string): number
  }
  readonly clock: Pick<Clock, 'nowMs'>
  readonly random: Random
  /** Where the project is, signed. */
  readonly record: () => Uint8Array
  /** By which nodes are put in the order that makes them neighbours. */
  readonly secret: Uint8Array
}

/** Where a node can be reached, and the network that it was seen in: undefined for one that came through a relay. */
interface Place {
  readonly addresses: readonly string[]
  readonly network: string | undefined
}

export class Sources {
  readonly #ports: SourcesPorts
  readonly #places = new OldestFirst<PeerIdString, Place>()
  readonly #asks = new Rates(ASKS)
  readonly #ring: Neighbours
  readonly #turns = new Turns()

  constructor(ports: SourcesPorts) {
    this.#ports = ports
    this.#ring = new Neighbours(ports.secret)
  }

  /** Nodes that are there and that this one asks for news of the project when it does not hear of it. */
  neighboursOf(node: PeerIdString): readonly PeerIdString[] {
    const { coordinator } = this.#ports
    return this.#ring.of(node, { max: NEIGHBOURS_MAX, looked: NEIGHBOURS_LOOKED_MAX, isFit: (other) => coordinator.isOnline(other) })
  }

  async start(): Promise<void> {
    const options = { frameBytesMax: SOURCES_FRAME_BYTES_MAX, streamsMax: SOURCE_STREAMS_MAX }
    await this.#ports.host.handle(SOURCES_PROTOCOL, options, (stream) => this.#serve(stream))
  }

  async #serve(stream: FrameStream): Promise<void> {
    const { coordinator, clock } = this.#ports
    const node = stream.remotePeer
    for await (const frame of stream.frames()) {
      const ask = decodeAsk(frame)
      if (ask === undefined || !coordinator.isOnline(node) || !this.#asks.take(node, Math.max(1, ask.roots.length), clock.nowMs())) break
      const place = this.#remember(node, stream.remoteAddress, ask)
      const record = ask.roots.length === 0 ? { record: this.#ports.record() as Uint8Array<ArrayBuffer> } : {}
      const neighbours = ask.roots.length === 0 ? this.#neighbours(node, place) : []
      await stream.write(Found.encode({ ...this.#find(node, place, ask.roots), neighbours, ...record }))
      return
    }
    stream.abort(new Error('not a question of a node that is there'))
  }

  #remember(node: PeerIdString, seenAt: string, { addresses }: Ask): Place {
    const place = { addresses, network: isRelayed(seenAt) ? undefined : networkOf(seenAt) }
    this.#places.renew(node, place)
    this.#ring.add(node)
    for (const oldest of this.#places.keep(SOURCE_PLACES_MAX)) this.#ring.remove(oldest)
    return place
  }

  #neighbours(asker: PeerIdString, here: Place): Source[] {
    return this.neighboursOf(asker).flatMap((peer) => {
      const place = this.#places.get(peer)
      const addresses = place === undefined ? [] : reachable(place, here)
      return addresses.length === 0 ? [] : [{ peer, addresses, roots: [] }]
    })
  }

  #find(asker: PeerIdString, here: Place, roots: readonly string[]): Pick<Found, 'sources' | 'laterMs'> {
    const sources = new Map<PeerIdString, Source>()
    const given: string[] = []
    for (const [index, root] of roots.entries()) {
      const holders = this.#holdersFor(asker, here, root)
      const first = this.#turnOf(asker, here, root, holders)
      if (first === undefined) {
        // What it will not fetch now either, others may.
        for (const other of given) this.#turns.leave(other, asker)
        return { sources: [], laterMs: TURN_AGAIN_MS + (this.#draw() % TURN_AGAIN_DRAWN_MS) }
      }
      given.push(root)
      const inOrder = [...holders].sort(([a], [b]) => Number(b === first) - Number(a === first))
      for (const [peer, addresses] of inOrder.slice(0, SOURCES_PER_ROOT)) {
        const known = sources.get(peer)
        if (known !== undefined) known.roots.push(index)
        else if (sources.size < SOURCES_MAX) sources.set(peer, { peer, addresses, roots: [index] })
      }
    }
    return { sources: [...sources.values()] }
  }

  /** Nodes that have the tree, and where the asker reaches them: not the same ones first for everybody. */
  #holdersFor(asker: PeerIdString, here: Place, root: string): ReadonlyMap<PeerIdString, string[]> {
    const found = new Map<PeerIdString, string[]>()
    for (const peer of this.#ports.coordinator.holdersOf(root, this.#draw(), SOURCES_LOOKED_MAX)) {
      const addresses = peer === asker ? [] : this.#reach(peer, here)
      if (addresses.length > 0) found.set(peer, addresses)
    }
    return found
  }

  /** From whom it fetches a large tree now; undefined when it does better to wait. */
  #turnOf(asker: PeerIdString, here: Place, root: string, holders: ReadonlyMap<PeerIdString, string[]>): PeerIdString | null | undefined {
    const { coordinator, clock } = this.#ports
    const bytes = coordinator.comingTo(asker, root)
    if (bytes === undefined || bytes < TURN_BYTES_MIN || coordinator.crowdAt(root) < TURN_NODES_MIN) return null
    const isFetching = (node: PeerIdString): boolean => coordinator.comingTo(node, root) !== undefined
    const canReach = (node: PeerIdString): boolean => this.#reach(node, here).length > 0
    return this.#turns.ask({ root, bytes, node: asker, holders: [...holders.keys()], isFetching, canReach }, clock.nowMs())
  }

  #reach(peer: PeerIdString, here: Place): string[] {
    const place = this.#places.get(peer)
    return place === undefined ? [] : reachable(place, here)
  }

  #draw(): number {
    return Buffer.from(this.#ports.random.bytes(4)).readUInt32BE()
  }
}

/** A private address means something to neighbours only: those whose router has the same address. */
function reachable({ addresses, network }: Place, asker: Place): string[] {
  const neighbours = network !== undefined && network === asker.network
  return addresses.filter((address) => neighbours || isRelayed(address) || !isPrivateAddress(address))
}
