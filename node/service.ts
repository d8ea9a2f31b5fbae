/** The volunteer's daemon without the machine around it: the agent, what makes its word durable, and what carries it out. */
import type { Engine } from '#protocol/bundle/manifest'
import type { ContentStore } from '#protocol/content/content'
import type { Capabilities } from '#protocol/control/messages'
import type { PeerIdString } from '#protocol/ids'
import type { Host } from '#protocol/peer/host'
import type { Signer } from '#protocol/signing/keys'
import { Agent } from './agent/agent.ts'
import type { AgentView, Effect, Prompt } from './agent/events.ts'
import { Committer } from './commit.ts'
import { Connection } from './connection.ts'
import { EngineWatch } from './engines.ts'
import { NodeError } from './errors.ts'
import { KeptContent } from './kept.ts'
import { LeaseCheck } from './leases.ts'
import { STOP_MS_MAX, TICK_MS } from './policy.ts'
import type { Breath, Clock, Executor, Logger, NodeStore, Random, Workspace } from './ports.ts'
import { Runner } from './runner.ts'

export interface ServicePorts {
  readonly host: Host
  readonly content: ContentStore
  readonly store: NodeStore
  readonly workspace: Workspace
  readonly executors: readonly Executor[]
  readonly signer: Signer
  readonly clock: Clock
  readonly random: Random
  readonly breath: Breath
  readonly logger: Logger
}

export interface ServiceOptions {
  readonly project: PeerIdString
  readonly addresses: readonly string[]
  readonly lookUp: boolean
  readonly name: string
  readonly agent: string
  readonly slots: number
  readonly capabilities: Capabilities
}

export class NodeService {
  /** Resolves when the node is done (drained, or told to quit); rejects with NodeError when it cannot go on. Work is then over, but nothing is closed. */
  readonly done: Promise<void>
  readonly #ports: ServicePorts
  readonly #agent: Agent
  readonly #committer: Committer
  readonly #kept: KeptContent
  readonly #runner: Runner
  readonly #engines: EngineWatch
  readonly #connection: Connection
  #settle: { resolve(): void; reject(error: NodeError): void }
  #closed = false
  #cancelTick = (): void => {}
  #graceEndMs = Number.POSITIVE_INFINITY
  #cancelGrace = (): void => {}
  #cancelLast = (): void => {}

