import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { decodeLiveFrame, decodeLiveOpen, LIVE_FRAME_BYTES_MAX, LiveOpen } from './messages.ts'

const OPEN = { replica: 'aaaaaaaaaaaaaaaaaaaaaaaaaa.0.1', file: 'stdout', offset: 7, follow: true }

describe('live messages', () => {
  it('reads what it wrote', () => {
    assert.deepEqual(decodeLiveOpen(LiveOpen.encode(OPEN)), OPEN)
  })

  it('knows two files, sane offsets and short ids only', () => {
    for (const wrong of [{ file: '../stdout' }, { file: '' }, { replica: 'x'.repeat(100) }])
      assert.equal(decodeLiveOpen(LiveOpen.encode({ ...OPEN, ...wrong })), undefined)
  })

  it('never throws on hostile bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
        decodeLiveOpen(bytes)
        decodeLiveFrame(bytes)
      })
    )
    assert.equal(decodeLiveFrame(new Uint8Array(LIVE_FRAME_BYTES_MAX + 1)), undefined)
  })
})
