/** A node in memory. */
import type { Link } from '#protocol/control/link'
import type { PeerIdString } from '#protocol/ids'
import { NONE } from '#protocol/lists'
import { CLAIMS_WHOLE_PPM } from './credit.ts'
import type { NodeOffer } from './events.ts'
import type { NodeKind } from './kinds.ts'
import type { Waiting } from './link-records.ts'
import type { Node, Outbound, Replica } from './model.ts'
import type { Newcomer } from './newcomers.ts'
import type { Next } from './next.ts'
import { ERROR_RATE_AT_FIRST_PPM } from './standing.ts'

/** Times, bytes and shares, by their place among the `FIGURES` numbers of a node. */
const FIGURES = 8
const LAST_SEEN_MS = 0
const WATCH_MS = 1
const FREE_CPU_MILLIS = 2
const FREE_MEMORY_BYTES = 3
const FREE_DISK_BYTES = 4
const AVAILABILITY = 5
const OBSERVED_MS = 6
const SLOWNESS = 7
const NODES_AT_FIRST = 256

/**
 * What a decision gives a node that is new in memory: of all nodes side by side. Where something old is given something new
 * the garbage collector takes a note of the page, and of a hundred thousand nodes each decision would be about another page.
 * So is what as a field of its own were a number in a box: in one array, as of many each would have to be fetched, too. Nodes
 * never go, so that each keeps its place.
 */
export class NodeLists {
  /** Of each node, one after the other, what it holds and what is to be said to it. */
  readonly given: (readonly Replica[] | Outbound | null)[] = []
  figures = new Float64Array(NODES_AT_FIRST * FIGURES)

  /** The place of who comes next. */
  begin(): number {
    const place = this.given.push(NONE, null) / 2 - 1
    if (place * FIGURES === this.figures.length) {
      const more = new Float64Array(2 * this.figures.length)
      more.set(this.figures)
      this.figures = more
    }
    return place
  }
}

/** What hardly any node has. */
type Seldom = Pick<Node, 'closing' | 'owed' | 'holds' | 'gpusTaken' | 'computed' | 'unconfirmed' | 'ban' | 'forgotten'>

const USUAL: Readonly<Seldom> = {
  closing: null,
  owed: null,
  holds: null,
  gpusTaken: null,
  computed: null,
  unconfirmed: null,
  ban: null,
  forgotten: null
}

/** What every decision looks at comes first: of a hundred thousand nodes each line of the cache is fetched from the memory. */
class LiveNode implements Node {
  readonly id: PeerIdString
  #offer: NodeOffer
  isLocal: boolean
  mayBeNew: boolean
  state: Node['state'] = 'online'
  connected = false
  link: Link<Waiting> | null = null
  slots = 0
  readonly #lists: NodeLists
  readonly #index: number
  asideUntilMs = 0
  marks = 0
  kind: NodeKind | null = null
  believed = false
  free = 0
  place = 0
  present = false
  newcomer: Newcomer | null = null
  copies = 0
  accepted = 0
  next: Next | null = null
  valid = 0
  invalid = 0
  errors = 0
  lost = 0
  errorPpm = ERROR_RATE_AT_FIRST_PPM
  sinceMs: number
  credit = 0
  claimsPpm = CLAIMS_WHOLE_PPM
  row = 0
  failures = 0
  /** The same for all until one of them is set. */
  #seldom: Readonly<Seldom> = USUAL

  constructor(lists: NodeLists, id: PeerIdString, offer: NodeOffer, nowMs: number) {
    this.id = id
    this.#offer = offer
    this.isLocal = isLocal(offer)
    this.mayBeNew = mayBeNew(offer)
    this.#lists = lists
    this.#index = lists.begin()
    this.freeCpuMillis = offer.cpuMillis
    this.freeMemoryBytes = offer.memoryBytes
    this.freeDiskBytes = offer.diskBytes
    this.lastSeenMs = nowMs
    this.observedMs = nowMs
    this.watchMs = Number.POSITIVE_INFINITY
    this.availability = 1
    this.slowness = 1
    this.sinceMs = nowMs
  }

  get offer(): NodeOffer {
    return this.#offer
  }

  /** Of each amount, what is taken stays so. */
  set offer(offer: NodeOffer) {
    const { cpuMillis, memoryBytes, diskBytes } = this.#offer
    this.#offer = offer
    this.isLocal = isLocal(offer)
    this.mayBeNew = mayBeNew(offer)
    this.freeCpuMillis += offer.cpuMillis - cpuMillis
    this.freeMemoryBytes += offer.memoryBytes - memoryBytes
    this.freeDiskBytes += offer.diskBytes - diskBytes
  }

  get held(): readonly Replica[] {
    return this.#lists.given[2 * this.#index] as readonly Replica[]
  }

