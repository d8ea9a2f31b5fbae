/**
 * A run of the stack level: real libp2p hosts with their DHT on a simulated internet, the real project server and the real nodes
 * on them, faults, and then calm in which everything must come right; at last all end in order and nothing may be left.
 */
import { DEFAULT_COORDINATOR_POLICY } from '#project-server/coordinator/policy'
import { type PeerIdString, parseTaskId } from '#protocol/ids'
import { makeJudge } from '../checkers/judge.ts'
import { checkReceipts } from '../checkers/receipts.ts'
import type { Scene } from '../checkers/scene.ts'
import type { Engine } from '../engine/engine.ts'
import { comes, FRESH, type NodeCase } from '../faults/case.ts'
import { identityOf } from '../protocol/identities.ts'
import { Owner } from '../protocol/owner.ts'
import { USUAL_PACE } from '../protocol/pace.ts'
import { NodePath } from '../protocol/path.ts'
import { ServerDisk } from '../protocol/server-disk.ts'
import { INPUTS, idOf, type Outcome } from '../protocol/truth.ts'
import type { Speaker } from '../protocol/witness.ts'
import { Random } from '../random.ts'
import { Sometimes } from '../sometimes.ts'
import { BOOTSTRAPS, type StackCase } from './case.ts'
import { type Computer, type ComputerPorts, LEFT_MS_MAX } from './computer.ts'
import { StackFaults } from './faults.ts'
import { Internet, type Station } from './internet.ts'
import { Keeper, listenAt } from './keeper.ts'
import { leaks } from './leaks.ts'
import { StackNode } from './node.ts'
import { StackServer } from './server.ts'

/**
 * After the faults every node must be connected to the project within this: a broken connection is noticed within a minute, a
 * bootstrap peer is dialled again within another, and the longest pause and attempt take 15 s.
 */
export const CONNECTED_MS_MAX = 3 * 60_000
/** As at the protocol level. */
const CALM_MS_MAX = 45 * 60_000
const LOOK_MS = 1_000
/** Without any work or fault, before open streams are looked at. */
const QUIET_MS = 90_000
/** An order to end is carried out within this, whatever has to be given up. */
const END_MS_MAX = 60_000
/** Honest nodes that come when the faults stop; more when there are fewer than so many with them: a task may have been tried on all others. */
const FRESH_NODES = 4
const NODES_MIN = 8

export class StackWorld implements Scene {
  readonly engine: Engine
  readonly sometimes = new Sometimes()
  readonly case: StackCase
  readonly policy = DEFAULT_COORDINATOR_POLICY
  readonly project = identityOf('project')
  readonly internet: Internet
  readonly keepers: Keeper[] = []
  readonly nodes: StackNode[] = []
  readonly server: StackServer
  readonly disk: ServerDisk
  readonly owner: Owner
  readonly roots = new Set<string>(INPUTS.map((text) => idOf(text).toString()))
  readonly network: { server: Speaker | undefined } = { server: undefined }
  readonly story: { readonly atMs: number; readonly text: string }[] = []
  readonly #random: Random
  readonly #judge: ReturnType<typeof makeJudge>
  readonly #faults: StackFaults
  readonly #gossip = new Map<string, Outcome>()
  readonly #bootstrap: readonly string[]
  #calm = false
  #places = 0

