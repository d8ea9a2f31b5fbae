import { setFlagsFromString } from 'node:v8'

/**
 * Runs all promise reactions that are ready, at once: V8's own microtask checkpoint. A turn of Node's event loop does the
 * same at five times the cost, and lets timers and sockets in between. Does nothing inside a promise reaction, so the loop
 * that calls it must have been started by a timer or an immediate.
 */
export const drainPromises: () => void = makeCheckpoint()

function makeCheckpoint(): () => void {
  setFlagsFromString('--allow-natives-syntax')
  const checkpoint = new Function('%PerformMicrotaskCheckpoint()') as () => void
  setFlagsFromString('--no-allow-natives-syntax')
  return checkpoint
}
