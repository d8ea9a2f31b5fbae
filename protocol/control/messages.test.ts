import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { decodeFrame, FRAME_BYTES_MAX, FRAME_ITEMS_MAX, Frame } from './messages.ts'

it('answers any bytes with a frame or undefined', () => {
  const valid = Frame.encode({ seq: 4, ack: 2, grant: { granted: ['a'], refused: ['b', 'c'] } })
  assert.deepEqual(decodeFrame(valid)?.grant?.refused, ['b', 'c'])
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      const frame = decodeFrame(bytes)
      return frame === undefined || Number.isSafeInteger(frame.seq)
    }),
    { numRuns: 3000 }
  )
})

it('refuses more items or bytes than it bounds', () => {
  const many = (count: number): Uint8Array => Frame.encode({ seq: 1, ack: 0, cancel: { replicas: Array.from({ length: count }, () => 'x'), reason: '' } })
  assert.equal(decodeFrame(many(FRAME_ITEMS_MAX))?.cancel?.replicas.length, FRAME_ITEMS_MAX)
  assert.equal(decodeFrame(many(FRAME_ITEMS_MAX + 1)), undefined)
  assert.equal(decodeFrame(new Uint8Array(FRAME_BYTES_MAX + 1)), undefined)
})

it('skips fields of a later version', () => {
  const frame = Buffer.concat([Frame.encode({ seq: 9, ack: 0, bye: {} }), Buffer.from([0xfa, 0x3e, 2, 1, 2])])
  assert.equal(decodeFrame(frame)?.seq, 9)
})
