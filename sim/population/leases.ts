/** What hosts do with their leases: fetch, ask to start, run, report, hand over; stop when told, stand still while away. */
import type { Effect, Event } from '#project-server/coordinator/events'
import type { Outgoing } from '#project-server/coordinator/link-records'
import type { ReplicaId, TaskId } from '#protocol/ids'
import { Random } from '../random.ts'
import { batchNumberOf, indexOf } from './batch-ids.ts'
import { drawOutcome } from './errors.ts'
import { CONNECTED, type Hosts, LEFT, SABOTEUR } from './hosts.ts'
import type { Times, Totals } from './meters.ts'
import type { WorldOptions } from './options.ts'
import { ProjectLine } from './project-line.ts'
import { drawRunMs } from './runs.ts'
import { type Server, SIGNATURE } from './server.ts'
import { ASKING, DONE, ENDING, FETCHING, HANDING, RUNNING, Slots } from './slots.ts'
import type { Wheel } from './wheel.ts'

/** What a result takes in a store; nobody looks inside. */
const BODY = new Uint8Array(320)
const SEAL = { leaves: new Uint8Array(32), signature: SIGNATURE }

/** The world that the leases are in. */
export interface Ground {
  readonly options: WorldOptions
  readonly hosts: Hosts
  /** A timer for each host, then one for each row of the table. */
  readonly wheel: Wheel
  readonly server: Server
  readonly totals: Totals
  readonly step: number
  readonly nowMs: number
  /** An event of a host or of the project's own, now or with the next step. */
  apply(event: Event): void
  later(event: Event): void
}

export class Leases {
  readonly #ground: Ground
  readonly #slots: Slots
  readonly #line: ProjectLine | null
  readonly #scratch = new Random(0)

