/** What a world takes, once nothing more can be collected: the heap of the language, and the buffers beside it. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

export function bytesUsed(): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  // What is freed by the first may have held something.
  collect()
  collect()
  const { heapUsed, external } = process.memoryUsage()
  return heapUsed + external
}
