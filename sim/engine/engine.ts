/**
 * Virtual time: events in the order of (time, when they were planned), one at a time; promises are settled between any two.
 * Equal seeds give equal orders, and `hash` tells whether they did.
 */
import { setImmediate } from 'node:timers'
import { drainPromises } from './checkpoint.ts'

/** Something that will happen. There are several for every node of a world: small, and in lists without arrays. */
export abstract class Planned {
  /** Planned after it for the same time. */
  next: Planned | undefined

  /** False when it was cancelled: then it does not count as an event either. */
  abstract readonly wanted: boolean
  /** It happens. */
  abstract fire(): void
}

/** Calls back, unless it is cancelled before. */
export class Call extends Planned {
  #call: (() => void) | undefined

  constructor(call: () => void) {
    super()
    this.#call = call
  }

  get wanted(): boolean {
    return this.#call !== undefined
  }

  fire(): void {
    this.#call?.()
  }

  cancel(): void {
    this.#call = undefined
  }
}

/** What happens at one time, in the order in which it was planned. */
interface Moment {
  readonly first: Planned
  last: Planned
}

/** Events in one turn of the real event loop: signals and progress get their chance between. */
const EVENTS_PER_TURN = 20_000

export class Engine {
  /** Milliseconds since the world began, whole. */
  nowMs = 0
  /** Carried out so far. */
  events = 0
  #first = 0x811c9dc5
  #second = 0x9e3779b9
  readonly #at = new Map<number, Moment>()
  /** The times in `#at` as a binary heap. */
  readonly #times: number[] = []
  #present: Moment | undefined
  /** What happened last in the present; undefined before its first. */
  #done: Planned | undefined
  #halted = false
  readonly #settle: () => void

  /** `settle` runs what is ready between two events, in place of the promises alone. */
  constructor(settle: () => void = drainPromises) {
    this.#settle = settle
  }

  /** Calls back after so many milliseconds, 0 being after all that is planned for now. The answer cancels. */
  after(ms: number, call: () => void): () => void {
    const planned = new Call(call)
    this.plan(ms, planned)
    return () => planned.cancel()
  }

  /** As `after`, for who keeps what is planned, or never cancels it. Each is planned once. */
  plan(ms: number, planned: Planned): void {
    const atMs = this.nowMs + Math.max(0, Math.round(ms))
    const same = this.#at.get(atMs)
    if (same !== undefined) {
      same.last.next = planned
      same.last = planned
    } else {
      this.#at.set(atMs, { first: planned, last: planned })
      push(this.#times, atMs)
    }
  }

  /** Mixes a whole number into the hash of everything that happened. */
  fold(value: number): void {
    this.#first = Math.imul(this.#first ^ value, 0x01000193)
    this.#second = Math.imul(this.#second ^ (this.#first >>> 15), 0x85ebca6b) + 0x632be5ab
  }

  foldBytes(bytes: Uint8Array): void {
    let sum = bytes.length
    for (let at = 0; at < bytes.length; at++) sum = (Math.imul(sum, 31) + (bytes[at] as number)) | 0
    this.fold(sum)
  }

  get hash(): string {
    return (this.#first >>> 0).toString(16).padStart(8, '0') + (this.#second >>> 0).toString(16).padStart(8, '0')
  }

  /** Nothing happens any more. */
  halt(): void {
    this.#halted = true
  }

  /** Resolves when `over` says so (asked at every new time), nothing is left to happen, `untilMs` is reached, or the world was halted. */
  async run(untilMs: number, over: () => boolean = () => false): Promise<void> {
    await new Promise<void>((resolve, reject) => {
      const turn = (): void => {
        try {
          if (this.#turn(untilMs, over)) resolve()
          else setImmediate(turn)
        } catch (error) {
          reject(error)
        }
      }
      setImmediate(turn)
    })
  }

  #turn(untilMs: number, over: () => boolean): boolean {
    for (const endAt = this.events + EVENTS_PER_TURN; this.events < endAt; ) {
      if (this.#halted) return true
      const done = this.#done
      const planned = done === undefined ? this.#present?.first : done.next
      if (planned === undefined) {
        if (!this.#forward(untilMs, over)) return true
        continue
      }
      // Whoever still holds what has happened holds nothing of what came after it.
      if (done !== undefined) done.next = undefined
      this.#done = planned
      if (!planned.wanted) continue
      this.events++
      this.fold(this.nowMs)
      planned.fire()
      this.#settle()
    }
    return false
  }

  /** To the next time at which something is planned; false when there is none before the end. */
  #forward(untilMs: number, over: () => boolean): boolean {
    if (this.#at.get(this.nowMs) === this.#present) this.#at.delete(this.nowMs)
    const atMs = this.#times[0]
    this.#present = undefined
    this.#done = undefined
    if (over() || atMs === undefined || atMs > untilMs) return false
    pop(this.#times)
    this.nowMs = atMs
    this.#present = this.#at.get(atMs)
    return true
  }
}

function push(heap: number[], value: number): void {
  let at = heap.length
  heap.push(value)
  while (at > 0) {
    const parent = (at - 1) >> 1
    const above = heap[parent] as number
    if (above <= value) break
    heap[at] = above
    at = parent
  }
  heap[at] = value
}

function pop(heap: number[]): void {
  const last = heap.pop() as number
  const { length } = heap
  if (length === 0) return
  let at = 0
  for (;;) {
    let child = 2 * at + 1
    if (child >= length) break
    if (child + 1 < length && (heap[child + 1] as number) < (heap[child] as number)) child++
    if ((heap[child] as number) >= last) break
    heap[at] = heap[child] as number
    at = child
  }
  heap[at] = last
}
