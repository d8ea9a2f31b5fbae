/** All that looks at a run, in one: see the files beside it. */

import { REPLICA_PREFIX } from '#node/agent/records'
import type { Ended } from '#node/ports'
import type { Coordinator } from '#project-server/coordinator/coordinator'
import type { Effect } from '#project-server/coordinator/events'
import type { Change } from '#project-server/ports'
import { type BatchId, type PeerIdString, parseTaskId, type ReplicaId, type TaskId } from '#protocol/ids'
import type { Machine } from '../protocol/machine.ts'
import { INPUTS, idOf, type Outcome } from '../protocol/truth.ts'
import type { Speaker } from '../protocol/witness.ts'
import type { Judge } from '../protocol/world.ts'
import { Arrivals } from './arrivals.ts'
import { Comparing } from './comparing.ts'
import { Complaints } from './complaints.ts'
import { Credit } from './credit.ts'
import { Floods } from './floods.ts'
import { IdleLeases } from './idle-leases.ts'
import { Limits } from './limits.ts'
import { Newcomers } from './newcomers.ts'
import { Next } from './next.ts'
import { Parking } from './parking.ts'
import { Runs } from './runs.ts'
import type { Scene } from './scene.ts'
import { Storms } from './storms.ts'
import { Tasks } from './tasks.ts'
import { Usage } from './usage.ts'
import { Words } from './words.ts'

/** Why a server or a node may end by itself. */
const SERVER_ENDS: readonly string[] = ['stale_epoch', 'corrupt', 'disk_full']

/** Longer than any wait between two attempts, and the time that silence takes to be noticed. */
const REACHED_MS_MAX = 120_000

export function makeJudge(world: Scene): Judge & Pick<Bench, 'unfinished'> {
  return new Bench(world)
}

interface Parts {
  readonly runs: Runs
  readonly tasks: Tasks
  readonly newcomers: Newcomers
  readonly limits: Limits
  readonly next: Next
  readonly usage: Usage
  readonly credit: Credit
  readonly words: Words
  readonly storms: Storms
  readonly arrivals: Arrivals
  readonly idle: IdleLeases
  readonly comparing: Comparing
  readonly parking: Parking
  /** Undefined where more is the matter. */
  readonly floods: Floods | undefined
}

class Bench implements Judge {
  readonly #world: Scene
  readonly #complaints = new Complaints()
  #parts: Parts | undefined
  #epoch = 0
  #led = 0
  /** In calm: nodes that the server does not hear, and since when. */
  readonly #unheard = new Map<PeerIdString, number>()

  constructor(world: Scene) {
    this.#world = world
  }

  get complaint(): string | undefined {
    return this.#complaints.first
  }

