/** Carries out the core's wish to hold a decided task's output: a copy from an agreeing node, verified, bounded, pinned. */
import { CID } from 'multiformats/cid'
import type { ContentStore } from '#protocol/content/content'
import type { PeerIdString, TaskId } from '#protocol/ids'
import type { Host } from '#protocol/peer/host'
import type { Effect, Event } from './coordinator/events.ts'
import { fetchFrom, reason } from './fetch.ts'
import type { Logger } from './logger.ts'
import { PULL_SILENCE_MS_MAX, PULLS_MAX } from './policy.ts'
import type { Clock } from './ports.ts'

type Pull = Extract<Effect, { kind: 'pull' }>

export interface PullsPorts {
  readonly content: Pick<ContentStore, 'fetch' | 'check' | 'pin' | 'sizeOf'>
  readonly host: Host
  readonly clock: Clock
  readonly logger: Logger
  readonly done: (event: Extract<Event, { kind: 'pulled' }>) => void
}

export interface PullsOptions {
  readonly atOnceMax?: number
  readonly silenceMsMax?: number
}

export class Pulls {
  readonly #ports: PullsPorts
  readonly #atOnceMax: number
  readonly #silenceMsMax: number
  /** One entry a task: the core asks once, and again only after a `pulled`. Bounded by the tasks that are decided and not yet ready. */
  readonly #waiting = new Map<TaskId, Pull>()
  readonly #running = new Map<TaskId, Promise<void>>()
  readonly #stop = new AbortController()

  constructor(ports: PullsPorts, options: PullsOptions = {}) {
    this.#ports = ports
    this.#atOnceMax = options.atOnceMax ?? PULLS_MAX
    this.#silenceMsMax = options.silenceMsMax ?? PULL_SILENCE_MS_MAX
  }

  pull(effect: Pull): void {
    this.#waiting.set(effect.task, effect)
    this.#next()
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    this.#waiting.clear()
    await Promise.all(this.#running.values())
  }

  #next(): void {
    for (const [task, effect] of this.#waiting) {
      if (this.#running.size >= this.#atOnceMax || this.#stop.signal.aborted) return
      if (this.#running.has(task)) continue
      this.#waiting.delete(task)
      const run = this.#run(effect).finally(() => {
        this.#running.delete(task)
        this.#next()
      })
      this.#running.set(task, run)
    }
  }

  async #run(effect: Pull): Promise<void> {
    const { task, nodes } = effect
    let message = 'no node that agreed is left to give the output'
    let last: PeerIdString | undefined
    for (const node of nodes) {
      last = node
      try {
        await this.#from(node, effect)
        if (!this.#stop.signal.aborted) this.#ports.done({ kind: 'pulled', task, node, ok: true, message: '', bytes: this.#sizeOf(effect) })
        return
      } catch (error) {
        if (this.#stop.signal.aborted) return
        message = reason(error)
        this.#ports.logger.warn({ task, node, reason: message }, 'an output could not be fetched from a node')
      }
    }
    this.#ports.done({ kind: 'pulled', task, node: last ?? '', ok: false, message })
  }

  /** What its nodes say it is, nobody has to believe. */
  #sizeOf({ output, stdout, stderr }: Pull): number {
    return [output, stdout, stderr].reduce((sum, text) => sum + (this.#ports.content.sizeOf(CID.parse(text)) ?? 0), 0)
  }

  /** Output, stdout and stderr together stay below the bound. What is here already is only pinned. */
  async #from(node: PeerIdString, { output, stdout, stderr, bytesMax }: Pull): Promise<void> {
    let left = bytesMax
    for (const text of [output, stdout, stderr]) {
      const root = CID.parse(text)
      if (await this.#ports.content.check(root)) {
        await this.#ports.content.pin(root)
        continue
      }
      this.#stop.signal.throwIfAborted()
      const limits = { pin: true, bytesMax: left, silenceMsMax: this.#silenceMsMax, signal: this.#stop.signal }
      left = Math.max(0, left - (await fetchFrom(node, root, this.#ports, limits)))
    }
  }
}
