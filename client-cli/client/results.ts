/**
 * What was submitted through this client and is not yet taken: DCS's getResults. Each decided task is handed out once.
 * Batches are watched a bounded number at a time; those that wait take turns.
 */
import { isBatchId, parseTaskId, taskId } from '#protocol/ids'
import type { TaskView } from '#protocol/owner/messages'
import { ClientError } from '../errors.ts'
import { type Clock, pause } from '../ports.ts'
import type { OwnerLink } from './owner-link.ts'
import { queryTasks } from './queries.ts'

/** Batches watched at once. */
export const WATCHES_MAX = 64
/** How long one batch is watched while others wait for a turn. */
export const WATCH_TURN_MS = 1_000
/** Decided tasks kept until somebody takes them; then watching pauses. */
export const RESULTS_QUEUED_MAX = 20_000
/** Pauses after reading a batch through, in units of what reading took: at most a fifth of the time goes into reading. */
const READ_PAUSES = 4

export function isTerminal(task: Pick<TaskView, 'status'>): boolean {
  return task.status === 'ready' || task.status === 'failed' || task.status === 'killed'
}

interface Open {
  readonly batch: string
  /** Tasks not handed out yet, by index. */
  readonly missing: Set<number>
}

interface Taker {
  /** Waits for as long as anything is left to wait for. */
  readonly patient: boolean
  readonly give: (task: TaskView | null) => void
  readonly fail: (error: unknown) => void
}

export class Results {
  readonly #link: Pick<OwnerLink, 'ask'>
  readonly #clock: Clock
  readonly #waiting: Open[] = []
  readonly #queue: TaskView[] = []
  readonly #takers = new Set<Taker>()
  readonly #closing = new AbortController()
  #watching = 0
  #untaken = 0
  #room: (() => void)[] = []

  constructor(link: Pick<OwnerLink, 'ask'>, clock: Clock) {
    this.#link = link
    this.#clock = clock
  }

  /** Tasks of this batch will be handed out by `take`. */
  add(batch: string, tasks: number): void {
    if (!isBatchId(batch)) throw new ClientError('usage', `${batch} is not a batch`)
    this.#untaken += tasks
    this.#waiting.push({ batch, missing: new Set(Array.from({ length: tasks }, (_, index) => index)) })
    if (this.#takers.size > 0) this.#watchMore()
  }

  /**
   * The next decided task, in the order they are decided. null when `timeoutMs` is over; without a timeout, null when
   * everything submitted so far has been taken.
   */
  take(options: { timeoutMs?: number; signal?: AbortSignal } = {}): Promise<TaskView | null> {
    const ready = this.#queue.shift()
    if (ready !== undefined) {
      for (const go of this.#room.splice(0)) go()
      this.#handedOut()
      return Promise.resolve(ready)
    }
    const { timeoutMs, signal } = options
    if (timeoutMs === undefined && this.#untaken === 0) return Promise.resolve(null)
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        this.#takers.delete(taker)
        cancel?.()
        signal?.removeEventListener('abort', aborted)
      }
      const taker: Taker = {
        patient: timeoutMs === undefined,
        give: (task) => {
          leave()
          resolve(task)
        },
        fail: (error) => {
          leave()
          reject(error)
        }
      }
      const aborted = (): void => taker.fail(signal?.reason)
      const cancel = timeoutMs === undefined ? undefined : this.#clock.after(timeoutMs, () => taker.give(null))
      this.#takers.add(taker)
      signal?.addEventListener('abort', aborted, { once: true })
      if (signal?.aborted === true) return aborted()
      this.#watchMore()
    })
  }

  close(): void {
    const reason = new ClientError('unreachable', 'the client is closed')
    this.#closing.abort(reason)
    for (const go of this.#room.splice(0)) go()
    for (const taker of [...this.#takers]) taker.fail(reason)
  }

  #watchMore(): void {
    while (this.#watching < WATCHES_MAX) {
      const open = this.#waiting.shift()
      if (open === undefined) return
      this.#watching++
      void this.#turn(open).then(
        () => {
          this.#watching--
          if (open.missing.size > 0) this.#waiting.push(open)
          this.#watchMore()
        },
        (error: unknown) => {
          this.#watching--
          if (this.#closing.signal.aborted) return
          this.#waiting.push(open)
          // Told to whoever waits now; the next call tries again.
          for (const taker of [...this.#takers]) taker.fail(error)
        }
      )
    }
  }

  /** Watches one batch until all of it is handed out, or until its turn is over because others wait. */
  async #turn(open: Open): Promise<void> {
    const turn = new AbortController()
    const signal = AbortSignal.any([turn.signal, this.#closing.signal])
    const began = this.#clock.nowMs()
    const news = new Latch()
    let over = false
    let failure: unknown
    const watch = this.#link.ask({ watch: { of: open.batch } }, { signal, onBody: () => news.open() }).then(
      () => {
        over = true
        news.open()
      },
      (error: unknown) => {
        failure = error
        news.open()
      }
    )
    try {
      for (;;) {
        const last = over
        const readMs = await this.#harvest(open)
        if (open.missing.size === 0 || last) return
        // A long batch that decides a task every few milliseconds is not read through for each of them.
        if (readMs > 0) await pause(this.#clock, READ_PAUSES * readMs, signal)
        while (!news.take()) {
          await news.wait(this.#clock, WATCH_TURN_MS)
          if (this.#closing.signal.aborted || (this.#waiting.length > 0 && this.#clock.nowMs() - began >= WATCH_TURN_MS)) return
        }
        if (failure !== undefined) throw failure
      }
    } finally {
      turn.abort(new ClientError('interrupted', 'another batch has its turn'))
      await watch
    }
  }

  /** Reads the tasks from the first that is missing on and hands out those that are decided; how long reading took. */
  async #harvest(open: Open): Promise<number> {
    const [first] = open.missing
    if (first === undefined) return 0
    const began = this.#clock.nowMs()
    const after = first === 0 ? {} : { after: taskId(open.batch, first - 1) }
    for await (const task of queryTasks(this.#link, open.batch, { ...after, signal: this.#closing.signal })) {
      const index = parseTaskId(task.id)?.index
      if (index === undefined || !isTerminal(task) || !open.missing.delete(index)) continue
      await this.#hand(task)
      if (open.missing.size === 0) break
    }
    return this.#clock.nowMs() - began
  }

  async #hand(task: TaskView): Promise<void> {
    const [taker] = this.#takers
    if (taker !== undefined) {
      taker.give(task)
      this.#handedOut()
      return
    }
    this.#queue.push(task)
    while (this.#queue.length >= RESULTS_QUEUED_MAX && !this.#closing.signal.aborted) await new Promise<void>((resolve) => this.#room.push(resolve))
  }

  /** When nothing is left, those who wait without a timeout are told so. */
  #handedOut(): void {
    if (--this.#untaken > 0) return
    for (const taker of [...this.#takers]) if (taker.patient) taker.give(null)
  }
}

/** Remembers that something happened until it is taken. */
class Latch {
  #set = false
  #wake: () => void = () => {}

  open(): void {
    this.#set = true
    this.#wake()
  }

  take(): boolean {
    const was = this.#set
    this.#set = false
    return was
  }

  /** Until it is open, at most `ms`. */
  wait(clock: Clock, ms: number): Promise<void> {
    if (this.#set) return Promise.resolve()
    return new Promise((resolve) => {
      const cancel = clock.after(ms, resolve)
      this.#wake = () => {
        cancel()
        resolve()
      }
    })
  }
}
