/**
 * The committer: the one place where the project's state becomes durable. An event is applied to the core at once; what the
 * core wants changed is written in one group commit; events that arrive while a commit is on its way are gathered for the
 * next. Effects leave only after the commit they belong to (durable before visible), receipts are signed and stored in it.
 */
import { messageOf } from '#protocol/message-of'
import { encodeReceipt, RECEIPT_DOMAIN } from '#protocol/result/receipt'
import { BATCH_LEAVES_MAX, leavesOf, rootOf } from '#protocol/signing/batch'
import type { Signer } from '#protocol/signing/keys'
import type { Effect, Event, Unsigned } from './coordinator/events.ts'
import { encodeReceiptPage, encodeSeal, encodeStoredReceipt, sealId, sealKey } from './coordinator/receipt-records.ts'
import { ServerError } from './errors.ts'
import type { Logger } from './logger.ts'
import { EVENTS_WAITING_MAX, LAZY_MS, RETRY_FIRST_MS, RETRY_MS_MAX } from './policy.ts'
import { type Change, type Clock, type Store, StoreError } from './ports.ts'

/** What the committer needs of the coordinator core. */
export interface Core {
  apply(event: Event, nowMs: number): void
  /** Everything gathered since the last call. */
  take(): { readonly changes: readonly Change[]; readonly effects: readonly Effect[]; readonly unsigned: readonly Unsigned[] }
}

export interface CommitterPorts {
  readonly core: Core
  readonly store: Pick<Store, 'batch'>
  readonly clock: Clock
  readonly signer: Pick<Signer, 'sign'>
  readonly logger: Logger
  /** Carries out the effects of one commit, in order. Must not throw. */
  readonly carryOut: (effects: readonly Effect[]) => void
  /** The server cannot go on: another epoch leads, the state is corrupt, or an invariant is broken. Called once. */
  readonly onFatal: (error: ServerError) => void
}

export interface CommitterOptions {
  readonly epoch: number
  readonly eventsWaitingMax?: number
}

export interface CommitCounts {
  commits: number
  events: number
  changes: number
  receipts: number
  failures: number
}

/**
 * Nobody waits for what these change: they go with the next commit, or alone after LAZY_MS. Else the acknowledgement of a
 * lease would start a commit, and the request to run it, a moment later, would wait for two.
 */
const LAZY: ReadonlySet<Event['kind']> = new Set(['ack', 'heartbeat', 'progress', 'gone', 'tick'])

type Mode = 'open' | 'read_only' | 'stopped'

interface Waiter {
  resolve(): void
  reject(error: ServerError): void
}

/** To whoever asked for what could not be written: it was applied and is written when there is room, if this process lives so long. */
const DISK_FULL_NOW =
  'the project server cannot write: its disk is full, and nothing is promised. Free some space; what was asked may still be done then, so look (talko ps) before asking again'
const DISK_FULL = 'the project server cannot write: its disk is full; nothing was accepted. Free some space and repeat the request (repeating is harmless)'

export class Committer {
  readonly counts: CommitCounts = { commits: 0, events: 0, changes: 0, receipts: 0, failures: 0 }
  readonly #ports: CommitterPorts
  readonly #epoch: number
  readonly #waitingMax: number
  #mode: Mode = 'open'
  #nextSeal = 1
  #running: Promise<void> | undefined
  #gathered = 0
  #extra: Change[] = []
  #waiters: Waiter[] = []
  #held: (() => void)[] = []
  #wakeRetry: (() => void) | undefined
  #cancelLazy: (() => void) | undefined

  constructor(ports: CommitterPorts, options: CommitterOptions) {
    this.#ports = ports
    this.#epoch = options.epoch
    this.#waitingMax = options.eventsWaitingMax ?? EVENTS_WAITING_MAX
  }

  get mode(): Mode {
    return this.#mode
  }

