import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as dagCbor from '@ipld/dag-cbor'
import fc from 'fast-check'
import { COPY_RULES, DEFAULT_POLICY, INDEPENDENCES, type TaskPolicy } from '#protocol/bundle/policy'
import { batchId } from '#test/support/coordinator-parts'
import { type BatchRecord, decodeBatchRecord, encodeBatchRecord } from './batch-records.ts'

const whole = fc.nat({ max: 1_000_000 })
const texts = fc.array(fc.string({ maxLength: 8 }), { maxLength: 3 })
const policy: fc.Arbitrary<TaskPolicy> = fc.record(
  {
    minQuorum: whole,
    targetResults: whole,
    maxErrorResults: whole,
    maxTotalResults: whole,
    maxSuccessResults: whole,
    priority: fc.integer({ min: -1_000_000, max: 1_000_000 }),
    nodes: texts,
    queueLimitMs: whole,
    force: fc.boolean(),
    independence: fc.constantFrom(...INDEPENDENCES),
    tags: texts,
    deadlineMs: whole,
    estimateMs: whole,
    retryMemoryBytes: whole,
    guessMemory: fc.boolean(),
    checkpointMs: fc.nat(),
    compare: fc.constantFrom(null, { kind: 'tolerance' as const, rules: { abs: 0.25, rel: 1e-6, files: [] } }),
    copies: fc.constantFrom(...COPY_RULES),
    trust: fc.constantFrom('any' as const, 'trusted' as const, 'own' as const),
    sameClass: fc.constantFrom('no' as const, 'platform' as const, 'cpu' as const),
    adaptive: fc.boolean(),
    commit: fc.boolean(),
    doubtPpm: whole
  },
  { noNullPrototype: true }
)

function recordOf(policy: TaskPolicy): BatchRecord {
  const counts = { tasks: 21, created: 1, running: 2, validating: 3, ready: 4, failed: 5, killed: 6 }
  const later = { releasedAtMs: 12, ranFailed: 4 }
  const held = { by: 'a client', reason: 'to look at it', atMs: 7 }
  return { id: batchId(1), name: 'a batch', by: 'a client', createdAtMs: 8, order: 9, seed: 10, policy, open: true, ...counts, held, queuedAtMs: 11, ...later }
}

it('a batch is read as it was written, whatever its policy', () => {
  fc.assert(fc.property(policy, (drawn) => assert.deepEqual(decodeBatchRecord(encodeBatchRecord(recordOf(drawn))), recordOf(drawn))))
})

it('what a policy could not say when its batch was written is as it is by default', () => {
  const drawn = { ...DEFAULT_POLICY, minQuorum: 3, nodes: ['a node'] }
  const fields = dagCbor.decode<unknown[]>(encodeBatchRecord(recordOf(drawn)))
  const older = fields.map((field, place) => (place === 7 ? (field as unknown[]).slice(0, 7) : field))
  assert.deepEqual(decodeBatchRecord(dagCbor.encode(older)), recordOf(drawn))
})

it('an older record tells by its wait that it was released, and counts all that failed as run', () => {
  const fields = dagCbor.decode<unknown[]>(encodeBatchRecord(recordOf(DEFAULT_POLICY)))
  const { releasedAtMs, ranFailed } = decodeBatchRecord(dagCbor.encode(fields.slice(0, 18)))
  assert.deepEqual({ releasedAtMs, ranFailed }, { releasedAtMs: 11, ranFailed: 5 })
})
