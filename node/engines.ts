/** Keeps watch over the engines: the node takes work only while all of them answer, and before the first work it looks for what an earlier life left running. */

import { messageOf } from '#protocol/message-of'
import { PROBE_DOWN_TICKS, PROBE_TICKS } from './policy.ts'
import type { Executor, Logger } from './ports.ts'

export interface EngineWatchPorts {
  readonly executors: readonly Executor[]
  readonly logger: Logger
}

export interface EngineWatchOwner {
  /** Each time all engines answer again, before work is taken: what an earlier life, or a broken connection to an engine, left behind. Until it has succeeded once, `first` is true. Rejects when an engine stops answering meanwhile. */
  recover(first: boolean): Promise<void>
  enginesChanged(up: boolean): void
}

export class EngineWatch {
  readonly #ports: EngineWatchPorts
  readonly #owner: EngineWatchOwner
  #trouble = 'the engines were not asked yet'
  #recovered = false
  #up = false
  #stopped = false
  /** Until the next look. */
  #ticks = PROBE_DOWN_TICKS
  #looking: Promise<void> | undefined

  constructor(ports: EngineWatchPorts, owner: EngineWatchOwner) {
    this.#ports = ports
    this.#owner = owner
  }

  /** Why no work is taken; empty when the engines answer. */
  get trouble(): string {
    return this.#trouble
  }

  /** Resolves after the first look. */
  async start(): Promise<void> {
    await this.#look()
  }

  /** An engine failed while it was used. */
  down(error: Error): void {
    this.#tell(false, error.message)
    this.#again()
  }

  /** The node's rhythm. */
  tick(): void {
    if (--this.#ticks <= 0 && this.#looking === undefined && !this.#stopped) void this.#look()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    await this.#looking
  }

  #look(): Promise<void> {
    this.#looking ??= this.#probe().finally(() => {
      this.#looking = undefined
      this.#again()
    })
    return this.#looking
  }

  async #probe(): Promise<void> {
    try {
      for (const executor of this.#ports.executors) await executor.probe()
      if (!this.#up) await this.#owner.recover(!this.#recovered)
      this.#recovered = true
      this.#tell(true, '')
    } catch (error) {
      this.#tell(false, messageOf(error))
    }
  }

  #again(): void {
    this.#ticks = this.#up ? PROBE_TICKS : PROBE_DOWN_TICKS
  }

  #tell(up: boolean, trouble: string): void {
    if (this.#stopped) return
    if (trouble !== '' && trouble !== this.#trouble) this.#ports.logger.warn({ why: trouble }, 'an engine does not answer: taking no work until it does')
    if (up && !this.#up) this.#ports.logger.info({ engines: this.#ports.executors.map(({ engine }) => engine) }, 'the engines answer: taking work')
    this.#trouble = trouble
    if (up === this.#up && trouble === '') return
    this.#up = up
    this.#owner.enginesChanged(up)
  }
}
