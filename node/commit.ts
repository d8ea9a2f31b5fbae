/**
 * The one place where the agent's state becomes durable. An event is applied at once; what it changed is written in one
 * group commit with all that came in the same breath; effects leave only after the commit they belong to.
 */
import { messageOf } from '#protocol/message-of'
import type { AgentEvent, Effect, Prompt, Step } from './agent/events.ts'
import { NodeError } from './errors.ts'
import { EVENTS_WAITING_MAX } from './policy.ts'
import type { Breath, Clock, NodeStore } from './ports.ts'

export interface CommitterPorts {
  readonly store: Pick<NodeStore, 'batch'>
  readonly clock: Pick<Clock, 'nowMs'>
  readonly breath: Breath
}

export interface CommitterCore {
  apply(event: AgentEvent, nowMs: number): void
  takePrompts(): readonly Prompt[]
  take(): Step
}

export interface CommitterOwner {
  /** Both must not throw. */
  prompt(prompts: readonly Prompt[]): void
  carryOut(effects: readonly Effect[]): void
  /** The node cannot go on. Called once; nothing is applied afterwards. */
  fatal(error: NodeError): void
}

export class Committer {
  readonly #core: CommitterCore
  readonly #ports: CommitterPorts
  readonly #owner: CommitterOwner
  #running: Promise<void> | undefined
  #waiting = 0
  #stopped = false
  /** Those who wait for room. */
  #held: (() => void)[] | undefined

  constructor(core: CommitterCore, ports: CommitterPorts, owner: CommitterOwner) {
    this.#core = core
    this.#ports = ports
    this.#owner = owner
  }

  apply(event: AgentEvent): void {
    if (this.#stopped) return
    try {
      this.#core.apply(event, this.#ports.clock.nowMs())
    } catch (cause) {
      this.#fail(new NodeError('storage', `the node cannot go on: ${messageOf(cause)}`, { cause }))
      return
    }
    this.#waiting++
    this.#running ??= this.#run()
  }

  /** Undefined when there is room for more events; otherwise resolves when there may be. */
  room(): Promise<void> | undefined {
    if (this.#waiting < EVENTS_WAITING_MAX || this.#stopped) return undefined
    return new Promise((resolve) => {
      this.#held ??= []
      this.#held.push(resolve)
    })
  }

  /** Commits what was applied, then nothing more. */
  async stop(): Promise<void> {
    await this.#running
    this.#stopped = true
    this.#release()
  }

  async #run(): Promise<void> {
    try {
      while (this.#waiting > 0 && !this.#stopped) await this.#commit()
    } catch (cause) {
      const why = messageOf(cause)
      this.#fail(new NodeError('storage', `the node cannot go on and stops: ${why}; what it holds is kept and goes on after the next start`, { cause }))
    }
    this.#running = undefined
  }

  /** Throws when the changes could not be made durable: then nothing of them may leave. */
  async #commit(): Promise<void> {
    // Prompts that are answered at once (a task without inputs is prepared in no time) join the same commit.
    for (let round = 0; round < 2; round++) {
      await this.#ports.breath()
      const prompts = this.#core.takePrompts()
      if (prompts.length === 0) break
      this.#owner.prompt(prompts)
    }
    const gathered = this.#waiting
    const { changes, prompts, effects } = this.#core.take()
    if (prompts.length > 0) this.#owner.prompt(prompts)
    if (changes.length > 0) await this.#ports.store.batch(changes)
    this.#waiting -= gathered
    this.#owner.carryOut(effects)
    this.#release()
  }

  #fail(error: NodeError): void {
    if (this.#stopped) return
    this.#stopped = true
    this.#release()
    this.#owner.fatal(error)
  }

  #release(): void {
    for (const resolve of this.#held ?? []) resolve()
    this.#held = undefined
  }
}
