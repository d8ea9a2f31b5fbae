/**
 * A population of volunteers around the real coordinator. The clock moves in steps; what happens within one is applied to
 * the coordinator at its end and shares one group commit, whose effects reach the hosts in the next step. Nothing is
 * awaited: a million hosts are loops over columns.
 *
 * Heartbeats cost one event for each time that a host was heard of, however long it stays: a host's heartbeats matter only
 * to the sweep that looks for silence, and the simulator knows when the host will vanish. So before a sweep every host that
 * said something since the last one is heard of once more, at the time of its last heartbeat before it vanishes. What the
 * coordinator then thinks of it is what it would think had it heard them all.
 */
import { Coordinator } from '#project-server/coordinator/coordinator'
import type { Effect, Event, Unsigned } from '#project-server/coordinator/events'
import type { CoordinatorPolicy } from '#project-server/coordinator/policy'
import { decodeBatchRecord } from '#project-server/coordinator/records'
import { parseTaskId, replicaId, taskId } from '#protocol/ids'
import { Random } from '../random.ts'
import { batchIdOf, batchNumberOf } from './batch-ids.ts'
import { drawOutcome } from './errors.ts'
import { CONNECTED, HEARD, type HostModel, Hosts, LEFT, SABOTEUR, UP } from './hosts.ts'
import { type Arrivals, arrivals, steadyArrivalsPerDay } from './lifetimes.ts'
import { noTotals, type Sample, Times, type Totals } from './meters.ts'
import { type OrderKind, OrderReader } from './orders.ts'
import { needsRegistry, registryOf } from './registry.ts'
import { drawRunMs, type RunModel } from './runs.ts'
import { ASKING, ENDING, FETCHING, HANDING, RUNNING, Slots } from './slots.ts'
import { Wheel } from './wheel.ts'
import { Owner, type Workload } from './workload.ts'

export interface WorldOptions {
  readonly seed: number | string
  /** Hosts at the beginning, there or away. */
  readonly hosts: number
  readonly lengthMs: number
  readonly model: HostModel
  readonly runs: RunModel
  readonly workload: Workload
  readonly policy: CoordinatorPolicy
  /** Without, as many arrive as leave. */
  readonly arrivals: Arrivals | null
  /** The clock's step, and the coordinator's slow sweep: every half second in production, less often here, since it looks at every node. */
  readonly stepMs: number
  readonly sweepMs: number
  readonly sampleMs: number
  /** Share of the vanishings that end the control stream: a machine that is shut down does, one that sleeps does not. */
  readonly closes: number
  /** Whether a run that was under way goes on when its host is back (a machine that slept) or begins anew (one that was shut down). */
  readonly keeps: boolean
}

/** Over this the first hellos are spread: the world was not switched on, it is only looked at from now. */
const FIRST_HELLOS_MS = 600_000
/** Until a host that was turned away says hello again. */
const RETRY_STEPS = 5
const SIGNATURE = new Uint8Array(64)
/** What a result takes in a store; nobody looks inside. */
const BODY = new Uint8Array(320)
const SEAL = { leaves: new Uint8Array(32), signature: SIGNATURE }

export class World {
  readonly totals: Totals = noTotals()
  readonly samples: Sample[] = []
  readonly turnaround = new Times()
  readonly #options: WorldOptions
  readonly #hosts: Hosts
  readonly #slots: Slots
  readonly #wheel: Wheel
  readonly #owner: Owner
  readonly #coordinator: Coordinator
  readonly #orders = new OrderReader()
  readonly #arrivals: Float64Array
  readonly #scratch = new Random(0)
  readonly #closing: Random
  /** Hosts whose last messages from the coordinator are to be acknowledged. */
  #acks: number[] = []
  /** Hosts that said something since their heartbeats were last told. */
  #heard: number[] = []
  /** What happens with the next step. */
  #later: Event[] = []
  /** Hosts that were turned away, by the step in which they try again. */
  readonly #retries = new Map<number, number[]>()
  /** Latest record of each batch that is not over. */
  readonly #records = new Map<number, Uint8Array>()
  #step = 0
  #begun = 0
  #nextSweep = 0
  #nextSample = 0
  #online = 0
  #waiting = 0
  #receiver = 0

