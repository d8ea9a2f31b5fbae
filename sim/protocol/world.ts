/** One run: the machines of a case, the real programs on them, the faults that befall them, and those who watch. */
import { type CoordinatorPolicy, DEFAULT_COORDINATOR_POLICY } from '#project-server/coordinator/policy'
import { decodeFrame } from '#protocol/control/messages'
import { type PeerIdString, parseReplicaId, parseTaskId, type ReplicaId } from '#protocol/ids'
import { messageOf } from '#protocol/message-of'
import { Places } from '#protocol/peer/conduct'
import { decodeResult, type Result } from '#protocol/result/result'
import { Engine } from '../engine/engine.ts'
import { ahead, type Process, RIGHT, type Skew } from '../engine/process.ts'
import { type Case, CPUS, comes, type Fault, FLOOD_ACTS, FRESH, type NodeCase } from '../faults/case.ts'
import { Faults } from '../faults/faults.ts'
import { Random } from '../random.ts'
import { Sometimes } from '../sometimes.ts'
import type { Given } from './content.ts'
import { Homes } from './homes.ts'
import { Hostile } from './hostile.ts'
import { identityOf } from './identities.ts'
import { Machine } from './machine.ts'
import { Network } from './network.ts'
import { type NodePorts, SimNode } from './node.ts'
import { Owner } from './owner.ts'
import { type Pace, USUAL_PACE } from './pace.ts'
import { NodePath } from './path.ts'
import { ServerProcess } from './server.ts'
import { ServerDisk } from './server-disk.ts'
import { INPUTS, idOf, type Outcome } from './truth.ts'
import type { Witness } from './witness.ts'

/** After the faults: far longer than the longest time limit that a healthy world can run into (an output that is waited for, or what a killed task leaves: ten minutes each). */
const CALM_MS_MAX = 45 * 60_000
/** Between looks whether everything has ended. */
const LOOK_MS = 1_000
/** Honest nodes that come when the faults stop, at least: a task may have been tried on all others. */
const FRESH_NODES = 8
const SERVER_RESTART_MS = 500
/** In calm everything must end, and nobody here releases what the coordinator holds of itself. */
const NOTHING_HELD = { failingMin: 0, deathsMax: 0 }
/** Frames of honest nodes that the hostile ones may repeat. */
const HEARD_MAX = 200
/** No node calls from there. */
const HOSTILE_NETWORK = 200

/** Looks whether the run is as it should be; the first complaint ends it. */
export interface Judge extends Witness {
  /** The first thing that was wrong. */
  readonly complaint: string | undefined
  /** What has not ended yet, in words; empty when all has. */
  unfinished(world: World): string
}

export class World {
  readonly engine = new Engine()
  readonly sometimes: Sometimes
  readonly project = identityOf('project')
  readonly nodes: SimNode[] = []
  readonly hostile: Hostile[] = []
  readonly network: Network
  readonly disk: ServerDisk
  readonly owner: Owner
  readonly serverClock: { skew: Skew } = { skew: RIGHT }
  readonly case: Case
  readonly policy: CoordinatorPolicy
  readonly random: Random
  /** What happened, for the story of a failure. */
  readonly story: { readonly atMs: number; readonly text: string }[] = []
  server: ServerProcess | undefined
  readonly #heard: Uint8Array[] = []
  readonly #byPeer = new Map<PeerIdString, SimNode>()
  readonly #judge: Judge
  readonly #nodePorts: NodePorts
  readonly #pace: Pace
  readonly #faults: Faults
  readonly #gossip = new Map<string, Outcome>()
  /** Content that the project holds. */
  readonly roots = new Set<string>(INPUTS.map((text) => idOf(text).toString()))
  /** Those that live: the one that leads, and those that do not know yet that they no longer do. */
  readonly #servers = new Set<ServerProcess>()
  #cancelStart = (): void => {}
  #calm = false

