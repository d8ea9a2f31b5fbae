import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { Demux, DemuxError } from './demux.ts'

function frame(stream: number, data: Uint8Array): Buffer {
  const header = Buffer.alloc(8)
  header[0] = stream
  header.writeUInt32BE(data.length, 4)
  return Buffer.concat([header, data])
}

function joined(chunks: readonly Uint8Array[]): { stdout: string; stderr: string } {
  const demux = new Demux()
  const out = { stdout: '', stderr: '' }
  for (const chunk of chunks) for (const { stream, bytes } of demux.push(chunk)) out[stream] += Buffer.from(bytes).toString('latin1')
  return out
}

it('gives each stream its bytes in order, however the frames are split', () => {
  const frames = fc.array(fc.tuple(fc.constantFrom(1, 2), fc.uint8Array({ maxLength: 40 })), { maxLength: 20 })
  fc.assert(
    fc.property(frames, fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1 }), (list, steps) => {
      const bytes = Buffer.concat(list.map(([stream, data]) => frame(stream, data)))
      const chunks: Buffer[] = []
      for (let at = 0, turn = 0; at < bytes.length; turn++) {
        const step = steps[turn % steps.length] ?? 1
        chunks.push(bytes.subarray(at, at + step))
        at += step
      }
      const of = (wanted: number): string => list.map(([stream, data]) => (stream === wanted ? Buffer.from(data).toString('latin1') : '')).join('')
      assert.deepEqual(joined(chunks), { stdout: of(1), stderr: of(2) })
    })
  )
})

it('passes parts of a frame on at once and holds nothing back', () => {
  const demux = new Demux()
  const big = frame(1, Buffer.alloc(1_000_000, 'x'))
  assert.equal(demux.push(big.subarray(0, 10))[0]?.bytes.length, 2)
  assert.equal(demux.push(big.subarray(10, 5000))[0]?.bytes.length, 4990)
})

it('refuses what is no multiplexed log', () => {
  assert.throws(() => new Demux().push(Buffer.from('HTTP/1.1 200 OK')), DemuxError)
})
