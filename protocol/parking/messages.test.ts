import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CID } from 'multiformats/cid'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '../content/content.ts'
import { batchIdFrom, replicaId, taskId } from '../ids.ts'
import { encodeResult, RESULT_BYTES_MAX, type Result } from '../result/result.ts'
import { generateIdentity } from '../signing/keys.ts'
import { decodeAnswer, decodeOffer, encodeAnswer, encodeOffer, PARKING_FRAME_BYTES_MAX, signParked, verifyParked } from './messages.ts'
import { ParkingFrame } from './parking.js'

const node = await generateIdentity()
const project = await generateIdentity()
const replica = replicaId(taskId(batchIdFrom(new Uint8Array(16)), 0), 1)
const result: Result = {
  v: 1,
  project: project.peerId,
  replica,
  bundle: CID.parse(EMPTY_FILE),
  node: node.peerId,
  reason: 'exit',
  exitCode: 0,
  output: CID.parse(EMPTY_DIRECTORY),
  stdout: CID.parse(EMPTY_FILE),
  stderr: CID.parse(EMPTY_FILE),
  bytes: 0,
  startedAtMs: 0,
  endedAtMs: 1,
  cpuMs: 1,
  memoryPeakBytes: 1
}

describe('a result that is left with another node', () => {
  it('is proven by its own node, for its own project, alone', () => {
    const body = encodeResult(result)
    const verified = verifyParked({ body, signature: signParked(node, body) }, project.peerId)
    assert.equal(verified?.result.replica, replica)
    assert.equal(verifyParked({ body, signature: signParked(project, body) }, project.peerId), undefined)
    assert.equal(verifyParked({ body, signature: signParked(node, body) }, node.peerId), undefined)
    const other = encodeResult({ ...result, exitCode: 1 })
    assert.equal(verifyParked({ body: other, signature: signParked(node, body) }, project.peerId), undefined)
    assert.equal(verifyParked({ body: body.subarray(1), signature: signParked(node, body) }, project.peerId), undefined)
  })

  it('is offered and answered as it was written, within bounds', () => {
    const offer = { result: new Uint8Array(RESULT_BYTES_MAX).fill(1), signature: new Uint8Array(64), bytes: 2 ** 40 }
    assert.deepEqual(decodeOffer(encodeOffer(offer)), offer)
    assert.deepEqual(decodeAnswer(encodeAnswer(replica, 'kept')), { replica, code: 'kept' })
    assert.deepEqual(decodeAnswer(ParkingFrame.encode({ answer: { replica, code: 'what is that' } })), { replica, code: 'refused' })
    assert.equal(decodeOffer(encodeAnswer(replica, 'full')), undefined)
    assert.equal(decodeAnswer(encodeOffer(offer)), undefined)
    assert.equal(decodeOffer(new Uint8Array(PARKING_FRAME_BYTES_MAX + 1)), undefined)
    assert.equal(decodeOffer(encodeOffer({ ...offer, result: new Uint8Array(PARKING_FRAME_BYTES_MAX) })), undefined)
  })

  it('throws at no bytes at all', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        decodeOffer(bytes)
        decodeAnswer(bytes)
        verifyParked({ body: bytes, signature: bytes }, project.peerId)
      })
    )
  })
})
