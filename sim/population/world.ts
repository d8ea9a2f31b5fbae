/**
 * A population of volunteers around the real coordinator. The clock moves in steps; what happens within one is applied to
 * the coordinator at its end and shares one group commit, whose effects reach the hosts in the next step. Nothing is
 * awaited: a million hosts are loops over columns.
 *
 * Heartbeats cost one event for each time that a host comes, however long it stays: they matter only to the sweep that looks
 * for silence, and the simulator knows when the host will vanish. So before a sweep every host that came since the last one,
 * or stays longer than was told, is heard of once, at the time of its last heartbeat before it vanishes. What the coordinator
 * then thinks of it is what it would think had it heard them all.
 */
import type { Effect, Event } from '#project-server/coordinator/events'
import { Random } from '../random.ts'
import { CONNECTED, HEARD, Hosts, LEFT, UP } from './hosts.ts'
import { type Ground, Leases } from './leases.ts'
import { arrivals, steadyArrivalsPerDay } from './lifetimes.ts'
import { noLineTotals, noTotals, type Sample, type Times, type Totals } from './meters.ts'
import type { WorldOptions } from './options.ts'
import { Server } from './server.ts'
import { Wheel } from './wheel.ts'

/** Over this the first hellos are spread: the world was not switched on, it is only looked at from now. */
const FIRST_HELLOS_MS = 600_000
/** How often owners look whether more is to be submitted. */
const SUBMIT_MS = 20_000
/** Until a host that was turned away says hello again. */
const RETRY_MS = 5_000
/** After an outage hosts come back over this time, and the coordinator waits as long before it misses anybody (its grace after a restart). */
const RETURN_MS = 60_000
export class World {
  readonly totals: Totals
  readonly samples: Sample[] = []
  readonly #options: WorldOptions
  readonly #hosts: Hosts
  readonly #leases: Leases
  readonly #wheel: Wheel
  readonly #server: Server
  readonly #arrivals: Float64Array
  /** Hosts whose last messages from the coordinator are to be acknowledged. */
  #acks: number[] = []
  /** Hosts whose heartbeats up to their vanishing are still to be told. */
  #heard: number[] = []
  /** What happens with the next step. */
  #later: Event[] = []
  /** Hosts that are to say hello, by the step in which they do. */
  readonly #greetings = new Map<number, number[]>()
  #step = 0
  #begun = 0
  #nextSubmit = 0
  #nextSweep = 0
  #nextSample = 0
  #online = 0
  #down = false
  /** Outages that are over. */
  #outages = 0

  constructor(options: WorldOptions) {
    const { seed, hosts, lengthMs, model } = options
    this.#options = options
    this.totals = options.line === undefined ? noTotals() : { ...noTotals(), ...noLineTotals() }
    const random = new Random(seed)
    const plan = options.arrivals ?? { perDay: model.mortal ? steadyArrivalsPerDay(hosts) : 0, crowds: [] }
    this.#arrivals = Float64Array.from(arrivals(random.fork('arrivals'), plan, 0, lengthMs))
    this.#hosts = new Hosts(random.fork('hosts'), model, hosts + this.#arrivals.length)
    this.#wheel = new Wheel(this.#hosts.size)
    this.#server = new Server(options, random.fork('owner'), this.totals)
    this.#leases = new Leases(this.#ground())
  }

  get turnaround(): Times {
    return this.#server.turnaround
  }

  /** How long inputs took over the project's line; null when it has none of its own. */
  get inputs(): Times | null {
    return this.#leases.inputs
  }

  /** Tells whether two runs were the same. */
  get hash(): string {
    return this.#server.hash
  }

  get nowMs(): number {
    return this.#step * this.#options.stepMs
  }

  get over(): boolean {
    return this.nowMs >= this.#options.lengthMs
  }

