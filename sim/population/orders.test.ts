import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { Frame } from '#protocol/control/messages'
import { replicaId, taskId } from '#protocol/ids'
import { batchIdOf, batchNumberOf } from './batch-ids.ts'
import { OrderReader } from './orders.ts'

const replica = fc.record({ batch: fc.integer({ min: 0, max: 2 ** 32 - 1 }), index: fc.nat(1_000_000), attempt: fc.integer({ min: 1, max: 99 }) })
const replicas = fc.array(replica, { maxLength: 5 })

function idOf({ batch, index, attempt }: { batch: number; index: number; attempt: number }): string {
  return replicaId(taskId(batchIdOf(batch), index), attempt)
}

it('reads from the bytes what the real encoder wrote', () => {
  const reader = new OrderReader()
  fc.assert(
    fc.property(fc.nat(), replicas, replicas, fc.constantFrom('assign', 'grant', 'cancel', 'release'), fc.uint8Array(), (seq, some, others, kind, bytes) => {
      const frame = Frame.encode({
        seq,
        ack: 0,
        ...(kind === 'assign'
          ? { assign: { leases: some.map((one) => ({ replica: idOf(one), epoch: 7, manifest: bytes, gpus: [] })), signature: bytes } }
          : {}),
        ...(kind === 'grant' ? { grant: { granted: some.map(idOf), refused: others.map(idOf) } } : {}),
        ...(kind === 'cancel' ? { cancel: { replicas: some.map(idOf), reason: 'decided' } } : {}),
        ...(kind === 'release' ? { release: { replicas: some.map(idOf) } } : {})
      })
      const told: string[] = []
      reader.read(frame, (order, batch, index, attempt) => told.push(`${order} ${idOf({ batch, index, attempt })}`))
      const first = { assign: 'lease', grant: 'grant', cancel: 'cancel', release: 'release' }[kind]
      assert.deepEqual(told, [...some.map((one) => `${first} ${idOf(one)}`), ...(kind === 'grant' ? others : []).map((one) => `refuse ${idOf(one)}`)])
    })
  )
})

it('refuses bytes that are no frame', () => {
  const frame = Frame.encode({ seq: 1, ack: 0, release: { replicas: [idOf({ batch: 1, index: 2, attempt: 3 })] } })
  assert.throws(() => new OrderReader().read(frame.subarray(0, frame.length - 3), () => undefined), RangeError)
})

it('a batch id holds its number', () => {
  fc.assert(fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (number) => assert.equal(batchNumberOf(batchIdOf(number)), number)))
})
