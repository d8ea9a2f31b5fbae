/**
 * The live tasks of one batch by index. In pages that come with their first task and go with their last: of a million tasks
 * that were, a few thousand entries are left while some of them live.
 */
import type { Task } from './model.ts'

const PAGE_TASKS = 512

interface Page {
  readonly tasks: (Task | undefined)[]
  live: number
}

export class LiveTasks {
  readonly #pages: (Page | undefined)[] = []
  #length: number
  #size = 0

  /** `length`: one more than the highest index so far. */
  constructor(length = 0) {
    this.#length = length
  }

  get length(): number {
    return this.#length
  }

  /** Live ones. */
  get size(): number {
    return this.#size
  }

  get(index: number): Task | undefined {
    return this.#pages[Math.floor(index / PAGE_TASKS)]?.tasks[index % PAGE_TASKS]
  }

  /** There is none at this index. */
  add(task: Task): void {
    const { index } = task
    const number = Math.floor(index / PAGE_TASKS)
    while (this.#pages.length < number) this.#pages.push(undefined)
    const page = this.#pages[number] ?? { tasks: [], live: 0 }
    this.#pages[number] = page
    while (page.tasks.length < index % PAGE_TASKS) page.tasks.push(undefined)
    page.tasks[index % PAGE_TASKS] = task
    page.live++
    this.#size++
    this.#length = Math.max(this.#length, index + 1)
  }

  delete({ index }: Task): void {
    const number = Math.floor(index / PAGE_TASKS)
    const page = this.#pages[number]
    if (page?.tasks[index % PAGE_TASKS] === undefined) return
    page.tasks[index % PAGE_TASKS] = undefined
    this.#size--
    if (--page.live === 0) this.#pages[number] = undefined
  }

  /** In the order of their index. Those that end meanwhile are left out. */
  *[Symbol.iterator](): Generator<Task, void, undefined> {
    for (const page of this.#pages) if (page !== undefined) for (const task of page.tasks) if (task !== undefined) yield task
  }

  find(is: (task: Task) => boolean): Task | undefined {
    for (const task of this) if (is(task)) return task
    return undefined
  }
}