  constructor(options: WorldOptions) {
    const { seed, hosts, lengthMs, model, policy, workload } = options
    this.#options = options
    const random = new Random(seed)
    const plan = options.arrivals ?? { perDay: model.mortal ? steadyArrivalsPerDay(hosts) : 0, crowds: [] }
    this.#arrivals = Float64Array.from(arrivals(random.fork('arrivals'), plan, 0, lengthMs))
    this.#hosts = new Hosts(random.fork('hosts'), model, hosts + this.#arrivals.length)
    this.#wheel = new Wheel(this.#hosts.size)
    this.#slots = new Slots(hosts, (rows) => this.#wheel.grow(this.#hosts.size + rows))
    this.#owner = new Owner(workload, random.fork('owner'))
    this.#closing = random.fork('closing')
    this.#coordinator = new Coordinator({ project: 'the-project', epoch: 1, policy: { ...policy, restartGraceMs: 0 }, signer: { sign: () => SIGNATURE } })
  }

  get nowMs(): number {
    return this.#step * this.#options.stepMs
  }

  get over(): boolean {
    return this.nowMs >= this.#options.lengthMs
  }

  /** Columns, timers and ids of the hosts, and of what they hold. */
  get bytesPerHost(): number {
    return (this.#hosts.bytes + this.#slots.bytes + this.#wheel.bytes) / this.#hosts.size
  }

  /** Before anything else. */
  async start(): Promise<void> {
    if (needsRegistry(this.#hosts.size)) await this.#coordinator.load(registryOf(this.#hosts.ids), 0)
    const { hosts, stepMs } = this.#options
    const first = new Random(this.#options.seed, 'first')
    for (let host = 0; host < hosts; host++) {
      this.#hosts.begin(host, 0, false)
      // Those that are there are met one after the other: their span begins with their hello.
      if (this.#hosts.is(host, UP)) this.#wheel.set(host, 1 + first.below(Math.max(1, FIRST_HELLOS_MS / stepMs)))
      else this.#turnAt(host)
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
    for (const event of this.#later.splice(0)) this.#apply(event)
    this.#acknowledge()
    this.#welcomeNewcomers(nowMs)
    this.#retry()
    this.#wheel.give(this.#step, this.#onTimer)
    if (nowMs >= this.#nextSweep) {
      this.#nextSweep = nowMs + sweepMs
      this.#sweep()
    }
    if (this.totals.applied !== applied) this.#commit()
    if (nowMs >= this.#nextSample) {
      this.#nextSample = nowMs + sampleMs
      this.#sample()
    }
  }

  readonly #onTimer = (timer: number): void => {
    this.totals.events++
    if (timer < this.#hosts.size) this.#turn(timer)
    else this.#onSlot(timer - this.#hosts.size)
  }

  /** A host comes or goes. */
  #turn(host: number): void {
    const hosts = this.#hosts
    const nowMs = this.nowMs
    if (hosts.is(host, UP) && !hosts.is(host, CONNECTED) && hosts.untilMs(host) > nowMs) {
      this.#arrive(host)
      return
    }
    const was = hosts.is(host, CONNECTED)
    hosts.turn(host, nowMs)
    if (was && !hosts.is(host, UP)) this.#vanish(host)
    else if (!was && hosts.is(host, UP)) {
      this.#arrive(host)
      return
    }
    if (hosts.is(host, LEFT)) this.totals.left++
    else this.#turnAt(host)
    // It stays longer than its heartbeats have been told.
    if (was && hosts.is(host, UP)) this.#hear(host)
  }

  /** When its present span ends. */
  #turnAt(host: number): void {
    const untilMs = this.#hosts.untilMs(host)
    if (untilMs < this.#options.lengthMs) this.#wheel.set(host, Math.max(this.#step + 1, Math.ceil(untilMs / this.#options.stepMs)))
  }

  #arrive(host: number): void {
    this.#hosts.mark(host, CONNECTED, true)
    this.#online++
    this.#turnAt(host)
    this.#hello(host)
  }

  #hello(host: number): void {
    const hosts = this.#hosts
    const replicas: string[] = []
    for (let slot = hosts.firstSlot[host] as number; slot !== -1; slot = this.#slots.after(slot))
      if (this.#slots.state[slot] !== HANDING) replicas.push(this.#replicaOf(slot))
    const node = hosts.ids[host] as string
    this.totals.hellos++
    this.#say(host, { kind: 'hello', node, link: node, received: hosts.received[host] as number, offer: hosts.offer(host), replicas })
  }

  /** It is away: what it ran stands still. */
  #vanish(host: number): void {
    const hosts = this.#hosts
    const slots = this.#slots
    this.totals.vanished++
    this.#online--
    hosts.mark(host, CONNECTED, false)
    for (let slot = hosts.firstSlot[host] as number, after = -1; slot !== -1; slot = after) {
      after = slots.after(slot)
      const timer = hosts.size + slot
      const due = this.#wheel.dueAt(timer)
      this.#wheel.clear(timer)
      const state = slots.state[slot]
      if (state === HANDING) {
        this.#later.push({ kind: 'pulled', task: this.#taskOf(slot), node: hosts.ids[host] as string, ok: false, message: 'the node is away' })
        slots.give(slot, hosts.firstSlot)
      } else if (state === ENDING) slots.give(slot, hosts.firstSlot)
      else if (due !== undefined) {
        const left = (due - this.#step) * this.#options.stepMs
        if (state === RUNNING) this.totals.busyMs -= left
        slots.leftMs[slot] = left
      }
    }
    const node = hosts.ids[host] as string
    if (this.#closing.chance(this.#options.closes)) this.#apply({ kind: 'gone', node })
    // Its last heartbeat, unless those up to now have been told.
    else if (hosts.is(host, HEARD)) this.#apply({ kind: 'heartbeat', node })
  }

  /** A row of the table is due. */
  #onSlot(slot: number): void {
    const slots = this.#slots
    switch (slots.state[slot]) {
      case FETCHING:
        this.#askToStart(slot)
        return
      case RUNNING:
        this.#finish(slot)
        return
      case ENDING:
        this.#giveBack(slot, 'cancelled', '')
        return
      case HANDING: {
        const host = slots.host[slot] as number
        this.#apply({ kind: 'pulled', task: this.#taskOf(slot), node: this.#hosts.ids[host] as string, ok: true, message: '' })
        this.totals.movedBytes += this.#options.workload.outputBytes
        slots.give(slot, this.#hosts.firstSlot)
      }
    }
  }

  #askToStart(slot: number): void {
    const host = this.#slots.host[slot] as number
    this.#slots.state[slot] = ASKING
    const seq = this.#nextSeq(host)
    this.#say(host, { kind: 'start', node: this.#hosts.ids[host] as string, seq, replicas: [{ replica: this.#replicaOf(slot), epoch: 1 }] })
  }

  /** It may start: how long it will run is drawn now, and how it comes out when it has. */
  #run(slot: number): void {
    const slots = this.#slots
    const host = slots.host[slot] as number
    const random = this.#hosts.runStream(host)
    const millionOps = this.#owner.millionOps(this.#scratch, slots.batch[slot] as number, slots.index[slot] as number)
    slots.state[slot] = RUNNING
    this.#goOn(slot, drawRunMs(random, this.#options.runs, millionOps, this.#hosts.mips[host] as number))
    this.totals.granted++
  }

  #goOn(slot: number, leftMs: number): void {
    const steps = Math.max(1, Math.ceil(leftMs / this.#options.stepMs))
    this.#slots.leftMs[slot] = leftMs
    if (this.#slots.state[slot] === RUNNING) this.totals.busyMs += steps * this.#options.stepMs
    this.#wheel.set(this.#hosts.size + slot, this.#step + steps)
  }

  #finish(slot: number): void {
    const hosts = this.#hosts
    const slots = this.#slots
    const { model } = this.#options
    const host = slots.host[slot] as number
    const random = hosts.runStream(host)
    const runs = hosts.runs[host] as number
    const outcome = drawOutcome(random, model.errors, model.malice, {
      saboteur: hosts.is(host, SABOTEUR),
      runs,
      errorRate: hosts.errorRateNow(host, random, this.nowMs)
    })
    if (outcome.kind === 'failed') {
      this.totals.errors++
      this.#giveBack(slot, 'node', outcome.code)
      return
    }
    const batch = this.#owner.batches[slots.batch[slot] as number]
    if (batch === undefined) throw new Error('a run of no batch')
    hosts.runs[host] = runs + 1
    this.totals.reported++
    if (outcome.kind === 'wrong') this.totals.reportedWrong++
    const node = hosts.ids[host] as string
    const replica = this.#replicaOf(slot)
    const lie = outcome.kind === 'wrong' ? this.#owner.wrong(outcome.which === 'shared' ? `lie ${this.#taskOf(slot)}` : `error ${replica}`) : undefined
    const result = this.#owner.result(batch, node, replica, lie)
    slots.give(slot, hosts.firstSlot)
    this.#say(host, { kind: 'reports', node, seq: this.#nextSeq(host), results: [{ result, body: BODY }], seal: SEAL })
  }

  #giveBack(slot: number, kind: string, code: string): void {
    const host = this.#slots.host[slot] as number
    const replica = this.#replicaOf(slot)
    this.#slots.give(slot, this.#hosts.firstSlot)
    this.#say(host, {
      kind: 'returned',
      node: this.#hosts.ids[host] as string,
      seq: this.#nextSeq(host),
      replicas: [{ replica, class: kind, code, message: '' }]
    })
  }

  #welcomeNewcomers(nowMs: number): void {
    const { hosts } = this.#options
    for (let atMs = this.#arrivals[this.#begun - hosts]; atMs !== undefined && atMs <= nowMs; atMs = this.#arrivals[this.#begun - hosts]) {
      const host = this.#begun++
      this.totals.arrived++
      this.#hosts.begin(host, atMs, true)
      if (this.#hosts.is(host, UP)) this.#arrive(host)
      else this.#turnAt(host)
    }
  }

  #acknowledge(): void {
    const acks = this.#acks
    this.#acks = []
    for (const host of acks)
      if (this.#hosts.is(host, CONNECTED)) this.#say(host, { kind: 'ack', node: this.#hosts.ids[host] as string, seq: this.#hosts.received[host] as number })
  }

  #retry(): void {
    const hosts = this.#retries.get(this.#step)
    if (hosts === undefined) return
    this.#retries.delete(this.#step)
    for (const host of hosts) if (this.#hosts.is(host, CONNECTED)) this.#hello(host)
  }

  /** Tells the heartbeats up to each host's vanishing, submits what is due, then lets the coordinator look. */
  #sweep(): void {
    const hosts = this.#hosts
    for (const host of this.#heard) {
      hosts.mark(host, HEARD, false)
      if (!hosts.is(host, CONNECTED)) continue
      const lastMs = Math.max(this.nowMs, hosts.untilMs(host) - this.#options.policy.heartbeatMs / 2)
      this.totals.events++
      this.totals.applied++
      this.#coordinator.apply({ kind: 'heartbeat', node: hosts.ids[host] as string }, lastMs)
    }
    this.#heard = []
    this.#apply({ kind: 'tick' })
    this.#submit()
  }

  #submit(): void {
    this.#waiting = 0
    for (const number of this.#records.keys()) this.#waiting += this.#coordinator.batch(batchIdOf(number))?.created ?? 0
    for (let event = this.#owner.submit(this.nowMs, this.#waiting); event !== undefined; event = this.#owner.submit(this.nowMs, this.#waiting)) {
      if (this.#coordinator.refusal(event) !== undefined) return
      this.#waiting += event.bundles.length
      this.totals.submitted += event.bundles.length
      this.#records.set(this.#owner.batches.length - 1, SIGNATURE)
      this.#apply(event)
    }
  }

  #apply(event: Event): void {
    this.totals.events++
    this.totals.applied++
    this.#coordinator.apply(event, this.nowMs)
  }

  /** An event of a host: the sweep must know that it was heard of. */
  #say(host: number, event: Event): void {
    this.#hear(host)
    this.#apply(event)
  }

  #hear(host: number): void {
    if (this.#hosts.is(host, HEARD)) return
    this.#hosts.mark(host, HEARD, true)
    this.#heard.push(host)
  }

  #nextSeq(host: number): number {
    const seq = (this.#hosts.sent[host] as number) + 1
    this.#hosts.sent[host] = seq
    return seq
  }

  #commit(): void {
    const { changes, effects, unsigned } = this.#coordinator.take()
    const { totals } = this
    totals.commits++
    totals.changes += changes.length
    const over: number[] = []
    for (const { key, value } of changes) {
      totals.changedBytes += key.length + (value?.length ?? 0)
      if (value !== null && key.startsWith('batch/')) this.#records.set(batchNumberOf(key.slice('batch/'.length)), value)
      else if (value === null && key.startsWith('open/')) over.push(batchNumberOf(key.slice('open/'.length)))
    }
    for (const number of over) this.#close(number)
    for (const one of unsigned) this.#judge(one)
    for (const effect of effects) this.#carryOut(effect)
  }

  /** A batch is over: what failed in it is known now. */
  #close(number: number): void {
    const record = this.#records.get(number)
    this.#records.delete(number)
    if (record !== undefined) this.totals.failed += decodeBatchRecord(record).failed
  }

