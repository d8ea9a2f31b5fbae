import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { batchIdFrom, isBatchId, parseReplicaId, parseTaskId, replicaId, taskId } from './ids.ts'

it('keeps the parts of an id, and tells one from anything else', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 16, maxLength: 16 }), fc.nat(999_999_999), fc.integer({ min: 1, max: 999_999 }), (random, index, attempt) => {
      const batch = batchIdFrom(random)
      const task = taskId(batch, index)
      assert.ok(isBatchId(batch))
      assert.deepEqual(parseTaskId(task), { batch, index })
      assert.deepEqual(parseReplicaId(replicaId(task, attempt)), { task, attempt })
      assert.equal(parseTaskId(replicaId(task, attempt)), undefined)
      assert.equal(parseReplicaId(task), undefined)
    })
  )
  fc.assert(fc.property(fc.string(), (text) => !isBatchId(text) && parseTaskId(text) === undefined && parseReplicaId(text) === undefined))
})

it('gives different ids to different draws', () => {
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 16, maxLength: 16 }),
      fc.uint8Array({ minLength: 16, maxLength: 16 }),
      (a, b) => Buffer.compare(a, b) === 0 || batchIdFrom(a) !== batchIdFrom(b)
    )
  )
})
