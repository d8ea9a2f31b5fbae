import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { StreamError } from '../peer/host.ts'
import { frameDecoder, frameLength } from './decoder.ts'

const LIMIT = 300_000

function encode(frames: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat(frames.flatMap((frame) => [frameLength(frame.length), frame]))
}

/** Pushes the pieces one by one and takes out what is whole. */
function decode(pieces: readonly Uint8Array[], limit = LIMIT): Uint8Array[] {
  const decoder = frameDecoder(limit)
  const frames: Uint8Array[] = []
  for (const piece of pieces) {
    decoder.push(piece)
    for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) frames.push(frame)
  }
  return frames
}

/** Pushes all the pieces before it takes anything out. */
function decodeLate(pieces: readonly Uint8Array[]): Uint8Array[] {
  const decoder = frameDecoder(LIMIT)
  for (const piece of pieces) decoder.push(piece)
  const frames: Uint8Array[] = []
  for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) frames.push(frame)
  return frames
}

function cut(bytes: Uint8Array, at: readonly number[]): Uint8Array[] {
  const ends = [...new Set(at.map((n) => n % (bytes.length + 1)))].sort((a, b) => a - b)
  return [...ends, bytes.length].map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end))
}

const small = fc.uint8Array({ maxLength: 300 })
/** Around the sizes where the length grows a byte and where the decoder's buffer grows. */
const large = fc
  .tuple(fc.constantFrom(127, 128, 16_383, 16_384, 65_535, 65_536, 65_537, 200_000), fc.nat(255))
  .map(([length, byte]) => new Uint8Array(length).fill(byte))
const frameList = fc.array(fc.oneof({ weight: 5, arbitrary: small }, { weight: 1, arbitrary: large }), { maxLength: 20 })

describe('frameDecoder', () => {
  it('gives the same frames, however the bytes are cut', () => {
    fc.assert(
      fc.property(frameList, fc.array(fc.nat(), { maxLength: 40 }), (frames, at) => {
        const bytes = encode(frames)
        assert.deepEqual(decode(cut(bytes, at)), frames)
        assert.deepEqual(decode([bytes]), frames)
        assert.deepEqual(decodeLate(cut(bytes, at)), frames)
      })
    )
  })

  it('gives the same frames byte by byte', () => {
    fc.assert(
      fc.property(fc.array(small, { maxLength: 10 }), (frames) => {
        const bytes = encode(frames)
        assert.deepEqual(decode(Array.from(bytes, (byte) => Uint8Array.of(byte))), frames)
        assert.deepEqual(decodeLate(Array.from(bytes, (byte) => Uint8Array.of(byte))), frames)
      })
    )
  })

  it('turns garbage into frames within the limit or a StreamError, which it then repeats', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), fc.nat(500), (pieces, limit) => {
        const decoder = frameDecoder(limit)
        try {
          for (const piece of pieces) {
            decoder.push(piece)
            for (let frame = decoder.next(); frame !== undefined; frame = decoder.next()) assert.ok(frame.length <= limit)
          }
        } catch (error) {
          assert.ok(error instanceof StreamError)
          assert.ok(error.code === 'frame_too_large' || error.code === 'malformed')
          decoder.push(Uint8Array.of(0))
          assert.throws(() => decoder.next(), error)
          assert.equal(decoder.bytesAhead, 0)
        }
      })
    )
  })

  it('refuses a length above the limit as soon as it is known', () => {
    const decoder = frameDecoder(1000)
    decoder.push(frameLength(1001))
    assert.throws(() => decoder.next(), { name: 'StreamError', code: 'frame_too_large' })
  })

  it('refuses a length that takes more bytes than it needs, or never ends', () => {
    for (const bytes of [
      [0x80, 0x00],
      [0x85, 0x80, 0x00],
      [0x80, 0x80, 0x80, 0x80]
    ])
      assert.throws(() => decode([Uint8Array.from(bytes)]), { code: 'malformed' })
  })

  it('does not hold what a frame was announced to be before it comes', () => {
    const decoders = Array.from({ length: 1000 }, () => {
      const decoder = frameDecoder(4 * 1024 * 1024)
      decoder.push(frameLength(4 * 1024 * 1024))
      decoder.push(new Uint8Array(100))
      assert.equal(decoder.next(), undefined)
      return decoder
    })
    // 4 GB were announced; 64 KiB for each is set aside.
    assert.ok(process.memoryUsage().arrayBuffers < 200 * 1024 * 1024)
    assert.equal(decoders.length, 1000)
  })

  it('does not keep an object for each of many tiny pieces', () => {
    const decoder = frameDecoder(10)
    const before = process.memoryUsage().heapUsed
    for (let i = 0; i < 1_000_000; i += 1) decoder.push(Uint8Array.of(0))
    globalThis.gc?.()
    assert.equal(decoder.bytesAhead, 1_000_000)
    assert.ok(process.memoryUsage().heapUsed - before < 60 * 1024 * 1024)
    let count = 0
    while (decoder.next() !== undefined) count += 1
    assert.equal(count, 1_000_000)
  })

  it('knows whether the bytes end where a frame ends', () => {
    const decoder = frameDecoder(10)
    assert.equal(decoder.atBoundary, true)
    decoder.push(Uint8Array.of(2, 1))
    assert.equal(decoder.next(), undefined)
    assert.equal(decoder.atBoundary, false)
    decoder.push(Uint8Array.of(1))
    assert.deepEqual(decoder.next(), Uint8Array.of(1, 1))
    assert.equal(decoder.atBoundary, true)
  })

  it('gives plain Uint8Arrays, also from a Buffer', () => {
    const [frame] = decode([Buffer.from([3, 1, 2, 3])])
    assert.equal(Object.getPrototypeOf(frame), Uint8Array.prototype)
  })
})
