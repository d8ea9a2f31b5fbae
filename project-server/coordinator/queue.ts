/** A queue of tasks in their order: cheap at both ends, tasks that come back find their old place. */
import type { Heads } from './heads.ts'
import type { Task } from './model.ts'

/** Holes are closed when there are this many, and more of them than tasks. */
const HOLES_MAX = 1024
/** Fewer are put into their places one by one. */
const MERGE_MIN = 64

export class OrderedQueue {
  #tasks: (Task | undefined)[] = []
  #orders: number[] = []
  #head = 0
  #size = 0
  readonly #heads: Heads
  readonly #place: number

  /** It tells `heads` who is first, under this number. */
  constructor(heads: Heads, place: number) {
    this.#heads = heads
    this.#place = place
  }

  get size(): number {
    return this.#size
  }

  /** A task is in at most one queue, and once. */
  add(task: Task): void {
    if (task.queue !== null) throw new Error(`task ${task.id} waits already`)
    task.queue = this
    this.#size++
    const last = this.#orders.length - 1
    if (last < this.#head || task.order > (this.#orders[last] as number)) {
      this.#tasks.push(task)
      this.#orders.push(task.order)
      if (this.#size === 1) this.#tell()
      return
    }
    const at = this.#find(task.order)
    if (this.#orders[at] === task.order) this.#tasks[at] = task
    else if (at === this.#head && at > 0) {
      this.#head--
      this.#tasks[this.#head] = task
      this.#orders[this.#head] = task.order
    } else {
      this.#tasks.splice(at, 0, task)
      this.#orders.splice(at, 0, task.order)
    }
    this.#tell()
  }

  /** Many at once, in their order: what stands between them is moved once. */
  addAll(tasks: readonly Task[]): void {
    const [first] = tasks
    const last = this.#orders.at(-1)
    if (first === undefined) return
    if (tasks.length < MERGE_MIN || last === undefined || first.order > last) {
      for (const task of tasks) this.add(task)
      return
    }
    const waiting = this.#tasks.filter((task) => task !== undefined)
    const all: Task[] = []
    let next = 0
    for (const task of tasks) {
      if (task.queue !== null) throw new Error(`task ${task.id} waits already`)
      task.queue = this
      for (let other = waiting[next]; other !== undefined && other.order < task.order; other = waiting[++next]) all.push(other)
      all.push(task)
    }
    for (; next < waiting.length; next++) all.push(waiting[next] as Task)
    this.#set(all)
  }

  remove(task: Task): void {
    // Mostly it is the first that leaves: a search would look at many places.
    const at = this.#tasks[this.#head] === task ? this.#head : this.#find(task.order)
    if (task.queue !== this || this.#tasks[at] !== task) throw new Error(`task ${task.id} does not wait here`)
    task.queue = null
    this.#tasks[at] = undefined
    this.#size--
    while (this.#head < this.#tasks.length && this.#tasks[this.#head] === undefined) this.#head++
    this.#tell()
    if (this.#tasks.length - this.#size > HOLES_MAX + this.#size) this.#close()
  }

  get first(): Task | undefined {
    return this.#size === 0 ? undefined : this.#tasks[this.#head]
  }

  /** Tasks from `order` on, at most `max` of them, in order. The queue must not change meanwhile. */
  *from(order: number, max: number): Generator<Task, void, undefined> {
    let seen = 0
    for (let at = this.#find(order); at < this.#tasks.length && seen < max; at++) {
      const task = this.#tasks[at]
      if (task === undefined) continue
      seen++
      yield task
    }
  }

  /** First place at or after `order`. */
  #find(order: number): number {
    let low = this.#head
    let high = this.#orders.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#orders[middle] as number) < order) low = middle + 1
      else high = middle
    }
    return low
  }

  #close(): void {
    this.#set(this.#tasks.filter((task) => task !== undefined))
  }

  #set(tasks: Task[]): void {
    this.#tasks = tasks
    this.#orders = tasks.map((task) => task.order)
    this.#head = 0
    this.#size = tasks.length
    this.#tell()
  }

  #tell(): void {
    this.#heads.set(this.#place, this.#orders[this.#head] ?? Number.POSITIVE_INFINITY)
  }
}