  /** `engine` must be the one whose time is installed in this process. */
  constructor(one: StackCase, engine: Engine) {
    this.engine = engine
    this.case = one
    this.#random = new Random('stack world', one.seed)
    this.internet = new Internet(engine, this.#random.fork('internet'))
    const judge = makeJudge(this)
    this.#judge = judge
    this.#faults = new StackFaults(this)
    const places = one.keepers.map((keeper) => this.#place(keeper))
    this.#bootstrap = places.slice(0, BOOTSTRAPS).map((station, index) => `${listenAt(station)}/p2p/${identityOf(`keeper ${index}`).peerId}`)
    for (const [index, keeper] of one.keepers.entries()) this.keepers.push(new Keeper(this.#ports(keeper), places[index] as Station, this.#bootstrap))
    this.disk = new ServerDisk({
      engine,
      random: this.#random.fork('disk'),
      onCommitted: (epoch, changes) => judge.committed(epoch, changes),
      onCrash: () => {}
    })
    this.server = new StackServer(
      {
        ...this.#ports(one.server),
        signer: this.project,
        disk: this.disk,
        roots: this.roots,
        witness: judge,
        onFaulty: (epoch, task) => {
          judge.faulty(epoch, task)
          this.owner.mend(parseTaskId(task)?.batch ?? '')
        },
        bootstrap: this.#bootstrap,
        network: this.network,
        onPublished: () => this.see('the record was published')
      },
      this.#place(one.server)
    )
    this.owner = new Owner({ engine, random: this.#random.fork('owner'), pace: USUAL_PACE, witness: judge, server: () => this.server.forOwners })
    const pinned = `${listenAt(this.server.station)}/p2p/${this.project.peerId}`
    for (const [index, node] of one.nodes.entries()) this.#add(node, one.pinned.includes(index) ? [pinned] : [])
  }

  get computers(): readonly Computer[] {
    return [...this.keepers, this.server, ...this.nodes]
  }

  get complaint(): string | undefined {
    return this.#judge.complaint
  }

  nodeOf(peer: PeerIdString): StackNode | undefined {
    return this.nodes.find(({ id }) => id === peer)
  }

  isNode(peer: PeerIdString): boolean {
    return this.nodeOf(peer) !== undefined
  }

  see(name: string): void {
    this.sometimes.see(name)
  }

  tell(text: string): void {
    this.story.push({ atMs: this.engine.nowMs, text })
  }

  wrong(what: string): void {
    this.#judge.wrong(what)
  }

  /** The project gets another computer with the same state; nothing answers at the old address any more. */
  moveServer(): void {
    this.server.crash(false)
    this.server.station = this.#place(this.case.server)
    this.server.start(1_000)
  }

  /** Plans all that the case says; `engine` makes it happen. */
  begin(): void {
    const { engine, case: one } = this
    for (const [index, keeper] of this.keepers.entries()) if (isExpected(one.keepers[index])) keeper.start(index * 50)
    this.server.start(one.server.joinsMs)
    for (const [index, node] of this.nodes.entries()) if (isExpected(one.nodes[index])) node.start(one.nodes[index]?.joinsMs)
    for (const [index, batch] of one.batches.entries()) if (batch.tasks.length > 0) engine.after(batch.atMs, () => this.owner.submit(index, batch))
    for (const fault of one.faults) engine.after(fault.atMs, () => this.#calm || this.#faults.strike(fault))
  }

  /** The whole run; answers what was wrong. */
  async run(): Promise<string | undefined> {
    const { engine, case: one } = this
    this.begin()
    await this.#until(one.faultsMs)
    this.#quieten()
    const endMs = engine.nowMs + CALM_MS_MAX
    await this.#connecting(engine.nowMs + CONNECTED_MS_MAX)
    let unfinished = await this.#ending(endMs)
    if (unfinished !== '') this.wrong(`${CALM_MS_MAX / 60_000} minutes after the last fault: ${unfinished}`)
    await this.#until(engine.nowMs + QUIET_MS)
    unfinished = this.complaint ?? this.#judge.unfinished(this)
    if (unfinished !== '') this.wrong(`all had ended, and then: ${unfinished}`)
    for (const leak of leaks(this.computers, engine.nowMs)) this.wrong(leak)
    await this.#end()
    return this.complaint ?? (await checkReceipts(this))
  }

  /** All end in order; then nothing may be left of them. */
  async #end(): Promise<void> {
    for (const computer of this.computers) computer.leave(undefined)
    await this.#until(this.engine.nowMs + END_MS_MAX)
    for (const { name, process } of this.computers) if (process !== undefined) this.wrong(`${name} was told to end and did not within ${END_MS_MAX / 1000} s`)
    await this.#until(this.engine.nowMs + LEFT_MS_MAX)
    for (const { ip, sockets } of this.internet.stations) if (sockets.size > 0) this.wrong(`${sockets.size} connections of ${ip} are left when all have ended`)
  }

  #until(atMs: number): Promise<void> {
    return this.engine.run(atMs, () => this.complaint !== undefined)
  }

  /** Until it is so, which is looked at every second, or until `endMs`. */
  #looking(endMs: number, isSo: () => boolean): Promise<void> {
    let lookAtMs = 0
    return this.engine.run(endMs, () => {
      if (this.complaint !== undefined) return true
      if (this.engine.nowMs < lookAtMs) return false
      lookAtMs = this.engine.nowMs + LOOK_MS
      return isSo()
    })
  }

  /** Until all tasks have ended and nothing is left of them; answers what is not over at `endMs`. */
  async #ending(endMs: number): Promise<string> {
    let unfinished = 'nothing was looked at'
    await this.#looking(endMs, () => {
      unfinished = this.#judge.unfinished(this)
      return unfinished === ''
    })
    return unfinished
  }

  /** Faults stop, and what they broke is mended; new honest nodes come. */
  #quieten(): void {
    this.#calm = true
    this.tell('the faults stop')
    this.#faults.mend()
    const { case: one } = this
    for (const [index, keeper] of this.keepers.entries()) if (isExpected(one.keepers[index])) keeper.start()
    this.server.start()
    for (const [index, node] of this.nodes.entries()) if (isExpected(one.nodes[index])) node.start()
    // Where votes are weighed, a task that says something else on each node is over when as many as it may have spoken.
    const least = Math.max(NODES_MIN, ...one.batches.map(({ policy }) => (policy.doubtPpm > 0 ? policy.maxTotalResults : 0)))
    const fresh = Math.max(FRESH_NODES, least - one.nodes.filter(comes).length)
    for (let index = 0; index < fresh; index++) this.#add({ ...FRESH, name: `fresh ${index}` }, []).start(index * 200)
  }

