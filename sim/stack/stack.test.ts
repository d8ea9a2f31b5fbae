import assert from 'node:assert/strict'
import { it } from 'node:test'
import { runApart } from './apart.ts'
import { drawStackCase } from './case.ts'

const COMPUTERS = 10
const SEED = 2

it('real libp2p hosts come right after faults, and do the same in two processes', { timeout: 120_000 }, async () => {
  const one = drawStackCase(SEED, COMPUTERS)
  const [first, again] = await Promise.all([runApart(one), runApart(one)])
  assert.equal(first.complaint, null)
  assert.equal(again.hash, first.hash)
  assert.deepEqual(again.sometimes, first.sometimes)
  for (const rare of ['the record was published', 'link resumed', 'task ready']) assert.ok((first.sometimes[rare] ?? 0) > 0, rare)
})