  /** A task was decided: the world knows the truth. */
  #judge({ receipt: { task, vote } }: Unsigned): void {
    const parts = parseTaskId(task)
    const batch = parts === undefined ? undefined : this.#owner.batches[batchNumberOf(parts.batch)]
    if (batch === undefined) throw new Error(`a receipt of no task: ${task}`)
    this.totals.ready++
    if (vote !== batch.vote) this.totals.wrong++
    this.turnaround.add(this.nowMs - batch.submittedAtMs)
  }

  #carryOut(effect: Effect): void {
    if (effect.kind === 'changed' || effect.kind === 'ack') return
    this.totals.events++
    if (effect.kind === 'pull') {
      this.#pull(effect)
      return
    }
    const host = this.#hosts.numberOf(effect.node)
    if (!this.#hosts.is(host, CONNECTED)) return
    if (effect.kind === 'send') this.#receive(host, effect.seq, effect.frame)
    else if (effect.kind === 'welcome') this.#welcomed(host, effect)
    else if (effect.code === 'silent') throw new Error(`${effect.node} was there all the time and counts as silent`)
    else this.#retryLater(host)
  }

  #retryLater(host: number): void {
    const step = this.#step + RETRY_STEPS
    const hosts = this.#retries.get(step)
    if (hosts === undefined) this.#retries.set(step, [host])
    else hosts.push(host)
  }

  /** What it holds goes on, but for what it is told to drop. */
  #welcomed(host: number, { resumed, unknown }: Extract<Effect, { kind: 'welcome' }>): void {
    const hosts = this.#hosts
    const slots = this.#slots
    if (!resumed) {
      hosts.sent[host] = 0
      hosts.received[host] = 0
    }
    for (let slot = hosts.firstSlot[host] as number, after = -1; slot !== -1; slot = after) {
      after = slots.after(slot)
      if (slots.state[slot] === HANDING) continue
      if (!resumed || (unknown.length > 0 && unknown.includes(this.#replicaOf(slot)))) this.#drop(slot)
      else if (slots.state[slot] === ASKING) this.#askToStart(slot)
      else if (this.#wheel.dueAt(hosts.size + slot) === undefined) this.#resume(slot)
    }
  }

  #resume(slot: number): void {
    if (this.#slots.state[slot] === RUNNING && !this.#options.keeps) {
      this.totals.granted--
      this.#run(slot)
    } else this.#goOn(slot, this.#slots.leftMs[slot] as number)
  }

  #receive(host: number, seq: number, frame: Uint8Array): void {
    if (seq <= (this.#hosts.received[host] as number)) return
    this.#hosts.received[host] = seq
    this.#acks.push(host)
    this.#receiver = host
    this.#orders.read(frame, this.#onOrder)
  }

  readonly #onOrder = (kind: OrderKind, batch: number, index: number, attempt: number): void => {
    if (kind === 'release') return
    const hosts = this.#hosts
    const host = this.#receiver
    if (kind === 'lease') {
      const slot = this.#slots.take(host, hosts.firstSlot, FETCHING)
      this.#slots.batch[slot] = batch
      this.#slots.index[slot] = index
      this.#slots.attempt[slot] = attempt
      this.totals.leased++
      const { inputBytes } = this.#options.workload
      this.totals.movedBytes += inputBytes
      this.#goOn(slot, (1000 * inputBytes) / (hosts.downBytesPerS[host] as number))
      return
    }
    const slot = this.#slots.find(hosts.firstSlot[host] as number, batch, index, attempt)
    if (slot === -1) return
    if (kind === 'grant') {
      if (this.#slots.state[slot] === ASKING) this.#run(slot)
    } else if (kind === 'cancel' && this.#slots.state[slot] === RUNNING) this.#end(slot)
    else this.#drop(slot)
  }

  /** A run that nobody wants any more: the host says so when it has ended. */
  #end(slot: number): void {
    this.totals.cancelled++
    this.#stop(slot)
    this.#slots.state[slot] = ENDING
    this.#wheel.set(this.#hosts.size + slot, this.#step + 1)
  }

  #drop(slot: number): void {
    this.totals.cancelled++
    this.#stop(slot)
    this.#slots.give(slot, this.#hosts.firstSlot)
  }

  /** What it would have run on is not run. */
  #stop(slot: number): void {
    const timer = this.#hosts.size + slot
    const due = this.#wheel.dueAt(timer)
    this.#wheel.clear(timer)
    if (due !== undefined && this.#slots.state[slot] === RUNNING) this.totals.busyMs -= (due - this.#step) * this.#options.stepMs
  }

  /** The first of the nodes that is there hands the output over. */
  #pull({ task, nodes }: Extract<Effect, { kind: 'pull' }>): void {
    const hosts = this.#hosts
    const node = nodes.find((id) => hosts.is(hosts.numberOf(id), CONNECTED))
    const parts = parseTaskId(task)
    if (node === undefined || parts === undefined) {
      this.#later.push({ kind: 'pulled', task, node: nodes.at(-1) ?? '', ok: false, message: 'no node is there' })
      return
    }
    const host = hosts.numberOf(node)
    const slot = this.#slots.take(host, hosts.firstSlot, HANDING)
    this.#slots.batch[slot] = batchNumberOf(parts.batch)
    this.#slots.index[slot] = parts.index
    this.#goOn(slot, (1000 * this.#options.workload.outputBytes) / (hosts.upBytesPerS[host] as number))
  }

  #sample(): void {
    this.samples.push({ ...this.totals, atMs: this.nowMs, online: this.#online, held: this.#slots.used, waiting: this.#waiting })
  }

  #taskOf(slot: number): string {
    return taskId(this.#owner.batches[this.#slots.batch[slot] as number]?.id ?? '', this.#slots.index[slot] as number)
  }

  #replicaOf(slot: number): string {
    return replicaId(this.#taskOf(slot), this.#slots.attempt[slot] as number)
  }
}