  constructor(one: Case, makeJudge: (world: World) => Judge, sometimes = new Sometimes(), pace = USUAL_PACE) {
    this.case = one
    this.policy = { ...DEFAULT_COORDINATOR_POLICY, ...NOTHING_HELD, ...one.project }
    this.sometimes = sometimes
    this.#pace = pace
    this.random = new Random('world', one.seed)
    this.#judge = makeJudge(this)
    const { engine, random } = this
    const judge = this.#judge
    this.network = new Network(
      {
        onDial: (from, to) => {
          if (to === this.project.peerId) judge.dialled(from)
        },
        onFrame: (from, to, frame) => {
          if (one.hostile > 0 && to === this.project.peerId && this.#byPeer.has(from.peerId)) this.#overhear(frame)
          judge.frame(from, to, frame)
        },
        onArrived: (from, to, frame) => judge.arrived(from, to, frame),
        onOvertaken: () => this.see('frames of an old connection came after a newer one began'),
        onUnruly: (what) => this.see(what),
        onConduct: (peer, what) => {
          if (this.#byPeer.has(peer)) judge.wrong(`${peer}, which behaves, was ${what}`)
          this.see(`a hostile peer was ${what}`)
        }
      },
      (peer) => this.#byPeer.get(peer)?.host
    )
    this.#nodePorts = {
      project: this.project.peerId,
      gossip: this.#gossip,
      network: this.network,
      witness: judge,
      gives: ({ peerId }, peer, root) => (peer === this.project.peerId ? this.#input(peerId) : this.#output(peer, root)),
      neighboursOf: (node) => this.#neighboursOf(node)
    }
    this.disk = new ServerDisk({
      engine,
      random: random.fork('disk'),
      pace,
      onCommitted: (epoch, changes) => judge.committed(epoch, changes),
      onCrash: (process) => {
        this.see('server crashed at a write')
        for (const server of this.#servers) if (server.process === process) this.#kill(server, true)
        this.startServer(SERVER_RESTART_MS)
      }
    })
    this.owner = new Owner({
      engine,
      random: random.fork('owner'),
      pace,
      witness: judge,
      server: () => (this.server?.serves === true ? this.server : undefined)
    })
    if (one.nodes.some(({ home }) => home !== undefined))
      this.network.homes = new Homes({ engine, random: random.fork('homes'), see: (what) => this.see(what) })
    for (const node of one.nodes) this.#add(node)
    for (let index = 0; index < one.hostile; index++) this.hostile.push(this.#makeHostile(index))
    this.#faults = new Faults(this)
    if (one.hostile > 0) this.network.places = new Places()
  }

  get calm(): boolean {
    return this.#calm
  }

  get onlyFloods(): boolean {
    const { faults, nodes } = this.case
    return (
      !this.#calm &&
      faults.length > 0 &&
      faults.every(({ kind }) => FLOOD_ACTS.some((act) => act === kind)) &&
      nodes.every(({ unruly }) => unruly === undefined)
    )
  }

  nodeOf(peer: PeerIdString): SimNode | undefined {
    return this.#byPeer.get(peer)
  }

  isNode(peer: PeerIdString): boolean {
    return this.#byPeer.has(peer)
  }

  /** Counts something that should happen sometimes, and remembers it for the story. */
  see(name: string): void {
    this.sometimes.see(name)
  }

  tell(text: string): void {
    this.story.push({ atMs: this.engine.nowMs, text })
  }

  /** Plans all that the case says; `engine` makes it happen. */
  begin(): void {
    const { engine, case: one } = this
    this.startServer(0)
    for (const [node, { joinsMs }] of this.#present()) node.start(joinsMs)
    for (const hostile of this.hostile) hostile.start()
    for (const [index, batch] of one.batches.entries()) if (batch.tasks.length > 0) engine.after(batch.atMs, () => this.owner.submit(index, batch))
    for (const fault of one.faults) engine.after(fault.atMs, () => this.#strike(fault))
  }

  /** The whole run; answers what was wrong. */
  async run(): Promise<string | undefined> {
    const { engine, case: one } = this
    this.begin()
    await engine.run(one.faultsMs, () => this.#judge.complaint !== undefined)
    if (this.#judge.complaint !== undefined) return this.#judge.complaint
    this.#quieten()
    let lookAtMs = 0
    let unfinished = 'nothing was looked at'
    const over = (): boolean => {
      if (this.#judge.complaint !== undefined) return true
      if (engine.nowMs < lookAtMs) return false
      lookAtMs = engine.nowMs + LOOK_MS
      unfinished = this.#judge.unfinished(this)
      return unfinished === ''
    }
    await engine.run(engine.nowMs + CALM_MS_MAX, over)
    if (this.#judge.complaint === undefined && unfinished !== '') return `${CALM_MS_MAX / 60_000} minutes after the last fault: ${unfinished}`
    return this.#judge.complaint
  }

  /** Ends every process, so that nothing of this world is held by anything outside. */
  end(): void {
    for (const server of [...this.#servers]) this.#kill(server, false)
    for (const hostile of this.hostile) hostile.stop()
    for (const node of this.nodes) node.crash({ tell: false, wipe: false })
  }

  startServer(afterMs: number): void {
    this.#cancelStart()
    this.#cancelStart = this.engine.after(afterMs, () => {
      if (this.server === undefined) this.#lead()
    })
  }

  /** From now on the server's clock goes so many milliseconds in a thousand true ones. */
  drift(perMille: number): void {
    const { engine, serverClock } = this
    const shown = Math.floor((engine.nowMs * serverClock.skew.perMille) / 1000)
    serverClock.skew = { ...ahead(serverClock, shown - Math.floor((engine.nowMs * perMille) / 1000)), perMille }
  }

  /** Whether the server has a connection on which it hears this node. */
  serves(peer: PeerIdString): boolean {
    return this.server?.isConnected(peer) === true
  }

  /** kill -9 of whatever leads. */
  killServer(tell: boolean): void {
    if (this.server !== undefined) this.#kill(this.server, tell)
  }

  /** The leader is stopped, another begins on the same state, and the first wakes up again later. */
  takeOver(): Process | undefined {
    const old = this.server
    if (old === undefined || !old.serves) return undefined
    old.process.stop()
    this.server = undefined
    this.#lead()
    return old.process
  }

  #input(peer: PeerIdString): Given {
    const faults = this.nodeOf(peer)?.machine.faults
    if (faults?.noInput === true) return false
    return faults?.corruptInput === true ? this.#corrupt() : true
  }

  /** The project is also given what a node keeps for others. */
  #output(peer: PeerIdString, root: string, kept = false): Given {
    const machine = this.nodeOf(peer)?.machine
    if (machine === undefined || machine.faults.withholds || !(machine.content.gives(root) || (kept && machine.kept.has(root)))) return false
    return machine.faults.corruptOutput ? this.#corrupt() : true
  }

  /** Those that come next in the list. */
  #neighboursOf(node: SimNode): PeerIdString[] {
    const count = Math.min(this.case.neighbours ?? 0, this.nodes.length - 1)
    const at = this.nodes.indexOf(node)
    return Array.from({ length: count }, (_, step) => this.nodes[(at + 1 + step) % this.nodes.length]?.id ?? '')
  }

  #corrupt(): Given {
    this.see('content came that was not what was asked for')
    return 'corrupt'
  }

  #kill(server: ServerProcess, tell: boolean): void {
    server.kill(tell)
    this.disk.crash(server.process)
    this.#servers.delete(server)
    if (this.server === server) this.server = undefined
  }

  #lead(): void {
    const { disk, network, project: signer, random, serverClock: clock } = this
    const server = new ServerProcess({
      disk,
      network,
      signer,
      random: random.fork('server'),
      clock,
      witness: this.#judge,
      onFaulty: (epoch, task) => {
        this.#judge.faulty(epoch, task)
        this.owner.mend(parseTaskId(task)?.batch ?? '')
      },
      roots: this.roots,
      has: (peer, root) => this.#output(peer, root, true),
      onEnd: (ended) => {
        this.#servers.delete(ended)
        if (this.server !== ended) return
        this.server = undefined
        this.startServer(SERVER_RESTART_MS)
      }
    })
    this.server = server
    this.#servers.add(server)
    server.start(this.policy).catch((error: unknown) => {
      if (!server.process.alive) return
      this.#judge.serverFailed(error instanceof Error && 'code' in error ? String(error.code) : 'start', messageOf(error))
      const led = this.server === server
      this.#kill(server, true)
      if (led) this.startServer(SERVER_RESTART_MS)
    })
  }

  #add(one: NodeCase): SimNode {
    const { engine, random } = this
    const dice = random.fork('machine', one.name)
    const path = new NodePath(one, dice, this.#pace)
    const machine = new Machine(one.name, { engine, random: dice, path, pace: this.#pace })
    if (one.clockOffsetMs !== 0 || one.clockPerMille !== RIGHT.perMille) machine.skew = { offsetMs: one.clockOffsetMs, perMille: one.clockPerMille }
    const node = new SimNode({ machine, signer: identityOf(one.name), setup: one }, this.#nodePorts)
    this.nodes.push(node)
    this.#byPeer.set(node.id, node)
    if (one.home !== undefined) this.network.homes?.add(node.id, one.home, path)
    return node
  }

  /** The nodes of the case that ever come. */
  #present(): (readonly [SimNode, NodeCase])[] {
    return this.case.nodes.flatMap((node, index) => (comes(node) ? [[this.nodes[index] as SimNode, node] as const] : []))
  }

  #makeHostile(index: number): Hostile {
    const { engine, network, project } = this
    const random = this.random.fork('hostile', index)
    return new Hostile({
      engine,
      network,
      place: HOSTILE_NETWORK + index,
      random,
      signer: identityOf(`hostile ${index}`),
      project: project.peerId,
      witness: this.#judge,
      overheard: () => (this.#heard.length === 0 ? undefined : random.pick(this.#heard)),
      reported: (replica) => this.#reportedOf(replica),
      anothers: () => {
        const held = this.nodes.flatMap(({ machine }) => machine.leases())
        return held.length === 0 ? undefined : random.pick(held)
      }
    })
  }

  /** Of another node's result of the same task. */
  #reportedOf(replica: ReplicaId): Pick<Result, 'output' | 'stdout'> | undefined {
    const task = parseReplicaId(replica)?.task
    for (const frame of this.#heard)
      for (const body of decodeFrame(frame)?.reports?.results ?? []) {
        const result = decodeResult(body)
        if (result !== undefined && parseReplicaId(result.replica)?.task === task) return { output: result.output, stdout: result.stdout }
      }
    return undefined
  }

  #overhear(frame: Uint8Array): void {
    this.#heard.push(frame)
    if (this.#heard.length > HEARD_MAX) this.#heard.shift()
  }

  #strike(fault: Fault): void {
    if (!this.#calm) this.#faults.strike(fault)
  }

  /** Faults stop, and what they broke is mended; new honest nodes come. Liars stay. */
  #quieten(): void {
    this.#calm = true
    this.tell('the faults stop')
    this.#faults.mend()
    for (const { machine } of this.nodes) if (machine.path instanceof NodePath) machine.path.behave()
    // One that was overtaken and has nothing to write would never learn of it: its operator ends it.
    for (const server of [...this.#servers]) if (server !== this.server) this.#kill(server, true)
    // Those that take what they are given, say that they are there and do nothing with it stay.
    for (const hostile of this.hostile) if (!hostile.hoards) hostile.stop()
    this.startServer(0)
    for (const [node] of this.#present()) node.start()
    // As many of each class of hosts. A case that was kept before there were tags has none.
    const cpus = this.case.batches.some(({ policy }) => policy.sameClass === 'cpu') ? CPUS : [undefined]
    const tag = this.case.batches.some(({ policy }) => policy.tags?.length > 0) ? { tag: 'plain' as const } : {}
    // Where votes are weighed, a task that says something else on each node is over when as many as it may have spoken.
    const fresh = Math.max(FRESH_NODES, ...this.case.batches.map(({ policy }) => (policy.doubtPpm > 0 ? policy.maxTotalResults : 0)))
    for (let index = 0; index < fresh * cpus.length; index++) {
      const cpu = cpus[index % cpus.length]
      this.#add({ ...FRESH, name: `fresh ${index}`, ...(cpu === undefined ? {} : { cpu }), ...tag }).start(index * 200)
    }
  }
}
