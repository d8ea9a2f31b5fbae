import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { encodeLeases, encodeTexts } from './frame-writer.ts'
import { Frame } from './messages.ts'

/** Zero is left out, as a number that nobody gave. */
const seq = fc.oneof(fc.maxSafeNat(), fc.constantFrom(0, 1, 127, 128, 2 ** 32, Number.MAX_SAFE_INTEGER))
const text = fc.oneof(fc.string({ minLength: 1, maxLength: 300 }), fc.string({ minLength: 1, unit: 'binary' }), fc.constant('b7.3.1'))
const texts = fc.array(text, { maxLength: 20 })
const bytes = fc.uint8Array({ maxLength: 300 }).map((some) => new Uint8Array(some))
const checkpoint = fc.record({ everyMs: seq, root: text }, { requiredKeys: ['everyMs'] })
const lease = fc.record(
  { replica: text, epoch: seq, manifest: bytes, gpus: texts, granted: fc.boolean(), memoryBytes: seq, sealed: fc.boolean(), checkpoint },
  { requiredKeys: ['replica', 'epoch', 'manifest', 'gpus'] }
)

it('writes the bytes that the generated encoder writes', () => {
  fc.assert(
    fc.property(seq, texts, texts, text, (seq, first, second, reason) => {
      assert.deepEqual(bare(encodeTexts(seq, 'grant', first, second)), bare(Frame.encode({ seq, ack: 0, grant: { granted: first, refused: second } })))
      assert.deepEqual(bare(encodeTexts(seq, 'cancel', first, [reason])), bare(Frame.encode({ seq, ack: 0, cancel: { replicas: first, reason } })))
      assert.deepEqual(bare(encodeTexts(seq, 'release', first, [])), bare(Frame.encode({ seq, ack: 0, release: { replicas: first } })))
      assert.deepEqual(bare(encodeTexts(seq, 'reveal', first, [])), bare(Frame.encode({ seq, ack: 0, reveal: { replicas: first } })))
    })
  )
  fc.assert(
    fc.property(seq, fc.array(lease, { maxLength: 5 }), bytes, (seq, leases, signature) => {
      assert.deepEqual(bare(encodeLeases(seq, leases, signature)), bare(Frame.encode({ seq, ack: 0, assign: { leases, signature } })))
    })
  )
})

it('leaves what it has written alone, also when its memory is used up', () => {
  const ids = Array.from({ length: 4000 }, (_, index) => `a batch.${index}.1`)
  const frames = ids.map((id, index) => encodeTexts(index, 'release', [id], []))
  const large = encodeTexts(1, 'release', ids, [])
  frames.forEach((frame, index) => {
    assert.deepEqual(Frame.decode(frame).release?.replicas, [ids[index]])
  })
  assert.deepEqual(Frame.decode(large).release?.replicas, ids)
})

function bare(frame: Uint8Array): string {
  return Buffer.from(frame).toString('hex')
}
