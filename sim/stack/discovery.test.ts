import assert from 'node:assert/strict'
import { it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { child } from '#test/bench/child'
import { quantile } from '#test/bench/runner'
import { SIM_FLAGS } from '../flags.ts'
import type { Discovered } from './discovery.ts'

const PROGRAM = fileURLToPath(new URL('./discovery.ts', import.meta.url))
const COMPUTERS = 20
const SEED = 1
/** Virtual, so that the machine's load is nothing to it. */
const FOUND_MS_MAX = 5_000

it('nodes that know only bootstrap peers, of which one is gone, find the project within 5 s (R09)', { timeout: 240_000 }, async () => {
  const { tookMs, missed, complaint } = await child<Discovered>(PROGRAM, SIM_FLAGS, [SEED, COMPUTERS])
  assert.equal(complaint, null)
  assert.deepEqual(missed, [])
  assert.equal(tookMs.length, COMPUTERS - 6)
  assert.ok(quantile(tookMs, 0.95) <= FOUND_MS_MAX, `they took ${tookMs.join(', ')} ms`)
})
