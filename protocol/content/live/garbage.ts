/**
 * Frees the buffers of blocks soon after they passed. A block stands in several on its way: encrypted, decrypted, in a frame.
 * The garbage collector counts them, but looks for them only by going through all there is, again and again while data flows:
 * a third of all CPU of a transfer. A look at the youngest objects alone finds them in less than a millisecond, if it comes while
 * they are young.
 */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Between two looks: less than what makes the collector go through everything. */
const BYTES_PER_LOOK = 12 * 1024 * 1024
/** For each byte of a block. What arrives stands in three buffers; what leaves waits longer, and would be called old by looks that come too often. */
const WEIGHT = { received: 3, sent: 1 } as const

type Collect = (options: { type: 'minor' }) => void
let collect: Collect | undefined
let passed = 0

/** Counts bytes of blocks that were received, or read to be sent. */
export function blockPassed(bytes: number, way: keyof typeof WEIGHT): void {
  passed += bytes * WEIGHT[way]
  if (passed < BYTES_PER_LOOK) return
  passed = 0
  collect ??= collector()
  collect({ type: 'minor' })
}

/** V8's own call, which Node only gives out on request. */
function collector(): Collect {
  setFlagsFromString('--expose-gc')
  const found: unknown = runInNewContext('gc')
  return typeof found === 'function' ? (found as Collect) : () => undefined
}
