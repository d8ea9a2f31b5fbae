import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer } from '#test/support/coordinator-parts'

it('X12: of a node with more slots than cores it is told what its runs have of the processors, as they were signed, and of no other', async () => {
  const run = fc.record({ ranMs: fc.integer({ min: 1, max: 100_000 }), cpuMs: fc.integer({ min: 0, max: 1_000_000 }) })
  await fc.assert(
    fc.asyncProperty(fc.array(run, { minLength: 1, maxLength: 8 }), fc.constantFrom(undefined, 1, 2, 4, 8), async (runs, cores) => {
      const slots = 4
      const at = await new CoordinatorWorld().start()
      const ann = at.join('ann', offer(slots, cores === undefined ? {} : { cores }))
      const view = () => at.coordinator.nodes()[0]
      at.submit(
        batchId(1),
        runs.map((_, index) => bundle(`${index}`)),
        { minQuorum: 1, targetResults: 1 }
      )
      assert.equal(view()?.processorsEach, undefined)
      for (let left = runs.length; left > 0; left--) {
        const [replica = ''] = ann.leases.keys()
        at.begin(ann, replica)
        at.report(ann, replica, runs[Number(replica.split('.')[1])])
      }
      const sum = runs.reduce((all, { ranMs, cpuMs }) => ({ ms: all.ms + ranMs, cpuMs: all.cpuMs + Math.min(cpuMs, ranMs * (cores ?? 0)) }), {
        ms: 0,
        cpuMs: 0
      })
      assert.equal(view()?.cores, cores)
      // What a node says beyond what its cores can is not believed.
      if (cores !== undefined && cores < slots) assert.equal(view()?.processorsEach, Math.round((100 * sum.cpuMs) / sum.ms) / 100)
      else assert.equal(view()?.processorsEach, undefined)
    }),
    { numRuns: 100 }
  )
})