  /** Applies an event whose effects will follow by themselves. Ignored once the committer is stopped. */
  apply(event: Event): void {
    if (this.#mode === 'stopped') return
    this.counts.events++
    this.#gathered++
    try {
      this.#ports.core.apply(event, this.#ports.clock.nowMs())
    } catch (cause) {
      this.#fail(new ServerError('failed', `the coordinator cannot go on: ${messageOf(cause)}`, { cause }))
      return
    }
    if (!LAZY.has(event.kind)) this.#start()
    else if (this.#running === undefined) this.#cancelLazy ??= this.#ports.clock.after(LAZY_MS, () => this.#start())
  }

  /** Applies an event and resolves when everything it changed is on disk. Throws ServerError `disk_full` or `unavailable`: then nothing may be promised to anyone. */
  async commit(event: Event): Promise<void> {
    this.assertOpen()
    const done = this.#wait()
    this.apply(event)
    this.#start()
    await done
  }

  /** Writes records that are not the core's in the next commit. Throws as `commit` does. */
  async write(changes: readonly Change[]): Promise<void> {
    this.assertOpen()
    this.#extra.push(...changes)
    const done = this.#wait()
    this.#start()
    await done
  }

  /** Resolves when everything applied so far is on disk. Throws as `commit` does. */
  async flush(): Promise<void> {
    const done = this.#wait()
    this.#start()
    await done
  }

  /** Throws ServerError while nothing new can be accepted. */
  assertOpen(): void {
    if (this.#mode === 'read_only') throw new ServerError('disk_full', DISK_FULL)
    if (this.#mode === 'stopped') throw stopped()
  }

  /** Undefined when there is room for more events, otherwise resolves when there is: what readers of streams wait for between frames. */
  room(): Promise<void> | undefined {
    return this.#isFull ? this.#roomAgain() : undefined
  }

  get #isFull(): boolean {
    return this.#gathered >= this.#waitingMax && this.#mode !== 'stopped'
  }

  async #roomAgain(): Promise<void> {
    while (this.#isFull) await new Promise<void>((resolve) => this.#held.push(resolve))
  }

  /** Commits what was gathered and stops. In read-only mode what could not be written is left: nobody was told of it. */
  async stop(): Promise<void> {
    if (this.#mode === 'open') await this.flush().catch(() => undefined)
    this.#close(stopped())
    await this.#running
  }

  #wait(): Promise<void> {
    if (this.#mode === 'stopped') return Promise.reject(stopped())
    return new Promise((resolve, reject) => this.#waiters.push({ resolve, reject }))
  }

  #start(): void {
    if (this.#running !== undefined || this.#mode === 'stopped') return
    this.#cancelLazy?.()
    this.#cancelLazy = undefined
    this.#running = Promise.resolve()
      .then(() => this.#run())
      .catch((cause: unknown) => this.#fail(new ServerError('failed', `the coordinator cannot go on: ${messageOf(cause)}`, { cause })))
      .finally(() => {
        this.#running = undefined
        if (this.#gathered > 0 || this.#extra.length > 0 || this.#waiters.length > 0) this.#start()
      })
  }

  async #run(): Promise<void> {
    while (this.#mode !== 'stopped') {
      const { changes, effects, unsigned } = this.#ports.core.take()
      const waiters = this.#waiters
      const all = [...changes, ...this.#extra, ...this.#sign(unsigned)]
      this.#extra = []
      this.#waiters = []
      const events = this.#gathered
      if (all.length === 0 && effects.length === 0 && waiters.length === 0 && events === 0) return
      if (all.length > 0 && !(await this.#write(all, waiters))) return
      this.#gathered -= events
      this.#ports.carryOut(effects)
      for (const waiter of waiters) waiter.resolve()
      this.#release()
    }
  }

  /** Receipts of one commit are one signed batch: one signature, however many tasks were decided. */
  #sign(unsigned: readonly Unsigned[]): Change[] {
    const changes: Change[] = []
    const pages = new Map<string, Uint8Array[]>()
    for (let from = 0; from < unsigned.length; from += BATCH_LEAVES_MAX) {
      const batch = unsigned.slice(from, from + BATCH_LEAVES_MAX)
      const leaves = leavesOf(batch.map(({ receipt }) => encodeReceipt(receipt)))
      const signature = this.#ports.signer.sign(RECEIPT_DOMAIN, rootOf(leaves))
      const seal = sealId(this.#epoch, 'p', this.#nextSeal++)
      changes.push({ key: sealKey(seal), value: encodeSeal({ leaves, signature }) })
      for (const [index, { page, receipt, seals }] of batch.entries()) {
        const stored = encodeStoredReceipt({ receipt, seal, index, seals })
        const others = pages.get(page)
        if (others === undefined) pages.set(page, [stored])
        else others.push(stored)
      }
    }
    for (const [key, receipts] of pages) changes.push({ key, value: encodeReceiptPage(receipts) })
    this.counts.receipts += unsigned.length
    return changes
  }

  /** True when the changes are on disk; false when the committer stopped instead. */
  async #write(changes: readonly Change[], waiters: Waiter[]): Promise<boolean> {
    let pauseMs = RETRY_FIRST_MS
    for (;;) {
      try {
        await this.#ports.store.batch(this.#epoch, changes)
        this.counts.commits++
        this.counts.changes += changes.length
        if (this.#mode === 'read_only') {
          this.#mode = 'open'
          this.#ports.logger.info({ changes: changes.length }, 'the disk has room again: accepting submissions')
        }
        return true
      } catch (error) {
        this.counts.failures++
        if (!(error instanceof StoreError) || error.code !== 'disk_full') {
          const failure = asServerError(error)
          for (const waiter of waiters.splice(0)) waiter.reject(failure)
          this.#fail(failure)
          return false
        }
        if (this.#mode === 'open') {
          this.#mode = 'read_only'
          this.#ports.logger.error({ reason: error.message }, 'the disk is full: refusing submissions until it has room')
        }
        const refusal = new ServerError('disk_full', DISK_FULL_NOW, { cause: error })
        for (const waiter of [...waiters.splice(0), ...this.#waiters.splice(0)]) waiter.reject(refusal)
      }
      await this.#pause(pauseMs)
      if (this.mode === 'stopped') return false
      pauseMs = Math.min(pauseMs * 2, RETRY_MS_MAX)
    }
  }

  async #pause(ms: number): Promise<void> {
    await new Promise<void>((resolve) => {
      const cancel = this.#ports.clock.after(ms, resolve)
      this.#wakeRetry = () => {
        cancel()
        resolve()
      }
    })
    this.#wakeRetry = undefined
  }

  #fail(error: ServerError): void {
    if (this.#mode === 'stopped') return
    this.#close(error)
    this.#ports.onFatal(error)
  }

  #close(error: ServerError): void {
    this.#mode = 'stopped'
    this.#gathered = 0
    this.#extra = []
    for (const waiter of this.#waiters.splice(0)) waiter.reject(error)
    this.#release()
    this.#cancelLazy?.()
    this.#wakeRetry?.()
  }

  #release(): void {
    for (const resolve of this.#held.splice(0)) resolve()
  }
}

function stopped(): ServerError {
  return new ServerError('unavailable', 'the project server is stopping; try again when it is back')
}

function asServerError(error: unknown): ServerError {
  if (error instanceof StoreError) {
    if (error.code === 'stale_epoch')
      return new ServerError('stale_epoch', `another server leads this project now, this one stops: ${error.message}`, { cause: error })
    if (error.code === 'corrupt')
      return new ServerError('corrupt', `the project's state cannot be written, this server stops: ${error.message}`, { cause: error })
  }
  return new ServerError('failed', `the project's state cannot be written, this server stops: ${messageOf(error)}`, { cause: error })
}
