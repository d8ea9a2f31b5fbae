import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Case } from '../faults/case.ts'
import { drawCase } from '../faults/draw.ts'
import { kindOf, shrink } from './shrink.ts'

describe('a failing case', () => {
  it('is made as small as the same complaint allows', async () => {
    const one: Case = {
      ...drawCase(1),
      hostile: 2,
      faults: Array.from({ length: 40 }, (_, index) => ({
        atMs: index,
        kind: index === 7 ? 'wipe' : index === 23 ? 'cut' : 'stop',
        target: 0,
        forMs: 1,
        amount: 0
      }))
    }
    const kinds = ({ faults }: Case): string[] => faults.map(({ kind }) => kind)
    const run = async (smaller: Case): Promise<string | undefined> =>
      kinds(smaller).includes('wipe') && kinds(smaller).includes('cut') ? `node 3 lost ${smaller.faults.length} things` : undefined
    const smallest = await shrink(one, 'node 1 lost 40 things', { run, runsMax: 1_000 })
    assert.deepEqual(kinds(smallest), ['wipe', 'cut'])
    assert.equal(smallest.hostile, 0)
    assert.ok(smallest.nodes.every(({ joinsMs }) => joinsMs < 0))
    assert.ok(smallest.batches.every(({ tasks }) => tasks.length === 0))
  })

  it('keeps its complaint: another one is another failure', async () => {
    const one = drawCase(1)
    const run = async (smaller: Case): Promise<string> => (smaller === one ? 'a' : 'b')
    assert.equal(await shrink(one, 'a', { run, runsMax: 100 }), one)
  })

  it('is known by what was wrong, not by whom it befell', () => {
    const say = (peer: string, batch: string): string => `${peer} has ${batch}.3.1, on its disk is 7`
    assert.equal(kindOf(say('12D3KooWabc', 'a'.repeat(26))), kindOf(say('12D3KooWxyz', 'b'.repeat(26))))
    assert.notEqual(kindOf('it was decided twice'), kindOf('it was lost'))
  })
})
