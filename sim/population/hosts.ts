/**
 * The hosts as columns of numbers: some 100 bytes each instead of a thousand for an object. Who a host is follows from the
 * seed and its number alone, so that one host more changes nobody else.
 */
import type { NodeOffer } from '#project-server/coordinator/events'
import type { Random } from '../random.ts'
import { Random as Stream } from '../random.ts'
import {
  type AvailabilityClass,
  type Clockwork,
  drawOf,
  drawZoneMs,
  firstSpan,
  newcomerSpan,
  nextSpan,
  REGION_MIX,
  type Region,
  type Share,
  type Span,
  VOLUNTEER_MIX
} from './availability.ts'
import { CALM, drawErrorRate, type ErrorModel, errorRate, type Malice, moodAt, NO_MALICE, VOLUNTEER_ERRORS } from './errors.ts'
import { FITS } from './fits.ts'
import { drawHardware } from './hardware.ts'
import { drawLifetimeMs, drawRestOfLifeMs, exitAtMs, type MassExit } from './lifetimes.ts'
import { drawAccessLine } from './network.ts'
import type { Trace } from './trace.ts'

export interface HostModel {
  readonly year: number
  readonly mix: readonly Share<AvailabilityClass>[]
  readonly regions: readonly Share<Region>[]
  readonly errors: ErrorModel
  readonly malice: Malice
  /** A host lends one slot with all of its cores, or a slot for each. */
  readonly slots: 'one' | 'cores'
  /** Whether hosts leave for good. */
  readonly mortal: boolean
  readonly exits: readonly MassExit[]
  /** Recorded hosts instead of drawn ones, by their order. */
  readonly trace: Trace | null
}

export const VOLUNTEERS: HostModel = {
  year: 2026,
  mix: VOLUNTEER_MIX,
  regions: REGION_MIX,
  errors: VOLUNTEER_ERRORS,
  malice: NO_MALICE,
  slots: 'one',
  mortal: true,
  exits: [],
  trace: null
}

export const UP = 1
export const CONNECTED = 2
export const SABOTEUR = 4
export const LEFT = 8
/** Its heartbeats up to its vanishing are still to be told. */
export const HEARD = 16
const BAD_DAY = 32

const CLASSES: readonly AvailabilityClass[] = [...(Object.keys(FITS) as (keyof typeof FITS)[]), 'diurnal']
const FOREVER_MS = 1e15
const ZONE_STEP_MS = 900_000

/** A 64-bit node's id as text is 24 bytes and a pointer. */
const ID_BYTES = 32

export class Hosts {
  readonly size: number
  ids: readonly string[]
  readonly flags: Uint8Array
  /** Of one slot. Million operations/s. */
  readonly mips: Float32Array
  readonly downBytesPerS: Float32Array
  readonly upBytesPerS: Float32Array
  /** Numbers of the control stream: last sent, last received. */
  readonly sent: Uint32Array
  readonly received: Uint32Array
  /** Runs that it reported. */
  readonly runs: Uint32Array
  /** Draws for runs, so that each has its own. */
  readonly draws: Uint32Array
  /** First slot in use; -1 for none. */
  readonly firstSlot: Int32Array
  readonly #untilMs: Float64Array
  readonly #diesMs: Float64Array
  readonly #spans: Uint32Array
  readonly #errorRate: Float32Array
  readonly #moodUntilMs: Float64Array
  readonly #kind: Uint8Array
  readonly #zone: Int8Array
  readonly #offer: Uint16Array
  readonly #model: HostModel
  readonly #world: Random
  readonly #host = new Stream(0)
  readonly #part = new Stream(0)
  readonly #offers: NodeOffer[] = []
  readonly #offerNumbers = new Map<string, number>()

