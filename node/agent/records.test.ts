import assert from 'node:assert/strict'
import { it } from 'node:test'
import { leaseOf, replicaOf } from '../testing/samples.ts'
import { decodeReplica, encodeReplica } from './records.ts'

it('a sealed lease, and what its node is bound to, are kept over a restart of the node', () => {
  const id = replicaOf(0)
  const lease = { ...leaseOf(id), sealed: true as const }
  const read = decodeReplica(id, encodeReplica({ phase: 'running', lease }))
  assert.equal(read.phase === 'running' && read.lease.sealed, true)
  const content = ['a', 'b', 'c']
  const sealed = Uint8Array.of(1, 2, 3)
  assert.deepEqual(decodeReplica(id, encodeReplica({ phase: 'reported', content, sealed })), { phase: 'reported', content, sealed })
  assert.deepEqual(decodeReplica(id, encodeReplica({ phase: 'reported', content })), { phase: 'reported', content })
})

it('a lease keeps its GPUs over a restart of the node, and says nothing of them without any', () => {
  const id = replicaOf(0)
  const plain = leaseOf(id)
  const withGpus = { ...plain, gpus: ['GPU-1', 'GPU-2'] }
  for (const lease of [plain, withGpus]) {
    const read = decodeReplica(id, encodeReplica({ phase: 'running', lease }))
    assert.deepEqual(read.phase === 'running' ? [read.lease.gpus, read.lease.epoch] : read, ['gpus' in lease ? lease.gpus : undefined, 1])
  }
})
