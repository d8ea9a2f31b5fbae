import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { flat } from './flat.ts'

describe('a text of one piece', () => {
  it('says the same, and takes less memory than its parts, in compiled code, too', () => {
    const whole = bytesOf(flat)
    const parts = bytesOf((text) => text)
    assert.ok(whole < 0.75 * parts, `${whole.toFixed(0)} bytes each, ${parts.toFixed(0)} as a tree`)
  })
})

/** Of each of many texts that were put together from three parts, as ids are. */
function bytesOf(keep: (text: string) => string): number {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const batches = Array.from({ length: 1_000 }, (_, at) => `batch-with-a-name-${at}`)
  const texts = new Array<string>(200_000).fill('')
  collect()
  const before = process.memoryUsage().heapUsed
  for (let at = 0; at < texts.length; at++) texts[at] = keep(`${batches[at % batches.length]}.${at}`)
  collect()
  const bytes = (process.memoryUsage().heapUsed - before) / texts.length
  assert.equal(texts[123_456], 'batch-with-a-name-456.123456')
  return bytes
}
