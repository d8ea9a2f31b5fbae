/** Tasks that wait for a program to compare for them: whose owner was served longest ago comes first, so that one with many keeps nobody waiting. */
import type { PeerIdString, TaskId } from '#protocol/ids'

export class ComparingLine<Wish extends { readonly task: TaskId; readonly client: PeerIdString }> {
  /** By client, the one whose turn it is first; none is empty. */
  readonly #clients = new Map<PeerIdString, Map<TaskId, Wish>>()
  readonly #clientOf = new Map<TaskId, PeerIdString>()

  has(task: TaskId): boolean {
    return this.#clientOf.has(task)
  }

  /** A task has one wish: a newer one takes its place. */
  add(wish: Wish): void {
    const { task, client } = wish
    this.delete(task)
    const wishes = this.#clients.get(client) ?? new Map<TaskId, Wish>()
    this.#clients.set(client, wishes.set(task, wish))
    this.#clientOf.set(task, client)
  }

  delete(task: TaskId): void {
    const client = this.#clientOf.get(task)
    const wishes = client === undefined ? undefined : this.#clients.get(client)
    if (client === undefined || wishes === undefined) return
    this.#clientOf.delete(task)
    wishes.delete(task)
    if (wishes.size === 0) this.#clients.delete(client)
  }

  /** The next one, which is in the line no more; its client comes last from now on. */
  take(): Wish | undefined {
    const [client, wishes] = this.#clients.entries().next().value ?? []
    const wish = wishes?.values().next().value
    if (client === undefined || wishes === undefined || wish === undefined) return undefined
    this.delete(wish.task)
    this.#clients.delete(client)
    if (wishes.size > 0) this.#clients.set(client, wishes)
    return wish
  }

  clear(): void {
    this.#clients.clear()
    this.#clientOf.clear()
  }
}
