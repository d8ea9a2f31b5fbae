import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { digestText } from './hash.ts'
import { BLOCK_BYTES_MAX, REPLY_FRAME_BYTES_MAX, REPLY_JOINED_BYTES, REQUEST_IDS_MAX } from './policy.ts'
import { decodeReply, decodeRequest, encodeRequest, ReplyFrames, WireError } from './wire.ts'

const id = fc.uint8Array({ minLength: 32, maxLength: 32 }).map(digestText)
/** The blocks as a provider sends them; now and then a place is asked for that comes to nothing, or comes again. */
function reply(blocks: readonly (Uint8Array | undefined)[], failing = 0): Uint8Array[] {
  const frames = new ReplyFrames(blocks.length, (bytes) => new Uint8Array(bytes).fill(0xaa))
  return blocks.flatMap((block, index) => {
    if (failing > 0) frames.room((index * 7919) % failing)
    const room = block === undefined ? undefined : frames.room(block.length)
    if (block !== undefined) room?.set(block)
    frames.take(room)
    return frames.finished()
  })
}

describe('frames of the content protocol', () => {
  it('come back as they were sent', () => {
    fc.assert(
      fc.property(fc.array(id, { minLength: 1, maxLength: 20 }), (ids) => {
        assert.deepEqual(decodeRequest(encodeRequest(ids)), ids)
      })
    )
    const size = fc.oneof(fc.nat({ max: 300 }), fc.nat({ max: 2 * REPLY_JOINED_BYTES }), fc.integer({ min: REPLY_JOINED_BYTES - 10, max: REPLY_JOINED_BYTES }))
    const block = fc.option(
      size.map((bytes) => new Uint8Array(bytes).fill(bytes)),
      { nil: undefined, freq: 4 }
    )
    fc.assert(
      fc.property(fc.array(block, { maxLength: 20 }), fc.nat({ max: 2 * REPLY_JOINED_BYTES }), (blocks, failing) => {
        const frames = reply(blocks, failing)
        for (const frame of frames) assert.ok(frame.length <= REPLY_FRAME_BYTES_MAX && frame.length > 1)
        const back = frames.flatMap(decodeReply)
        assert.equal(back.length, blocks.length)
        for (const [index, one] of blocks.entries())
          assert.ok(one === undefined ? back[index] === undefined : Buffer.compare(one, back[index] ?? new Uint8Array(1)) === 0)
      })
    )
    assert.deepEqual(reply([Uint8Array.of(7, 7, 7)]), [Uint8Array.of(2, 3, 0, 0, 0, 7, 7, 7)])
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
    assert.throws(() => decodeRequest(encodeRequest(Array.from({ length: REQUEST_IDS_MAX + 1 }, () => digestText(new Uint8Array(32))))), WireError)
    const [tooLarge = new Uint8Array(0)] = reply([new Uint8Array(BLOCK_BYTES_MAX + 1)])
    assert.equal(tooLarge.length, 5 + BLOCK_BYTES_MAX + 1)
    assert.throws(() => decodeReply(tooLarge), WireError)
  })
})