  /** Until every node is connected, as it sees it and as the server does; what all has ended asks for, later, is that they still are. */
  async #connecting(endMs: number): Promise<void> {
    const nodes = this.nodes.filter((_, index) => isExpected(this.case.nodes[index]))
    const lost = (): StackNode | undefined => nodes.find(({ service }) => service?.view().connected !== true)
    await this.#looking(endMs, () => this.server.connectedNodes === nodes.length && lost() === undefined)
    const within = `${CONNECTED_MS_MAX / 1000} s after the last fault`
    const node = lost()
    if (node !== undefined) this.wrong(`${node.name} is not connected ${within}: ${node.service?.view().trouble ?? 'it is not there'}`)
    const { connectedNodes } = this.server
    if (connectedNodes !== nodes.length) this.wrong(`the server hears ${connectedNodes} of ${nodes.length} nodes ${within}`)
  }

  #add(one: NodeCase, pinned: readonly string[]): StackNode {
    const ports = this.#ports(one)
    const { peerId: project } = this.project
    // No class of processors and no tag.
    const { slots, role } = one
    const own = { project, setup: { slots, role }, gossip: this.#gossip, witness: this.#judge, bootstrap: this.#bootstrap, pinned }
    const node = new StackNode({ ...ports, ...own }, this.#place(one))
    this.nodes.push(node)
    return node
  }

  #ports({ name, clockOffsetMs, clockPerMille }: NodeCase): ComputerPorts {
    return {
      engine: this.engine,
      random: this.#random.fork('computer', name),
      name,
      signer: identityOf(name),
      skew: { offsetMs: clockOffsetMs, perMille: clockPerMille },
      wrong: (what) => this.wrong(what)
    }
  }

  #place(line: NodeCase): Station {
    const place = this.#places++
    // Each in a network of its own: tasks whose results must be independent of each other would never end in one.
    return this.internet.join(`5.${1 + (place >> 8)}.${place & 255}.1`, new NodePath(line, this.#random.fork('line', place)))
  }
}

/** Those that a case does not know come when the faults stop. */
function isExpected(one: NodeCase | undefined): boolean {
  return one === undefined || comes(one)
}
