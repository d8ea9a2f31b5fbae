import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Case } from '../faults/case.ts'
import { drawCase } from '../faults/draw.ts'
import type { Looked } from '../faults/shrink.ts'
import { shrinkCase } from './shrink.ts'

const ONE: Case = {
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
const PORTS = { runsMax: 1_000, stopped: () => false }
const kinds = ({ faults }: Case): string[] => faults.map(({ kind }) => kind)
const ran = (complaint: string | undefined, ms = ONE.faultsMs): Looked => ({ complaint, ms, events: 1 })

describe('a failing case', () => {
  it('is made as small as the same complaint allows', async () => {
    const run = async (smaller: Case): Promise<Looked> =>
      ran(kinds(smaller).includes('wipe') && kinds(smaller).includes('cut') ? `node 3 lost ${smaller.faults.length} things` : undefined)
    const { world } = await shrinkCase({ world: ONE, ran: ran('node 1 lost 40 things') }, { ...PORTS, run })
    assert.deepEqual(kinds(world), ['wipe', 'cut'])
    assert.deepEqual([world.hostile, world.faultsMs], [0, 0])
    assert.ok(world.nodes.every(({ joinsMs }) => joinsMs < 0))
    assert.ok(world.batches.every(({ tasks }) => tasks.length === 0))
  })

  it('ends when it failed: what would come later goes at once', async () => {
    const tried: Case[] = []
    const run = async (smaller: Case): Promise<Looked> => {
      tried.push(smaller)
      return ran(tried.length === 1 ? undefined : 'it was lost', 10)
    }
    await shrinkCase({ world: ONE, ran: ran('it was lost', 10) }, { ...PORTS, run, runsMax: 2 })
    assert.deepEqual([tried[1]?.faultsMs, tried[1]?.faults], [10, ONE.faults.slice(0, 11)])
  })

  it('is left as it is when nothing smaller fails alike', async () => {
    const failure = { world: ONE, ran: ran('it was lost') }
    assert.equal(await shrinkCase(failure, { ...PORTS, run: async () => ran('it was found') }), failure)
  })
})