  constructor(ports: ServicePorts, options: ServiceOptions) {
    const { host, content, store, workspace, executors, signer, clock, random, breath, logger } = ports
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    // Whoever started the node learns of a failure through `done`; nobody has to listen.
    promise.catch(() => undefined)
    this.done = promise
    this.#settle = { resolve, reject }
    this.#ports = ports
    this.#agent = new Agent({ project: options.project, slots: options.slots, signer, link: random.bytes(16) })
    this.#committer = new Committer({
      core: this.#agent,
      store,
      clock,
      breath,
      prompt: (prompts) => this.#prompt(prompts),
      carryOut: (effects) => this.#carryOut(effects),
      onFatal: (error) => reject(error)
    })
    this.#connection = new Connection(
      {
        host,
        clock,
        random,
        logger,
        leases: new LeaseCheck(options.project, {
          engines: executors.map(({ engine }) => engine),
          cpuMillis: options.capabilities.cpuMillis,
          memoryBytes: options.capabilities.memoryBytes
        }),
        onEvent: (event) => this.#committer.apply(event),
        room: () => this.#committer.room(),
        onRefused: (error) => reject(error)
      },
      options
    )
    this.#kept = new KeptContent(content, workspace)
    this.#runner = new Runner({
      executors: new Map<Engine, Executor>(executors.map((executor) => [executor.engine, executor])),
      store: content,
      kept: this.#kept,
      workspace,
      inputs: { store: content, host, from: [options.project], clock, online: (signal) => this.#connection.online(signal) },
      logger,
      onEvent: (event) => this.#committer.apply(event),
      onEngineDown: (error) => this.#engines.down(error)
    })
    this.#engines = new EngineWatch({
      executors,
      clock,
      logger,
      recover: (first) => this.#recover(first),
      onChange: (up) => this.#committer.apply({ kind: 'engine', up })
    })
  }

  /** Takes up what an earlier life left, asks the engines, and begins to connect. Throws NodeError `storage` when the node's records are damaged. */
  async start(): Promise<void> {
    const { store, clock, workspace } = this.#ports
    try {
      for await (const [key, value] of store.range('')) this.#agent.restore(key, value, clock.nowMs())
      this.#agent.restored()
    } catch (cause) {
      const why = cause instanceof Error ? cause.message : String(cause)
      throw new NodeError('storage', `the node's records are damaged: ${why}; remove its state folder to start afresh (what it ran is lost)`, { cause })
    }
    for (const [replica, content] of this.#agent.reported()) this.#kept.remember(replica, content)
    await workspace.sweep(this.#held())
    this.#tick()
    await this.#engines.start()
    this.#connection.start()
  }

  view(): AgentView & { readonly trouble: string } {
    return { ...this.#agent.view(), trouble: this.#engines.trouble === '' ? this.#connection.trouble : this.#engines.trouble }
  }

  phaseOf(replica: string): ReturnType<Agent['phaseOf']> {
    return this.#agent.phaseOf(replica)
  }

  pause(): void {
    this.#committer.apply({ kind: 'pause' })
  }

  resume(): void {
    this.#committer.apply({ kind: 'resume' })
  }

  /** `done` resolves when what runs has ended and was reported; after `graceMs` the rest is ended as by `quit`. Asked twice, the shorter time counts. */
  drain(graceMs?: number): void {
    this.#committer.apply({ kind: 'drain' })
    if (graceMs === undefined || this.#closed) return
    const { clock } = this.#ports
    const endMs = clock.nowMs() + graceMs
    if (endMs >= this.#graceEndMs) return
    this.#graceEndMs = endMs
    this.#cancelGrace()
    this.#cancelGrace = clock.after(graceMs, () => this.quit())
  }

  /** `done` resolves when what ran is killed and given back, or could not be within STOP_MS_MAX. */
  quit(): void {
    this.#committer.apply({ kind: 'quit' })
    this.#cancelGrace()
    this.#cancelLast()
    if (!this.#closed) this.#cancelLast = this.#ports.clock.after(STOP_MS_MAX, () => this.#settle.resolve())
  }

  /** Ends everything in an orderly way; what still runs runs on and is found by the next start. */
  async close(): Promise<void> {
    this.#closed = true
    this.#cancelTick()
    this.#cancelGrace()
    this.#cancelLast()
    await this.#engines.stop()
    await this.#runner.stop()
    await this.#committer.stop()
    await this.#connection.stop()
  }

  #held(): ReadonlySet<string> {
    return new Set(this.#agent.view().replicas.map(({ replica }) => replica))
  }

  async #recover(first: boolean): Promise<void> {
    const leases = this.#agent.unrecovered()
    const keep = new Set(leases.map(({ replica }) => replica))
    if (!first) {
      // While an engine did not answer, nothing was started; what it could not remove then goes now.
      await this.#runner.sweep(keep)
      return
    }
    const found = await this.#runner.recover(leases)
    await this.#runner.sweep(keep)
    if (leases.length > 0) this.#ports.logger.info({ found: found.size, lost: leases.length - found.size }, 'looked for the runs of the last start')
    this.#committer.apply({ kind: 'recovered', found })
  }

  #tick(): void {
    this.#cancelTick = this.#ports.clock.after(TICK_MS, () => {
      this.#committer.apply({ kind: 'tick' })
      this.#tick()
    })
  }

  #prompt(prompts: readonly Prompt[]): void {
    for (const prompt of prompts) {
      switch (prompt.kind) {
        case 'prepare':
          this.#runner.prepare(prompt.replica, prompt.manifest)
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
        case 'disconnect':
          this.#connection.drop(prompt.message)
          break
      }
    }
  }

  #carryOut(effects: readonly Effect[]): void {
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
          this.#runner.start(effect.replica, effect.manifest)
          break
        case 'clean':
          this.#runner.clean(effect.lease)
          break
        case 'remove':
          this.#runner.remove(effect.replica, effect.began)
          break
        case 'done':
          this.#settle.resolve()
          break
      }
    }
    this.#connection.send(frames, ack)
  }
}
