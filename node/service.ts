/** The volunteer's daemon without the machine around it: the agent, what makes its word durable, and what carries it out. */
import type { ContentStore } from '#protocol/content/content'
import { type Capabilities, CRASHED_REPLICAS_MAX } from '#protocol/control/messages'
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import { messageOf } from '#protocol/message-of'
import type { Host } from '#protocol/peer/host'
import type { Signer } from '#protocol/signing/keys'
import { Agent } from './agent/agent.ts'
import type { AgentEvent, AgentView, Effect, Prompt } from './agent/events.ts'
import type { SafekeepingOptions } from './agent/safekeeping.ts'
import { Committer, type CommitterOwner } from './commit.ts'
import { Connection, type ConnectionOwner } from './connection.ts'
import { EngineWatch, type EngineWatchOwner } from './engines.ts'
import { NodeError } from './errors.ts'
import type { Exchange } from './exchange.ts'
import type { HintsOwner, HintsService } from './hints/service.ts'
import { lastWords, type Word } from './last-words.ts'
import type { ParkingOwner, ParkingService } from './parking/service.ts'
import { STOP_MS_MAX, TICK_MS } from './policy.ts'
import type { Breath, Clock, Executor, Logger, NodeStore, Random, Workspace } from './ports.ts'
import { Runner, type RunnerOwner } from './runner.ts'

export interface ServicePorts {
  readonly host: Host
  readonly content: ContentStore
  /** What other nodes have; without it all comes from the project. */
  readonly peers?: Pick<Exchange, 'host' | 'find' | 'welcomed'>
  /** What the project says through others; without it nothing is heard while it is away. */
  readonly hints?: Pick<HintsService, 'online' | 'away' | 'ownedBy'>
  /** Where results are left while the project is away, and those of others kept; without it neither is done. */
  readonly parking?: Pick<ParkingService, 'ownedBy' | 'start' | 'park' | 'collect' | 'unkeep' | 'answer'>
  readonly store: NodeStore
  readonly workspace: Workspace
  readonly executors: readonly Executor[]
  readonly signer: Signer
  readonly clock: Clock
  readonly random: Random
  readonly breath: Breath
  readonly logger: Logger
  /** The node's log before this start: its end is told to the project when the node went down with replicas in hand. Left out when nothing is to be told. */
  readonly before?: readonly Word[]
  /** Called once, when the node is done (drained, or told to quit), or cannot go on. Work is then over, but nothing is closed. */
  ended(error: NodeError | undefined): void
}

export interface ServiceOptions {
  readonly project: PeerIdString
  readonly addresses: readonly string[]
  readonly relays?: readonly string[]
  readonly known?: () => Uint8Array | undefined
  readonly onLan?: (signal: AbortSignal) => Promise<Uint8Array | undefined>
  readonly lookUp: boolean
  readonly name: string
  readonly agent: string
  readonly slots: number
  /** Of data kept for later runs. */
  readonly stockBytesMax: number
  /** What may be kept for other nodes; left out for nothing. */
  readonly keep?: SafekeepingOptions
  readonly parkAfterMs?: number | undefined
  /** Which start of the machine this is; left out or empty where the system does not tell. */
  readonly boot?: string
  readonly capabilities: Capabilities
}

const NOTHING = (): void => {}

export class NodeService implements CommitterOwner, ConnectionOwner, EngineWatchOwner, HintsOwner, ParkingOwner, RunnerOwner {
  readonly project: PeerIdString
  readonly #ports: ServicePorts
  readonly #agent: Agent
  readonly #committer: Committer
  readonly #runner: Runner
  readonly #engines: EngineWatch
  readonly #connection: Connection
  #closed = false
  #done = false
  #cancelTick = NOTHING
  /** Until what runs is ended; undefined when it may take its time. */
  #grace: { readonly endMs: number; readonly cancel: () => void } | undefined
  #cancelLast = NOTHING

  constructor(ports: ServicePorts, options: ServiceOptions) {
    this.project = options.project
    this.#ports = ports
    this.#agent = new Agent(options, ports.signer, ports.random.bytes(16))
    this.#committer = new Committer(this.#agent, ports, this)
    this.#connection = new Connection(ports, options, this)
    this.#runner = new Runner(ports, this)
    this.#engines = new EngineWatch(ports, this)
    ports.hints?.ownedBy(this)
    ports.parking?.ownedBy(this)
  }