  /** Room for `size` hosts, none of them there yet. */
  constructor(world: Random, model: HostModel, size: number) {
    this.size = size
    this.#world = world
    this.#model = model
    this.ids = Array.from({ length: size }, (_, host) => `host-${host}`)
    this.flags = new Uint8Array(size)
    this.mips = new Float32Array(size)
    this.downBytesPerS = new Float32Array(size)
    this.upBytesPerS = new Float32Array(size)
    this.sent = new Uint32Array(size)
    this.received = new Uint32Array(size)
    this.runs = new Uint32Array(size)
    this.draws = new Uint32Array(size)
    this.firstSlot = new Int32Array(size).fill(-1)
    this.#untilMs = new Float64Array(size)
    this.#diesMs = new Float64Array(size)
    this.#spans = new Uint32Array(size)
    this.#errorRate = new Float32Array(size)
    this.#moodUntilMs = new Float64Array(size)
    this.#kind = new Uint8Array(size)
    this.#zone = new Int8Array(size)
    this.#offer = new Uint16Array(size)
  }

  /** Of all columns and ids. */
  get bytes(): number {
    const columns = [this.flags, this.mips, this.downBytesPerS, this.upBytesPerS, this.sent, this.received, this.runs, this.draws, this.firstSlot]
    const own = [this.#untilMs, this.#diesMs, this.#spans, this.#errorRate, this.#moodUntilMs, this.#kind, this.#zone, this.#offer]
    return [...columns, ...own].reduce((sum, { byteLength }) => sum + byteLength, 0) + this.size * ID_BYTES
  }

  is(host: number, flag: number): boolean {
    return ((this.flags[host] as number) & flag) !== 0
  }

  mark(host: number, flag: number, on: boolean): void {
    const flags = this.flags[host] as number
    this.flags[host] = on ? flags | flag : flags & ~flag
  }

  /** The number of a host by its id. */
  numberOf(id: string): number {
    return Number(id.slice(5))
  }

  /** What it offers; equal offers are one object. */
  offer(host: number): NodeOffer {
    return this.#offers[this.#offer[host] as number] as NodeOffer
  }

  /** When its present span ends, or its life. */
  untilMs(host: number): number {
    return Math.min(this.#untilMs[host] as number, this.#diesMs[host] as number)
  }

  /** The host begins to exist: `newcomer` when its owner sets it up now, else it was there long before. */
  begin(host: number, nowMs: number, newcomer: boolean): void {
    const model = this.#model
    const stream = this.#world.forkInto(this.#host, host)
    const part = (name: string): Random => stream.forkInto(this.#part, name)
    const { cores, whetstoneMips, memoryBytes, diskFreeBytes } = drawHardware(part('hardware'), model.year)
    const slots = model.slots === 'one' ? 1 : cores
    this.mips[host] = model.slots === 'one' ? whetstoneMips * cores : whetstoneMips
    this.#offer[host] = this.#offerNumber(slots, cores, memoryBytes, diskFreeBytes)
    const { downBytesPerS, upBytesPerS } = drawAccessLine(part('line'))
    this.downBytesPerS[host] = downBytesPerS
    this.upBytesPerS[host] = upBytesPerS
    this.#errorRate[host] = drawErrorRate(part('errors'), model.errors)
    const clock = part('class')
    this.#kind[host] = CLASSES.indexOf(drawOf(clock, model.mix))
    this.#zone[host] = drawZoneMs(clock, drawOf(clock, model.regions)) / ZONE_STEP_MS
    if (part('malice').chance(model.malice.share)) this.mark(host, SABOTEUR, true)
    this.#diesMs[host] = FOREVER_MS
    if (model.mortal) this.#diesMs[host] = nowMs + (newcomer ? drawLifetimeMs(part('life')) : drawRestOfLifeMs(part('life')))
    for (const [number, exit] of model.exits.entries()) {
      const atMs = exitAtMs(stream.forkInto(this.#part, 'exit', number), exit)
      if (atMs !== undefined && atMs > nowMs && atMs < (this.#diesMs[host] as number)) this.#diesMs[host] = atMs
    }
    this.#enter(host, model.trace === null ? this.#firstSpan(host, nowMs, newcomer) : this.#recorded(model.trace, host, nowMs))
  }

  /** Its span is over: what follows. Marks it up or not, or gone for good. */
  turn(host: number, nowMs: number): void {
    if (nowMs >= (this.#diesMs[host] as number)) {
      this.mark(host, UP, false)
      this.mark(host, LEFT, true)
      return
    }
    const { trace } = this.#model
    if (trace !== null) this.#enter(host, this.#recorded(trace, host, nowMs))
    else {
      const stream = this.#world.forkInto(this.#host, host)
      const number = this.#spans[host] as number
      this.#spans[host] = number + 1
      const span: Span = { up: this.is(host, UP), untilMs: this.#untilMs[host] as number }
      this.#enter(host, nextSpan(this.#clockwork(host), stream, span, number, this.#part))
    }
  }

  /** A stream of its own for its next run. */
  runStream(host: number): Random {
    const number = this.draws[host] as number
    this.draws[host] = number + 1
    this.#world.forkInto(this.#host, host)
    return this.#host.forkInto(this.#part, 'run', number)
  }

  /** Wrong outputs per run now: its calm rate or that of a bad day. */
  errorRateNow(host: number, random: Random, nowMs: number): number {
    const calmRate = this.#errorRate[host] as number
    if (calmRate === 0) return 0
    const untilMs = this.#moodUntilMs[host] as number
    const mood = moodAt(random, this.#model.errors, untilMs === 0 ? CALM : { bad: this.is(host, BAD_DAY), untilMs }, nowMs)
    this.mark(host, BAD_DAY, mood.bad)
    this.#moodUntilMs[host] = mood.untilMs
    return errorRate(this.#model.errors, calmRate, mood)
  }

  #enter(host: number, { up, untilMs }: Span): void {
    this.mark(host, UP, up)
    this.#untilMs[host] = Math.min(untilMs, FOREVER_MS)
  }

  #firstSpan(host: number, nowMs: number, newcomer: boolean): Span {
    this.#world.forkInto(this.#host, host)
    return newcomer ? newcomerSpan(this.#clockwork(host), this.#host, nowMs) : firstSpan(this.#clockwork(host), this.#host, nowMs)
  }

  /** As it was recorded; a recording begins again when it is over. */
  #recorded(trace: Trace, host: number, nowMs: number): Span {
    const turn = Math.floor(nowMs / trace.lengthMs)
    const { up, untilMs } = trace.at(host % trace.names.length, nowMs - turn * trace.lengthMs)
    return { up, untilMs: turn * trace.lengthMs + Math.min(untilMs, trace.lengthMs) }
  }

  #clockwork(host: number): Clockwork {
    return { kind: CLASSES[this.#kind[host] as number] as AvailabilityClass, zoneMs: (this.#zone[host] as number) * ZONE_STEP_MS }
  }

  #offerNumber(slots: number, cores: number, memoryBytes: number, diskFreeBytes: number): number {
    // Disks are told apart by powers of two: the scheduler asks only whether there is enough.
    const diskBytes = 2 ** Math.floor(Math.log2(Math.max(1, diskFreeBytes)))
    const key = `${slots} ${cores} ${memoryBytes} ${diskBytes}`
    let number = this.#offerNumbers.get(key)
    if (number === undefined) {
      number = this.#offers.length
      // A million hosts have some 12,000 different ones.
      if (number > 0xffff) throw new RangeError('more than 65,536 kinds of hosts')
      this.#offerNumbers.set(key, number)
      const software = { name: 'a volunteer', agent: 'talko-sim', platform: 'linux/amd64', engines: ['process'], tags: [], exclusive: [], gpus: [] }
      this.#offers.push({ ...software, ownerOnly: false, owner: null, network: '', cpu: '', cpuMillis: cores * 1000, memoryBytes, diskBytes, slots })
    }
    return number
  }
}
