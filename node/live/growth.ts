/** When to look at a followed file again. */
import { type FSWatcher, watch } from 'node:fs'

/** How often a followed file is looked at when nothing says that it grew: a line shows well within a second everywhere. */
const LOOK_MS = 200

export interface Growth {
  /** From now on, growth is remembered for `next`. */
  arm(): void
  /** Resolves when the file may have grown since `arm`, after LOOK_MS at the latest. */
  next(): Promise<void>
  stop(): void
}

/** `folder` is watched for changes, where there is one: only a folder that no task writes to, since each change there wakes us. */
export function watchGrowth(folder: string | undefined, gone: AbortSignal): Growth {
  let grew = false
  let wake = (): void => {}
  let watcher: FSWatcher | undefined
  const signal = (): void => {
    grew = true
    wake()
  }
  const start = (): void => {
    if (folder === undefined) return
    try {
      watcher ??= watch(folder, { persistent: false }, signal).on('error', () => {
        // Watches are a machine-wide supply that may be used up; looking again and again does as well.
      })
    } catch {
      // The folder is not there yet.
    }
  }
  gone.addEventListener('abort', signal, { once: true })
  return {
    arm() {
      start()
      grew = false
    },
    async next() {
      if (grew || gone.aborted) return
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, LOOK_MS)
        wake = () => {
          clearTimeout(timer)
          resolve()
        }
      })
      wake = () => {}
    },
    stop() {
      watcher?.close()
      gone.removeEventListener('abort', signal)
    }
  }
}