  /** Takes up what an earlier life left, asks the engines, and begins to connect. Throws NodeError `storage` when the node's records are damaged. */
  async start(): Promise<void> {
    const { store, clock, workspace } = this.#ports
    try {
      for await (const [key, value] of store.range('')) this.#agent.restore(key, value, clock.nowMs())
      this.#agent.restored()
    } catch (cause) {
      const why = messageOf(cause)
      throw new NodeError('storage', `the node's records are damaged: ${why}; remove its state folder to start afresh (what it ran is lost)`, { cause })
    }
    this.#tellCrash()
    for (const [replica, content] of this.#agent.reported()) this.#runner.remember(replica, content)
    const held = this.#held()
    this.#takeStock()
    const kept = new Set([...this.#agent.stocked()].map(({ replica }) => replica))
    this.#runner.clear((await workspace.all()).filter((replica) => !held.has(replica) && !kept.has(replica)))
    this.#tick()
    await this.#ports.parking?.start([...this.#agent.keeping()])
    await this.#engines.start()
    this.#connection.start()
  }

  view(): AgentView & { readonly trouble: string } {
    return { ...this.#agent.view(), trouble: this.#engines.trouble === '' ? this.#connection.trouble : this.#engines.trouble }
  }

  phaseOf(replica: string): ReturnType<Agent['phaseOf']> {
    return this.#agent.phaseOf(replica)
  }

  /** Takes nothing more until `resume`. `now`: what runs is ended and given back, with what it left of itself. */
  pause(now = false): void {
    this.#committer.apply({ kind: 'pause', now })
  }

  resume(): void {
    this.#committer.apply({ kind: 'resume' })
  }

  /** The node ends when what runs has ended and was reported; after `graceMs` the rest is ended as by `quit`. Asked twice, the shorter time counts. */
  drain(graceMs?: number): void {
    this.#committer.apply({ kind: 'drain' })
    if (graceMs === undefined || this.#closed) return
    const { clock } = this.#ports
    const endMs = clock.nowMs() + graceMs
    if (this.#grace !== undefined && endMs >= this.#grace.endMs) return
    this.#grace?.cancel()
    this.#grace = { endMs, cancel: clock.after(graceMs, () => this.quit()) }
  }

  /** The node ends when what ran is killed and given back, or could not be within STOP_MS_MAX. */
  quit(): void {
    this.#committer.apply({ kind: 'quit' })
    this.#grace?.cancel()
    this.#cancelLast()
    if (!this.#closed) this.#cancelLast = this.#ports.clock.after(STOP_MS_MAX, () => this.#end())
  }

  /** Ends everything in an orderly way; what still runs runs on and is found by the next start. */
  async close(): Promise<void> {
    this.#closed = true
    this.#cancelTick()
    this.#grace?.cancel()
    this.#cancelLast()
    await this.#engines.stop()
    await this.#runner.stop()
    await this.#committer.stop()
    await this.#connection.stop()
  }

  /** Told with the next welcome. */
  #tellCrash(): void {
    const { before = [] } = this.#ports
    const inHand = before.length === 0 ? [] : this.#agent.inHand().slice(0, CRASHED_REPLICAS_MAX)
    if (inHand.length > 0) this.apply({ kind: 'crashed', words: inHand.map((replica) => ({ replica, log: lastWords(before, replica) })) })
  }

  /** What lies here for later runs, as far as it is still there; what runs on may read its part of it. */
  #takeStock(): void {
    for (const { root, replica } of [...this.#agent.stocked()]) if (!this.#runner.findStocked(root, replica)) this.apply({ kind: 'missing', root })
    for (const { replica, manifest } of this.#agent.unrecovered()) this.#runner.using(replica, manifest)
  }

  // What its parts tell it.

  apply(event: AgentEvent): void {
    if (event.kind === 'welcome') {
      this.#ports.peers?.welcomed()
      this.#ports.hints?.online()
    } else if (event.kind === 'disconnected') this.#ports.hints?.away()
    this.#committer.apply(event)
  }

  room(): Promise<void> | undefined {
    return this.#committer.room()
  }

  wake(): void {
    this.#connection.wake()
  }

  hinted(what: 'kill' | 'release', replicas: readonly ReplicaId[]): void {
    this.#committer.apply({ kind: 'hinted', what, replicas })
  }

  online(signal: AbortSignal): Promise<void> {
    return this.#connection.online(signal)
  }

  isStocked(root: string): boolean {
    return this.#agent.isStocked(root)
  }

  refused(error: NodeError): void {
    this.#end(error)
  }

  fatal(error: NodeError): void {
    this.#end(error)
  }

  engineDown(error: Error): void {
    this.#engines.down(error)
  }

  enginesChanged(up: boolean): void {
    this.apply({ kind: 'engine', up })
  }

  async recover(first: boolean): Promise<void> {
    const leases = this.#agent.unrecovered()
    const keep = new Set(leases.map(({ replica }) => replica))
    if (!first) {
      // While an engine did not answer, nothing was started; what it could not remove then goes now.
      await this.#runner.sweep(keep)
      return
    }
    const found = await this.#runner.recover(leases, this.#agent.isAnotherBoot)
    await this.#runner.sweep(keep)
    if (leases.length > 0) this.#ports.logger.info({ found: found.size, lost: leases.length - found.size }, 'looked for the runs of the last start')
    this.#committer.apply({ kind: 'recovered', found })
  }

  prompt(prompts: readonly Prompt[]): void {
    for (const prompt of prompts) {
      switch (prompt.kind) {
        case 'prepare':
          this.#runner.prepare(prompt.replica, prompt.manifest)
          break
        case 'bring':
          this.#runner.bring(prompt.bundle, prompt.manifest)
          break
        case 'let_go':
          this.#runner.letGo(prompt.bundle)
          break
        case 'publish':
          this.#runner.publish(prompt.replica, prompt.manifest)
          break
        case 'abandon':
          this.#runner.abandon(prompt.replica)
          break
        case 'kill':
          this.#runner.kill(prompt.replica, prompt.graceMs)
          break
        case 'save':
          this.#runner.save(prompt.replica)
          break
        case 'saved':
          this.#runner.saved(prompt.replica)
          break
        case 'evict':
          if (!this.#agent.isStocked(prompt.root)) this.#runner.evict(prompt.root, prompt.replica)
          break
        case 'park':
          this.#ports.parking?.park(prompt)
          break
        case 'unkeep':
          this.#ports.parking?.unkeep(prompt.content)
          break
        case 'disconnect':
          this.#connection.drop(prompt.message)
          break
      }
    }
  }

  carryOut(effects: readonly Effect[]): void {
    const frames: Uint8Array[] = []
    let ack = 0
    for (const effect of effects) {
      switch (effect.kind) {
        case 'hello':
          this.#connection.hello(effect)
          break
        case 'send':
          frames.push(effect.frame)
          break
        case 'ack':
          ack = Math.max(ack, effect.seq)
          break
        case 'start':
          this.#runner.start(effect.lease)
          break
        case 'clean':
          this.#runner.clean(effect.lease)
          break
        case 'remove':
          this.#runner.remove(effect.replica, effect.began)
          break
        case 'release':
          this.#runner.release(effect.replica, effect.content)
          break
        case 'collect':
          this.#ports.parking?.collect(effect.parcel)
          break
        case 'answer':
          this.#ports.parking?.answer(effect.peer, effect.replica, effect.code)
          break
        case 'done':
          this.#end()
          break
      }
    }
    this.#connection.send(frames, ack)
  }

  #end(error?: NodeError): void {
    if (this.#done) return
    this.#done = true
    this.#ports.ended(error)
  }

  #held(): ReadonlySet<string> {
    return new Set(this.#agent.view().replicas.map(({ replica }) => replica))
  }

  #tick(): void {
    this.#cancelTick = this.#ports.clock.after(TICK_MS, this.#ticked.bind(this))
  }

  #ticked(): void {
    this.#committer.apply({ kind: 'tick', moved: this.#runner.moved(), figures: this.#runner.figures() })
    this.#runner.addSnapshots()
    this.#engines.tick()
    this.#tick()
  }
}
