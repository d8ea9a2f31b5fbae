import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { BLOCK_BYTES_MAX, REQUEST_IDS_MAX } from './policy.ts'
import { decodeReply, decodeRequest, encodeReply, encodeRequest, REPLY_HEAD_BYTES, sealReply, WireError } from './wire.ts'

const digest = fc.uint8Array({ minLength: 32, maxLength: 32 })
const plain = (bytes: Uint8Array | undefined): number[] | undefined => (bytes === undefined ? undefined : [...bytes])

describe('frames of the content protocol', () => {
  it('come back as they were sent', () => {
    fc.assert(
      fc.property(fc.array(digest, { minLength: 1, maxLength: 20 }), (digests) => {
        assert.deepEqual(decodeRequest(encodeRequest(digests)).map(plain), digests.map(plain))
      })
    )
    fc.assert(
      fc.property(fc.array(fc.option(fc.uint8Array({ maxLength: 300 }), { nil: undefined }), { maxLength: 20 }), (blocks) => {
        assert.deepEqual(decodeReply(encodeReply(blocks)).map(plain), blocks.map(plain))
      })
    )
    const alone = new Uint8Array(REPLY_HEAD_BYTES + 3).fill(7)
    sealReply(alone, 3)
    assert.deepEqual(decodeReply(alone).map(plain), [[7, 7, 7]])
  })

  it('of any other bytes are refused, and never read beyond', () => {
    const survive = (decode: (frame: Uint8Array) => unknown) => (frame: Uint8Array) => {
      try {
        decode(frame)
      } catch (error) {
        assert.ok(error instanceof WireError, String(error))
      }
    }
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }),
      fc.uint8Array({ maxLength: 200 }).map((rest) => Uint8Array.of(1, ...rest)),
      fc.uint8Array({ maxLength: 200 }).map((rest) => Uint8Array.of(2, ...rest))
    )
    fc.assert(fc.property(bytes, survive(decodeRequest)), { numRuns: 2000 })
    fc.assert(fc.property(bytes, survive(decodeReply)), { numRuns: 2000 })
  })

  it('are held to their bounds', () => {
    assert.throws(() => decodeRequest(new Uint8Array(0)), WireError)
    assert.throws(() => decodeRequest(Uint8Array.of(1)), WireError)
    assert.throws(() => decodeRequest(encodeRequest(Array.from({ length: REQUEST_IDS_MAX + 1 }, () => new Uint8Array(32)))), WireError)
    const tooLarge = new Uint8Array(REPLY_HEAD_BYTES + BLOCK_BYTES_MAX + 1)
    sealReply(tooLarge, BLOCK_BYTES_MAX + 1)
    assert.throws(() => decodeReply(tooLarge), WireError)
  })
})
