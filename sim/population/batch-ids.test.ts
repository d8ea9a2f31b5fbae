import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { replicaId, taskId } from '#protocol/ids'
import { batchIdOf, batchNumberOf, indexOf } from './batch-ids.ts'

it('reads the numbers of batch and task back from the ids of all that is in a batch', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.nat(999_999_999), fc.integer({ min: 1, max: 999_999 }), (number, index, attempt) => {
      const task = taskId(batchIdOf(number), index)
      const replica = replicaId(task, attempt)
      assert.deepEqual([batchIdOf(number), task, replica].map(batchNumberOf), [number, number, number])
      assert.deepEqual([task, replica].map(indexOf), [index, index])
    })
  )
})