  get #all(): Parts {
    if (this.#parts !== undefined) return this.#parts
    const { sometimes, disk, policy } = this.#world
    const { records } = disk
    const complaints = this.#complaints
    const runs = new Runs(records, complaints, sometimes)
    const tasks = new Tasks({ records, complaints, sometimes, runs, tell: (text) => this.#world.tell(text), holds: (root) => this.#world.roots.has(root) })
    const usage = new Usage(records, complaints)
    const credit = new Credit(records, complaints, sometimes)
    const newcomers = new Newcomers(policy, complaints, sometimes)
    const limits = new Limits(records, complaints, sometimes)
    const next = new Next(complaints, sometimes)
    const words = new Words(records, complaints, sometimes)
    const arrivals = new Arrivals(records, complaints, sometimes)
    const idle = new IdleLeases(complaints)
    const comparing = new Comparing(complaints)
    const parking = new Parking(this.#world, complaints)
    const floods = this.#world.onlyFloods === true ? new Floods(complaints) : undefined
    this.#parts = { runs, tasks, usage, credit, newcomers, limits, next, words, storms: new Storms(complaints), arrivals, idle, comparing, parking, floods }
    return this.#parts
  }

  /** While there is nothing else. */
  get #floods(): Floods | undefined {
    return this.#world.onlyFloods === true ? this.#all.floods : undefined
  }

  /** [12] */
  committed(epoch: number, changes: readonly Change[]): void {
    this.#complaints.expect(epoch >= this.#epoch, () => `epoch ${epoch} wrote after epoch ${this.#epoch}`)
    this.#epoch = epoch
    this.#all.parking.committed(changes)
    this.#all.tasks.committed(changes)
    this.#all.usage.committed(changes)
    this.#all.credit.committed(changes)
    this.#all.newcomers.committed(changes)
    this.#all.limits.committed(changes)
    this.#all.arrivals.committed(changes)
    this.#all.next.committed(changes)
  }

  led(coordinator: Coordinator, epoch: number): void {
    this.#complaints.expect(epoch > this.#led, () => `epoch ${epoch} began after epoch ${this.#led}`)
    this.#led = epoch
    this.#all.tasks.led(coordinator)
    this.#all.next.led()
    this.#world.sometimes.see('a server began')
    this.#world.tell(`the server leads, epoch ${epoch}`)
  }

  effects(epoch: number, effects: readonly Effect[]): void {
    if (epoch < this.#led && effects.length > 0) this.#world.sometimes.see('a server that no longer leads spoke')
    this.#all.words.effects(effects)
    this.#all.comparing.effects(epoch, effects)
    this.#all.parking.effects(effects)
    if (epoch === this.#led) this.#all.next.effects(effects)
  }

  serverFailed(code: string, message: string): void {
    this.#complaints.expect(SERVER_ENDS.includes(code), () => `the server cannot go on: ${code}: ${message}`)
    this.#world.sometimes.see(`server ended: ${code}`)
    this.#world.tell(`the server ends: ${message}`)
  }

  accepted(batch: string, tasks: number): void {
    this.#all.tasks.accepted(batch, tasks)
    this.#world.sometimes.see('owner answered')
  }

  held(tasks: readonly TaskId[]): void {
    this.#all.tasks.held(tasks)
  }

  released(tasks: readonly TaskId[]): void {
    this.#all.tasks.released(tasks)
    for (const task of tasks) this.#all.comparing.mended(parseTaskId(task)?.batch ?? '')
  }

  faulty(epoch: number, task: TaskId): void {
    this.#all.comparing.faulty(epoch, task)
  }

  mended(batch: BatchId): void {
    this.#all.comparing.mended(batch)
  }

  killed(tasks: readonly TaskId[]): void {
    this.#all.tasks.killed(tasks)
  }

  wrote(node: PeerIdString, changes: readonly Change[]): void {
    this.#all.words.wrote(node, changes)
    this.#all.arrivals.wrote(node, changes)
  }

  wiped(node: PeerIdString): void {
    this.#all.words.wiped(node)
    this.#all.arrivals.wiped(node)
  }

  nodeFailed(node: PeerIdString, code: string, message: string): void {
    const disk = /no space left|input\/output/.test(message) || (this.#world.nodeOf(node)?.machine.damaged === true && /damaged/.test(message))
    this.#complaints.expect(code === 'storage' && disk, () => `${node} cannot go on: ${code}: ${message}`)
    this.#world.sometimes.see('a node ended for its disk')
  }

  started(node: PeerIdString, replica: ReplicaId): void {
    const machine = this.#world.nodeOf(node)?.machine
    this.#all.runs.started(node, replica, machine?.recordOf(REPLICA_PREFIX + replica))
    this.#world.tell(`${machine?.name} runs ${replica}`)
  }

  ended(node: PeerIdString, replica: ReplicaId, ended: Ended, outcome: Outcome): void {
    this.#all.runs.ended(node, replica, ended, outcome)
  }

  claimed(node: PeerIdString, replica: ReplicaId, vote: string): void {
    this.#all.runs.claimed(node, replica, vote)
  }

  see(name: string): void {
    this.#world.sometimes.see(name)
  }

  wrong(what: string): void {
    this.#complaints.expect(false, () => what)
  }

  dialled(from: Speaker): void {
    if (!this.#world.isNode(from.peerId)) return
    this.#all.storms.dialled(from, this.#world.engine.nowMs)
    this.#floods?.dialled(from.peerId)
  }

  frame(from: Speaker, to: PeerIdString, frame: Uint8Array): void {
    const { network, project } = this.#world
    if (from.peerId !== project.peerId && to !== project.peerId) {
      this.#all.parking.said(from.peerId, to, frame)
      return
    }
    // What a server says that no longer leads was on the disk when it wrote it; who leads now may have gone on.
    if (from.peerId === project.peerId) this.#all.storms.fromServer(to, frame)
    if (from.peerId === project.peerId && this.#world.isNode(to)) this.#floods?.fromServer(to, frame)
    if (from.peerId === project.peerId) this.#all.arrivals.fromServer(to, frame, from === network.server)
    else this.#all.arrivals.fromNode(from.peerId, frame)
    if (from.peerId !== project.peerId) this.#all.next.fromNode(from.peerId, frame)
    if (from === network.server) this.#all.words.fromServer(to, frame)
    else if (to === project.peerId && this.#world.isNode(from.peerId)) this.#all.words.fromNode(from.peerId, frame)
  }

  arrived(from: PeerIdString, to: PeerIdString, frame: Uint8Array): void {
    const { peerId } = this.#world.project
    if (from !== peerId && to !== peerId) return
    if (to === peerId) this.#all.parking.toServer(from, frame)
    if (to === peerId && this.#world.isNode(from)) this.#floods?.toServer(from, frame, this.#world.engine.nowMs)
    if (to === peerId) this.#all.arrivals.toServer(from, frame)
    else this.#all.arrivals.toNode(to, frame)
  }

  /** [32] When the faults have stopped, a node that the server does not hear is heard again soon. */
  #reached(world: Scene): void {
    const { nowMs } = world.engine
    for (const node of world.nodes) {
      if (node.absent || world.serves === undefined || world.serves(node.id)) this.#unheard.delete(node.id)
      else if (!this.#unheard.has(node.id)) this.#unheard.set(node.id, nowMs)
      const sinceMs = this.#unheard.get(node.id) ?? nowMs
      this.#complaints.expect(
        nowMs - sinceMs < REACHED_MS_MAX,
        () => `the server has not heard ${node.machine.name} for ${REACHED_MS_MAX / 1000} s without a fault`
      )
    }
  }

  /** [10, 17, 29, 31] In calm everything ends, and nothing is left behind. */
  unfinished(world: Scene): string {
    this.#reached(world)
    const { tasks, words, idle } = this.#all
    idle.look(tasks.open, tasks.last, world.engine.nowMs)
    const { records } = world.disk
    if (world.owner.waiting > 0) return 'an owner waits for an answer'
    if (tasks.open.size > 0) return `not ended: ${[...tasks.open].slice(0, 5).join(', ')}`
    const owed = records.keys('owed/')
    if (owed.length > 0) return `what killed runs left is waited for: ${owed[0]}`
    const rechecks = records.keys('recheck/')
    if (rechecks.length > 0) return `a decision is to be looked at again: ${rechecks[0]}`
    const [checkpoint] = records.keys('checkpoint/')
    if (checkpoint !== undefined) return `a snapshot is kept from which nobody goes on: ${checkpoint}`
    const open = records.keys('open/')
    if (open.length > 0) return `${open[0]} has no open task`
    for (const node of world.nodes) {
      if (node.absent) continue
      const view = node.service?.view()
      const [replica] = view?.replicas ?? []
      if (view === undefined) return `${node.machine.name} is not there`
      if (replica !== undefined) return `${node.machine.name} still has ${replica.replica}, ${replica.phase}`
      if (view.unacknowledged > 0) return `${node.machine.name} waits for ${view.unacknowledged} acknowledgements`
      const missing = words.missing(node.id)
      if (missing !== undefined) return `${node.machine.name} never got message ${missing}`
      if (!view.connected) return `${node.machine.name} is not connected: ${view.trouble}`
      const [container] = node.machine.containers.keys()
      if (container !== undefined) return `${node.machine.name} has a container of ${container}`
      const [folder] = node.machine.folders.keys()
      if (folder !== undefined) return `${node.machine.name} has a folder of ${folder}`
      const kept = this.#all.parking.left(node)
      if (kept !== '') return kept
      if (!onlyInputs(node.machine, tasks.inputs)) return `${node.machine.name} keeps content that nobody wants`
    }
    const out = records.keys('out/').filter((key) => world.isNode(key.split('/')[1] ?? ''))
    return out.length > 0 ? `message ${out[0]} was never acknowledged` : ''
  }
}

const PROJECT_INPUTS: ReadonlySet<string> = new Set(INPUTS.map((text) => idOf(text).toString()))

/** The inputs of many tasks, and what tasks took from others: a node may keep what it may need again. */
function onlyInputs({ content, strays }: Pick<Machine, 'content' | 'strays'>, inputs: ReadonlySet<string>): boolean {
  for (const root of content.keys()) if (!inputs.has(root) && !PROJECT_INPUTS.has(root) && !strays.has(root)) return false
  return true
}
