/** Something of a replica that takes far longer than it can: its node gives it back, and the task goes elsewhere (F12). */
import type { Clock } from './ports.ts'

export class StalledError extends Error {
  override readonly name = 'StalledError'
}

/** Rejects with StalledError when the work is not done in `ms`; what it comes to after that goes to `late`. */
export function orStalled<T>(
  clock: Pick<Clock, 'after'>,
  work: Promise<T>,
  { ms, message, late }: { readonly ms: number; readonly message: string; readonly late: (value: T) => void }
): Promise<T> {
  return new Promise((resolve, reject) => {
    let over = false
    const cancel = clock.after(ms, () => {
      over = true
      reject(new StalledError(message))
    })
    work.then(
      (value) => {
        if (over) late(value)
        else {
          cancel()
          resolve(value)
        }
      },
      (error: unknown) => {
        if (!over) cancel()
        reject(error)
      }
    )
  })
}
