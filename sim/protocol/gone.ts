/** An AbortSignal for the many streams that nobody combines with others: Node's own takes half a kilobyte. */
type Listener = Parameters<AbortSignal['addEventListener']>[1] | null

export class Gone implements AbortSignal {
  reason: unknown
  #listeners: readonly NonNullable<Listener>[] | undefined
  #aborted = false

  /** Nobody sets it. */
  get onabort(): null {
    return null
  }

  get aborted(): boolean {
    return this.#aborted
  }

  abort(reason: unknown): void {
    if (this.#aborted) return
    this.#aborted = true
    this.reason = reason
    this.dispatchEvent(new Event('abort'))
  }

  throwIfAborted(): void {
    if (this.#aborted) throw this.reason
  }

  addEventListener(_type: string, listener: Listener): void {
    if (listener !== null && !this.#aborted) this.#listeners = (this.#listeners ?? []).concat(listener)
  }

  removeEventListener(_type: string, listener: Listener): void {
    this.#listeners = this.#listeners?.filter((one) => one !== listener)
  }

  /** Once: afterwards nobody listens any more. */
  dispatchEvent(event: Event): boolean {
    const listeners = this.#listeners ?? []
    this.#listeners = undefined
    for (const listener of listeners) {
      if (typeof listener === 'function') listener(event)
      else listener.handleEvent(event)
    }
    return true
  }
}