  set held(held: readonly Replica[]) {
    this.#lists.given[2 * this.#index] = held
  }

  get outgoing(): Outbound | null {
    return this.#lists.given[2 * this.#index + 1] as Outbound | null
  }

  set outgoing(outgoing: Outbound | null) {
    this.#lists.given[2 * this.#index + 1] = outgoing
  }

  get lastSeenMs(): number {
    return this.#figure(LAST_SEEN_MS)
  }

  set lastSeenMs(lastSeenMs: number) {
    this.#lists.figures[this.#at + LAST_SEEN_MS] = lastSeenMs
  }

  get watchMs(): number {
    return this.#figure(WATCH_MS)
  }

  set watchMs(watchMs: number) {
    this.#lists.figures[this.#at + WATCH_MS] = watchMs
  }

  get freeCpuMillis(): number {
    return this.#figure(FREE_CPU_MILLIS)
  }

  set freeCpuMillis(freeCpuMillis: number) {
    this.#lists.figures[this.#at + FREE_CPU_MILLIS] = freeCpuMillis
  }

  get freeMemoryBytes(): number {
    return this.#figure(FREE_MEMORY_BYTES)
  }

  set freeMemoryBytes(freeMemoryBytes: number) {
    this.#lists.figures[this.#at + FREE_MEMORY_BYTES] = freeMemoryBytes
  }

  get freeDiskBytes(): number {
    return this.#figure(FREE_DISK_BYTES)
  }

  set freeDiskBytes(freeDiskBytes: number) {
    this.#lists.figures[this.#at + FREE_DISK_BYTES] = freeDiskBytes
  }

  get availability(): number {
    return this.#figure(AVAILABILITY)
  }

  set availability(availability: number) {
    this.#lists.figures[this.#at + AVAILABILITY] = availability
  }

  get observedMs(): number {
    return this.#figure(OBSERVED_MS)
  }

  set observedMs(observedMs: number) {
    this.#lists.figures[this.#at + OBSERVED_MS] = observedMs
  }

  get slowness(): number {
    return this.#figure(SLOWNESS)
  }

  set slowness(slowness: number) {
    this.#lists.figures[this.#at + SLOWNESS] = slowness
  }

  get closing(): Seldom['closing'] {
    return this.#seldom.closing
  }

  set closing(closing: Seldom['closing']) {
    if (closing !== this.#seldom.closing) this.#own().closing = closing
  }

  get owed(): Seldom['owed'] {
    return this.#seldom.owed
  }

  set owed(owed: Seldom['owed']) {
    if (owed !== this.#seldom.owed) this.#own().owed = owed
  }

  get holds(): Seldom['holds'] {
    return this.#seldom.holds
  }

  set holds(holds: Seldom['holds']) {
    if (holds !== this.#seldom.holds) this.#own().holds = holds
  }

  get gpusTaken(): Seldom['gpusTaken'] {
    return this.#seldom.gpusTaken
  }

  set gpusTaken(gpusTaken: Seldom['gpusTaken']) {
    if (gpusTaken !== this.#seldom.gpusTaken) this.#own().gpusTaken = gpusTaken
  }

  get computed(): Seldom['computed'] {
    return this.#seldom.computed
  }

  set computed(computed: Seldom['computed']) {
    if (computed !== this.#seldom.computed) this.#own().computed = computed
  }

  get unconfirmed(): Seldom['unconfirmed'] {
    return this.#seldom.unconfirmed
  }

  set unconfirmed(unconfirmed: Seldom['unconfirmed']) {
    if (unconfirmed !== this.#seldom.unconfirmed) this.#own().unconfirmed = unconfirmed
  }

  get ban(): Seldom['ban'] {
    return this.#seldom.ban
  }

  set ban(ban: Seldom['ban']) {
    if (ban !== this.#seldom.ban) this.#own().ban = ban
  }

  get forgotten(): Seldom['forgotten'] {
    return this.#seldom.forgotten
  }

  set forgotten(forgotten: Seldom['forgotten']) {
    if (forgotten !== this.#seldom.forgotten) this.#own().forgotten = forgotten
  }

  get #at(): number {
    return this.#index * FIGURES
  }

  #figure(which: number): number {
    return this.#lists.figures[this.#at + which] as number
  }

  #own(): Seldom {
    if (this.#seldom === USUAL) this.#seldom = { ...USUAL }
    return this.#seldom
  }
}

function isLocal({ local }: NodeOffer): boolean {
  return local === true
}

function mayBeNew({ network, vouched }: NodeOffer): boolean {
  return network !== '' && vouched !== true
}

export function newNode(lists: NodeLists, id: PeerIdString, offer: NodeOffer, nowMs: number): Node {
  return new LiveNode(lists, id, offer, nowMs)
}