  constructor(ground: Ground) {
    this.#ground = ground
    const { hosts, options, wheel, totals } = ground
    const line = options.line === undefined ? null : new ProjectLine(options.line, options, totals)
    this.#line = line
    this.#slots = new Slots(options.hosts, (rows) => {
      wheel.grow(hosts.size + rows)
      line?.grow(rows)
    })
  }

  get used(): number {
    return this.#slots.used
  }

  get bytes(): number {
    return this.#slots.bytes + (this.#line?.bytes ?? 0)
  }

  /** How long inputs took over the project's line; null when it has none of its own. */
  get inputs(): Times | null {
    return this.#line?.inputs ?? null
  }

  /** The replicas that the host holds, for its hello. */
  held(host: number): string[] {
    const replicas: string[] = []
    for (let slot = this.#first(host); slot !== -1; slot = this.#slots.after(slot)) if (this.#slots.state[slot] !== HANDING) replicas.push(this.#nameOf(slot))
    return replicas
  }

  /** The coordinator is away: what hosts handed over to it breaks off. */
  breakOff(host: number): void {
    const { hosts } = this.#ground
    const slots = this.#slots
    for (let slot = this.#first(host), after = -1; slot !== -1; slot = after) {
      after = slots.after(slot)
      if (slots.state[slot] !== HANDING) continue
      this.#halt(slot)
      this.#ground.later({ kind: 'pulled', task: this.#nameOf(slot), node: hosts.ids[host] as string, ok: false, message: 'the coordinator was away' })
      slots.give(slot, hosts.firstSlot)
    }
  }

  /** The host is away: what it ran stands still, what it handed over breaks off. */
  pause(host: number): void {
    const { hosts, totals } = this.#ground
    const slots = this.#slots
    for (let slot = this.#first(host), after = -1; slot !== -1; slot = after) {
      after = slots.after(slot)
      const leftMs = this.#halt(slot)
      const state = slots.state[slot]
      if (state === HANDING) {
        this.#ground.later({ kind: 'pulled', task: this.#nameOf(slot), node: hosts.ids[host] as string, ok: false, message: 'the node is away' })
        slots.give(slot, hosts.firstSlot)
      } else if (state === ENDING) slots.give(slot, hosts.firstSlot)
      else if (leftMs !== undefined) {
        slots.leftMs[slot] = leftMs
        if (state === RUNNING) this.#worked(slot, -leftMs)
      }
      if (hosts.is(host, LEFT) && state !== ENDING) totals.leftMs += slots.ranMs[slot] as number
    }
  }

  /** What it holds goes on, but for what it is told to drop. */
  welcomed(host: number, { resumed, unknown }: Extract<Effect, { kind: 'welcome' }>): void {
    const hosts = this.#ground.hosts
    const slots = this.#slots
    if (!resumed) {
      hosts.sent[host] = 0
      hosts.received[host] = 0
    }
    for (let slot = hosts.firstSlot[host] as number, after = -1; slot !== -1; slot = after) {
      after = slots.after(slot)
      if (slots.state[slot] === HANDING) continue
      if (!resumed || (unknown.length > 0 && unknown.includes(this.#nameOf(slot)))) {
        this.#drop(slot)
        this.#ground.totals.lateMs += this.#slots.ranMs[slot] as number
      } else if (slots.state[slot] === ASKING) this.#askToStart(slot)
      else if (slots.state[slot] === DONE) this.#finish(slot)
      else if (!this.#goesOn(slot)) this.#resume(slot)
    }
  }

  #resume(slot: number): void {
    if (this.#slots.state[slot] === RUNNING && !this.#ground.options.keeps) {
      this.#ground.totals.granted--
      this.#ground.totals.anewMs += this.#slots.ranMs[slot] as number
      this.#slots.ranMs[slot] = 0
      this.#run(slot)
    } else this.#goOn(slot, this.#slots.leftMs[slot] as number)
  }

  /** A step passes on the project's line. */
  move(): void {
    this.#line?.advance(this.#ground.step, this.#onMoved)
  }

  readonly #onMoved = (slot: number): void => {
    this.#ground.totals.events++
    this.due(slot)
  }

  /** Before the coordinator looks for leases of which nothing was said, hosts whose inputs are slow to come say that they do. */
  tell(): void {
    const { hosts, step } = this.#ground
    for (let slot = 0; this.#line !== null && slot < this.#slots.host.length; slot++) {
      const host = this.#slots.host[slot] as number
      if (this.#slots.state[slot] !== FETCHING || !this.#line.isMoving(slot)) continue
      if (!hosts.is(host, CONNECTED) || !this.#line.isOverdue(slot, step)) continue
      const replicas = [{ replica: this.#nameOf(slot), state: 'preparing', again: true }]
      this.#ground.apply({ kind: 'progress', node: hosts.ids[host] as string, seq: this.#nextSeq(host), replicas })
    }
  }

  /** A row of the table is due. */
  due(slot: number): void {
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
        this.#ground.apply({ kind: 'pulled', task: this.#nameOf(slot), node: this.#ground.hosts.ids[host] as string, ok: true, message: '' })
        this.#ground.totals.movedBytes += this.#ground.options.workload.outputBytes
        slots.give(slot, this.#ground.hosts.firstSlot)
      }
    }
  }

  #askToStart(slot: number): void {
    const host = this.#slots.host[slot] as number
    this.#slots.state[slot] = ASKING
    if (!this.#ground.hosts.is(host, CONNECTED)) return
    const seq = this.#nextSeq(host)
    this.#ground.apply({ kind: 'start', node: this.#ground.hosts.ids[host] as string, seq, replicas: [{ replica: this.#nameOf(slot), epoch: 1 }] })
  }

  /** It may start: how long it will run is drawn now, and how it comes out when it has. */
  #run(slot: number): void {
    const slots = this.#slots
    const host = slots.host[slot] as number
    const replica = this.#nameOf(slot)
    const random = this.#ground.hosts.runStream(host)
    const millionOps = this.#ground.server.owner.millionOps(this.#scratch, batchNumberOf(replica), indexOf(replica))
    slots.state[slot] = RUNNING
    this.#goOn(slot, drawRunMs(random, this.#ground.options.runs, millionOps, this.#ground.hosts.mips[host] as number))
    this.#ground.totals.granted++
  }

  #goOn(slot: number, leftMs: number): void {
    const state = this.#slots.state[slot] as number
    this.#slots.leftMs[slot] = leftMs
    if (this.#line?.carries(state) === true) {
      const ownBytesPerS = this.#ownBytesPerS(slot)
      this.#line.join(slot, state, this.#ground.step, { ownBytesPerS, bytes: (leftMs * ownBytesPerS) / 1000 })
      return
    }
    const steps = Math.max(1, Math.ceil(leftMs / this.#ground.options.stepMs))
    if (state === RUNNING) this.#worked(slot, steps * this.#ground.options.stepMs)
    this.#ground.wheel.set(this.#ground.hosts.size + slot, this.#ground.step + steps)
  }

  #goesOn(slot: number): boolean {
    return this.#ground.wheel.dueAt(this.#ground.hosts.size + slot) !== undefined || this.#line?.isMoving(slot) === true
  }

  /** What goes on of it stands still: how long it would have gone on, as in `leftMs`; undefined when nothing did. */
  #halt(slot: number): number | undefined {
    const { wheel, hosts, options, step } = this.#ground
    const bytes = this.#line?.leave(slot, this.#slots.state[slot] as number, step)
    if (bytes !== undefined) return (1000 * bytes) / this.#ownBytesPerS(slot)
    const due = wheel.dueAt(hosts.size + slot)
    wheel.clear(hosts.size + slot)
    return due === undefined ? undefined : (due - step) * options.stepMs
  }

  /** Of the host's line, the way that the row's bytes go. */
  #ownBytesPerS(slot: number): number {
    const { downBytesPerS, upBytesPerS } = this.#ground.hosts
    return (this.#slots.state[slot] === FETCHING ? downBytesPerS : upBytesPerS)[this.#slots.host[slot] as number] as number
  }

  #finish(slot: number): void {
    const hosts = this.#ground.hosts
    const slots = this.#slots
    const { model } = this.#ground.options
    const host = slots.host[slot] as number
    if (!hosts.is(host, CONNECTED)) {
      slots.state[slot] = DONE
      return
    }
    const random = hosts.runStream(host)
    const runs = hosts.runs[host] as number
    const outcome = drawOutcome(random, model.errors, model.malice, {
      saboteur: hosts.is(host, SABOTEUR),
      runs,
      errorRate: hosts.errorRateNow(host, random, this.#ground.nowMs)
    })
    if (outcome.kind === 'failed') {
      this.#ground.totals.errors++
      this.#ground.totals.failedMs += slots.ranMs[slot] as number
      this.#giveBack(slot, 'node', outcome.code)
      return
    }
    const replica = this.#nameOf(slot)
    const batch = this.#ground.server.owner.batches[batchNumberOf(replica)]
    if (batch === undefined) throw new Error('a run of no batch')
    hosts.runs[host] = runs + 1
    this.#ground.totals.reported++
    if (outcome.kind === 'wrong') {
      this.#ground.totals.reportedWrong++
      this.#ground.totals.wrongMs += slots.ranMs[slot] as number
    } else this.#ground.totals.rightMs += slots.ranMs[slot] as number
    const node = hosts.ids[host] as string
    const lie =
      outcome.kind === 'wrong' ? this.#ground.server.owner.wrong(outcome.which === 'shared' ? `lie ${taskOf(replica)}` : `error ${replica}`) : undefined
    const result = this.#ground.server.owner.result(batch, node, replica, lie)
    slots.give(slot, hosts.firstSlot)
    this.#ground.apply({ kind: 'reports', node, seq: this.#nextSeq(host), results: [{ result, body: BODY }], seal: SEAL })
  }

  #giveBack(slot: number, kind: string, code: string): void {
    const host = this.#slots.host[slot] as number
    const replica = this.#nameOf(slot)
    this.#slots.give(slot, this.#ground.hosts.firstSlot)
    if (!this.#ground.hosts.is(host, CONNECTED)) return
    this.#ground.apply({
      kind: 'returned',
      node: this.#ground.hosts.ids[host] as string,
      seq: this.#nextSeq(host),
      replicas: [{ replica, class: kind, code, message: '' }]
    })
  }

  /** The coordinator told the host something. */
  told(host: number, said: Outgoing): void {
    switch (said.kind) {
      case 'assign':
        for (const replica of said.replicas) this.#leased(host, replica)
        return
      case 'grant':
        for (const replica of said.granted) this.#granted(host, replica)
        for (const replica of said.refused) this.#unwanted(host, replica, false)
        return
      case 'cancel':
        for (const replica of said.replicas) this.#unwanted(host, replica, true)
    }
  }

  #leased(host: number, replica: ReplicaId): void {
    const slot = this.#slots.take(host, this.#ground.hosts.firstSlot, FETCHING, replica)
    this.#ground.totals.leased++
    const { inputBytes } = this.#ground.options.workload
    this.#ground.totals.movedBytes += inputBytes
    this.#line?.begin(slot, this.#ground.step)
    this.#goOn(slot, (1000 * inputBytes) / this.#ownBytesPerS(slot))
  }

  #granted(host: number, replica: ReplicaId): void {
    const slot = this.#slots.find(this.#first(host), replica)
    if (slot !== -1 && this.#slots.state[slot] === ASKING) this.#run(slot)
  }

  #unwanted(host: number, replica: ReplicaId, cancelled: boolean): void {
    const slot = this.#slots.find(this.#first(host), replica)
    if (slot === -1) return
    if (cancelled && this.#slots.state[slot] === RUNNING) this.#end(slot)
    else this.#drop(slot)
    this.#ground.totals.needlessMs += this.#slots.ranMs[slot] as number
  }

  /** A run that nobody wants any more: the host says so when it has ended. */
  #end(slot: number): void {
    this.#ground.totals.cancelled++
    this.#stop(slot)
    this.#slots.state[slot] = ENDING
    this.#ground.wheel.set(this.#ground.hosts.size + slot, this.#ground.step + 1)
  }

  #drop(slot: number): void {
    this.#ground.totals.cancelled++
    this.#stop(slot)
    this.#slots.give(slot, this.#ground.hosts.firstSlot)
  }

  /** What it would have run on is not run. */
  #stop(slot: number): void {
    const leftMs = this.#halt(slot)
    if (leftMs !== undefined && this.#slots.state[slot] === RUNNING) this.#worked(slot, -leftMs)
  }

  #worked(slot: number, ms: number): void {
    this.#ground.totals.busyMs += ms
    ;(this.#slots.ranMs[slot] as number) += ms
  }

  /** The first of the nodes that is there hands the output over. */
  pull({ task, nodes }: Extract<Effect, { kind: 'pull' }>): void {
    const hosts = this.#ground.hosts
    const node = nodes.find((id) => hosts.is(hosts.numberOf(id), CONNECTED))
    if (node === undefined) {
      this.#ground.later({ kind: 'pulled', task, node: nodes.at(-1) ?? '', ok: false, message: 'no node is there' })
      return
    }
    const slot = this.#slots.take(hosts.numberOf(node), hosts.firstSlot, HANDING, task)
    this.#goOn(slot, (1000 * this.#ground.options.workload.outputBytes) / this.#ownBytesPerS(slot))
  }

  #nextSeq(host: number): number {
    const { hosts } = this.#ground
    const seq = (hosts.sent[host] as number) + 1
    hosts.sent[host] = seq
    return seq
  }

  #first(host: number): number {
    return this.#ground.hosts.firstSlot[host] as number
  }

  /** Of the replica; of the task where its output is handed over. */
  #nameOf(slot: number): string {
    return this.#slots.name[slot] as string
  }
}

function taskOf(replica: ReplicaId): TaskId {
  return replica.slice(0, replica.lastIndexOf('.'))
}