  /** Columns, timers and ids of the hosts, and of what they hold. */
  get bytesPerHost(): number {
    return (this.#hosts.bytes + this.#leases.bytes + this.#wheel.bytes) / this.#hosts.size
  }

  /** Before anything else. */
  async start(): Promise<void> {
    this.#hosts.ids = await this.#server.expect(this.#hosts.ids)
    const { hosts, stepMs } = this.#options
    const first = new Random(this.#options.seed, 'first')
    for (let host = 0; host < hosts; host++) {
      this.#hosts.begin(host, 0, false)
      this.#turnAt(host)
      if (this.#hosts.is(host, UP)) this.#isUp(host, 1 + first.below(Math.max(1, FIRST_HELLOS_MS / stepMs)))
    }
    this.#begun = hosts
  }

  /** Moves on to a time, or to the end of the world. */
  advance(untilMs: number): void {
    const end = Math.min(untilMs, this.#options.lengthMs)
    while (this.nowMs < end) this.#oneStep()
  }

  #oneStep(): void {
    const { sweepMs, sampleMs } = this.#options
    this.#step++
    const nowMs = this.nowMs
    const applied = this.totals.applied
    this.#watchOutages(nowMs)
    if (!this.#down) for (const event of this.#later.splice(0)) this.#apply(event)
    this.#acknowledge()
    this.#beginNewcomers(nowMs)
    this.#greet()
    this.#leases.move()
    this.#wheel.give(this.#step, this.#onTimer)
    if (nowMs >= this.#nextSubmit && !this.#down) {
      this.#nextSubmit = nowMs + SUBMIT_MS
      this.#server.submit(nowMs)
    }
    if (nowMs >= this.#nextSweep && !this.#down) {
      this.#nextSweep = nowMs + sweepMs
      this.#sweep()
    }
    if (this.totals.applied !== applied) for (const effect of this.#server.commit(nowMs)) this.#carryOut(effect)
    if (nowMs >= this.#nextSample) {
      this.#nextSample = nowMs + sampleMs
      this.#sample()
    }
  }

  readonly #onTimer = (timer: number): void => {
    this.totals.events++
    if (timer < this.#hosts.size) this.#turn(timer)
    else this.#leases.due(timer - this.#hosts.size)
  }

  /** A host comes or goes. */
  #turn(host: number): void {
    const hosts = this.#hosts
    const was = hosts.is(host, UP)
    hosts.turn(host, this.nowMs)
    const is = hosts.is(host, UP)
    if (!hosts.is(host, LEFT)) this.#turnAt(host)
    else this.totals.left++
    if (was && !is) this.#vanish(host)
    else if (!was && is) this.#isUp(host, this.#step)
    // It stays longer than its heartbeats have been told.
    else if (hosts.is(host, CONNECTED)) this.#hear(host)
  }

  /** It is there, and says hello in this step or a later one; after an outage, when there is one. */
  #isUp(host: number, step: number): void {
    this.#online++
    if (this.#down) return
    if (step === this.#step) this.#hello(host)
    else this.#greetAt(host, step)
  }

  /** When its present span ends. */
  #turnAt(host: number): void {
    const untilMs = this.#hosts.untilMs(host)
    if (untilMs < this.#options.lengthMs) this.#wheel.set(host, Math.max(this.#step + 1, Math.ceil(untilMs / this.#options.stepMs)))
  }

  #hello(host: number): void {
    const hosts = this.#hosts
    const node = hosts.ids[host] as string
    hosts.mark(host, CONNECTED, true)
    this.totals.hellos++
    this.#hear(host)
    this.#apply({
      kind: 'hello',
      node,
      link: node,
      spare: node,
      received: hosts.received[host] as number,
      offer: hosts.offer(host),
      replicas: this.#leases.held(host)
    })
  }

  /** It is away: what it ran stands still. */
  #vanish(host: number): void {
    const hosts = this.#hosts
    this.totals.vanished++
    this.#online--
    this.#leases.pause(host)
    if (!hosts.is(host, CONNECTED)) return
    hosts.mark(host, CONNECTED, false)
    const node = hosts.ids[host] as string
    if (hosts.runStream(host).chance(this.#options.closes)) this.#apply({ kind: 'gone', node })
    // Its last heartbeat, unless those up to now have been told.
    else if (hosts.is(host, HEARD)) this.#apply({ kind: 'heartbeat', node })
  }

  #beginNewcomers(nowMs: number): void {
    const { hosts } = this.#options
    for (let atMs = this.#arrivals[this.#begun - hosts]; atMs !== undefined && atMs <= nowMs; atMs = this.#arrivals[this.#begun - hosts]) {
      const host = this.#begun++
      this.totals.arrived++
      this.#hosts.begin(host, atMs, true)
      this.#turnAt(host)
      if (this.#hosts.is(host, UP)) this.#isUp(host, this.#step)
    }
  }

  #acknowledge(): void {
    const acks = this.#acks
    this.#acks = []
    for (const host of acks)
      if (this.#hosts.is(host, CONNECTED)) this.#apply({ kind: 'ack', node: this.#hosts.ids[host] as string, seq: this.#hosts.received[host] as number })
  }

  #greet(): void {
    const hosts = this.#greetings.get(this.#step)
    if (hosts === undefined) return
    this.#greetings.delete(this.#step)
    if (!this.#down) for (const host of hosts) if (this.#hosts.is(host, UP)) this.#hello(host)
  }

  #greetAt(host: number, step: number): void {
    const hosts = this.#greetings.get(step)
    if (hosts === undefined) this.#greetings.set(step, [host])
    else hosts.push(host)
  }

  /** The coordinator goes, or is back: hosts find out and come back one after the other. */
  #watchOutages(nowMs: number): void {
    const outage = this.#options.outages[this.#outages]
    if (outage === undefined) return
    const hosts = this.#hosts
    if (!this.#down && nowMs >= outage.fromMs) {
      this.#down = true
      for (let host = 0; host < this.#begun; host++) {
        if (!hosts.is(host, CONNECTED)) continue
        this.#leases.breakOff(host)
        hosts.mark(host, CONNECTED, false)
        // The coordinator that begins knows of no connection.
        this.#later.push({ kind: 'gone', node: hosts.ids[host] as string })
      }
    } else if (this.#down && nowMs >= outage.fromMs + outage.forMs) {
      this.#down = false
      this.#outages++
      this.#nextSweep = nowMs + RETURN_MS
      const { stepMs, seed } = this.#options
      const random = new Random(seed, 'return', this.#outages)
      for (let host = 0; host < this.#begun; host++)
        if (hosts.is(host, UP)) this.#greetAt(host, this.#step + 1 + random.below(Math.max(1, Math.floor(RETURN_MS / stepMs) - 1)))
    }
  }

  /** Tells the heartbeats up to each host's vanishing, then lets the coordinator look. */
  #sweep(): void {
    const hosts = this.#hosts
    for (const host of this.#heard) {
      hosts.mark(host, HEARD, false)
      if (!hosts.is(host, CONNECTED)) continue
      const lastMs = Math.max(this.nowMs, Math.floor(hosts.untilMs(host) - this.#options.policy.heartbeatMs / 2))
      this.#server.apply({ kind: 'heartbeat', node: hosts.ids[host] as string }, lastMs)
    }
    this.#heard = []
    this.#leases.tell()
    this.#apply({ kind: 'tick' })
  }

  #apply(event: Event): void {
    this.#server.apply(event, this.nowMs)
  }

  /** Before the next sweep the coordinator hears of it, up to its vanishing. */
  #hear(host: number): void {
    if (this.#hosts.is(host, HEARD)) return
    this.#hosts.mark(host, HEARD, true)
    this.#heard.push(host)
  }

  #carryOut(effect: Effect): void {
    if (effect.kind === 'changed' || effect.kind === 'hint' || effect.kind === 'ack' || effect.kind === 'complete' || effect.kind === 'look') return
    if (effect.kind === 'compare' || effect.kind === 'compared_enough') throw new Error('the orders of the population compare nothing')
    if (effect.kind === 'inputs') throw new Error('no host of the population finds an input at fault')
    if (effect.kind === 'save' || effect.kind === 'unsave') throw new Error('the runs of the population leave no snapshots')
    this.totals.events++
    if (effect.kind === 'pull') {
      this.#leases.pull(effect)
      return
    }
    if (effect.kind === 'recheck') {
      this.#server.recheck(effect, this.nowMs)
      return
    }
    const host = this.#hosts.numberOf(effect.node)
    if (!this.#hosts.is(host, CONNECTED)) return
    if (effect.kind === 'send') this.#receive(host, effect)
    else if (effect.kind === 'welcome') this.#leases.welcomed(host, effect)
    else if (effect.code === 'silent') throw new Error(`${effect.node} was there all the time and counts as silent`)
    else this.#greetAt(host, this.#step + Math.ceil(RETRY_MS / this.#options.stepMs))
  }

  #receive(host: number, { seq, said }: Extract<Effect, { kind: 'send' }>): void {
    if (said === undefined || seq <= (this.#hosts.received[host] as number)) return
    this.#hosts.received[host] = seq
    // Frames of one commit come one after the other, and are acknowledged as one.
    if (this.#acks.at(-1) !== host) this.#acks.push(host)
    this.#leases.told(host, said)
  }

  #sample(): void {
    this.samples.push({ ...this.totals, atMs: this.nowMs, online: this.#online, held: this.#leases.used, waiting: this.#server.waiting })
  }

  /** What the leases see of the world. */
  #ground(): Ground {
    const world = this
    return {
      options: this.#options,
      hosts: this.#hosts,
      wheel: this.#wheel,
      server: this.#server,
      totals: this.totals,
      get step() {
        return world.#step
      },
      get nowMs() {
        return world.nowMs
      },
      apply: (event) => this.#apply(event),
      later: (event) => this.#later.push(event)
    }
  }
}
