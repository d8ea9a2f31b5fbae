/** What the client's shell needs of the world. `live/` has the real ones. */

export interface Clock {
  nowMs(): number
  /** Calls back once; the answer cancels. */
  after(ms: number, call: () => void): () => void
}

export interface Random {
  bytes(count: number): Uint8Array
  /** From 0 (inclusive) to 1. */
  fraction(): number
}

/** Waits; rejects with the signal's reason when it is aborted first. */
export function pause(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason)
      return
    }
    const aborted = (): void => {
      cancel()
      reject(signal?.reason)
    }
    const cancel = clock.after(ms, () => {
      signal?.removeEventListener('abort', aborted)
      resolve()
    })
    signal?.addEventListener('abort', aborted, { once: true })
  })
}
