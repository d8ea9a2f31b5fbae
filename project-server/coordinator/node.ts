/** A node in memory. */
import type { Link } from '#protocol/control/link'
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import { NONE } from '#protocol/lists'
import type { BanView } from '#protocol/owner/bans'
import { CLAIMS_WHOLE_PPM } from './credit.ts'
import type { NodeOffer } from './events.ts'
import type { DataAt } from './holders.ts'
import type { NodeKind } from './kinds.ts'
import type { Waiting } from './link-records.ts'
import type { Closing, Node, Outbound, Remains, Replica } from './model.ts'
import type { Newcomer } from './newcomers.ts'
import type { Next } from './next.ts'
import { ERROR_RATE_AT_FIRST_PPM } from './standing.ts'

/**
 * What a decision gives a node that is new in memory: of all nodes side by side. Where something old is given something new
 * the garbage collector takes a note of the page, and of a hundred thousand nodes each decision would be about another page.
 * Nodes never go, so that each keeps its place.
 */
export class NodeLists {
  readonly held: (readonly Replica[])[] = []
  readonly outgoing: (Outbound | null)[] = []
}

/** What every decision looks at comes first: of a hundred thousand nodes each line of the cache is fetched from the memory. */
class LiveNode implements Node {
  readonly id: PeerIdString
  offer: NodeOffer
  state: Node['state'] = 'online'
  connected = false
  lastSeenMs: number
  link: Link<Waiting> | null = null
  slots = 0
  readonly #lists: NodeLists
  readonly #index: number
  closing: Map<ReplicaId, Closing> | null = null
  asideUntilMs = 0
  marks = 0
  kind: NodeKind | null = null
  believed = false
  free = 0
  place = 0
  counted: NodeOffer | null = null
  newcomer: Newcomer | null = null
  copies = 0
  row = 0
  next: Next | null = null
  watchMs = Number.POSITIVE_INFINITY
  cpuMillis = 0
  memoryBytes = 0
  diskBytes = 0
  owed: Map<ReplicaId, Remains> | null = null
  holds: Map<string, DataAt> | null = null
  gpusTaken: Set<string> | null = null
  valid = 0
  invalid = 0
  errors = 0
  lost = 0
  availability = 1
  observedMs: number
  slowness = 1
  computed: Node['computed'] = null
  errorPpm = ERROR_RATE_AT_FIRST_PPM
  sinceMs: number
  credit = 0
  claimsPpm = CLAIMS_WHOLE_PPM
  unconfirmed: Node['unconfirmed'] = null
  failures = 0
  ban: BanView | null = null
  forgotten: Node['forgotten'] = null

  constructor(lists: NodeLists, id: PeerIdString, offer: NodeOffer, nowMs: number) {
    this.id = id
    this.offer = offer
    this.lastSeenMs = nowMs
    this.#lists = lists
    this.#index = lists.held.push(NONE) - 1
    lists.outgoing.push(null)
    this.observedMs = nowMs
    this.sinceMs = nowMs
  }

  get held(): readonly Replica[] {
    return this.#lists.held[this.#index] as readonly Replica[]
  }

  set held(held: readonly Replica[]) {
    this.#lists.held[this.#index] = held
  }

  get outgoing(): Outbound | null {
    return this.#lists.outgoing[this.#index] ?? null
  }

  set outgoing(outgoing: Outbound | null) {
    this.#lists.outgoing[this.#index] = outgoing
  }
}

export function newNode(lists: NodeLists, id: PeerIdString, offer: NodeOffer, nowMs: number): Node {
  return new LiveNode(lists, id, offer, nowMs)
}
