import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { offer } from '#test/support/coordinator-parts'
import type { Occupant } from './model.ts'
import { occupy, vacate } from './needs.ts'
import { NodeLists, newNode } from './node.ts'

it('what is free of a node is what it offers now less what is taken of it, in whatever order both change', () => {
  const amounts = fc.record({ cpuMillis: fc.nat(64_000), memoryBytes: fc.maxSafeNat(), diskBytes: fc.maxSafeNat() })
  const step = fc.oneof(
    fc.record({ kind: fc.constant('offer' as const), amounts }),
    fc.record({ kind: fc.constant('occupy' as const), amounts }),
    fc.record({ kind: fc.constant('vacate' as const), which: fc.nat(20) })
  )
  fc.assert(
    fc.property(amounts, fc.array(step, { maxLength: 40 }), (first, steps) => {
      const lists = new NodeLists()
      newNode(lists, 'before', offer(1), 0)
      const node = newNode(lists, 'ann', offer(1, first), 0)
      newNode(lists, 'behind', offer(1), 0)
      const taken: Occupant[] = []
      const exact = (amount: number): number => Math.floor(amount / 2 ** 10)
      for (const one of steps) {
        if (one.kind === 'offer') node.offer = offer(1, one.amounts)
        else if (one.kind === 'occupy') {
          const { cpuMillis, memoryBytes, diskBytes } = one.amounts
          // Sums of forty of them are whole numbers still.
          const occupant = { needs: { cpuMillis, memoryBytes: exact(memoryBytes), diskBytes: exact(diskBytes) }, gpus: [] }
          taken.push(occupant)
          occupy(node, occupant)
        } else for (const occupant of taken.splice(one.which, 1)) vacate(node, occupant)
        const sum = (of: (occupant: Occupant) => number): number => taken.map(of).reduce((all, each) => all + each, 0)
        assert.equal(node.freeCpuMillis, node.offer.cpuMillis - sum(({ needs }) => needs.cpuMillis))
        assert.equal(node.freeMemoryBytes, node.offer.memoryBytes - sum(({ needs }) => needs.memoryBytes))
        assert.equal(node.freeDiskBytes, node.offer.diskBytes - sum(({ needs }) => needs.diskBytes))
      }
    })
  )
})
