import assert from 'node:assert/strict'
import { it } from 'node:test'
import { decodeFrame } from '#protocol/control/messages'
import { Outbox } from './outbox.ts'
import { OUTBOX_FRAMES_MAX } from './policy.ts'

const LINK = new Uint8Array(16).fill(7)
const body = (name: string) => ({ start: { replicas: [{ replica: name, epoch: 1 }] } })

it('keeps a bounded number of frames, and takes more when some are acknowledged', () => {
  const outbox = new Outbox(LINK)
  for (let frames = 0; frames < OUTBOX_FRAMES_MAX; frames++) outbox.add({ bye: {} })
  assert.throws(() => outbox.add({ bye: {} }), RangeError)
  assert.equal(outbox.sent, OUTBOX_FRAMES_MAX)
  outbox.acknowledged(1)
  outbox.add({ bye: {} })
})

it('refuses a frame that the other side would refuse, and does not use up its number', () => {
  const outbox = new Outbox(LINK)
  assert.throws(() => outbox.add(body('x'.repeat(5_000_000))), RangeError)
  assert.equal(outbox.sent, 0)
})

it('writes what it must, no more, and goes on from its records', () => {
  const outbox = new Outbox(LINK)
  outbox.add(body('a'))
  const kept = outbox.add(body('b'))
  outbox.receive(1)
  const disk = new Map<string, Uint8Array>()
  const commit = (changes: ReturnType<Outbox['take']>): void => {
    for (const { key, value } of changes) {
      if (value === null) disk.delete(key)
      else disk.set(key, value)
    }
  }
  commit(outbox.take(false))
  outbox.acknowledged(1)
  assert.deepEqual(outbox.take(false), [], 'an acknowledgement alone asks for no commit')
  commit(outbox.take(true))
  const again = new Outbox(new Uint8Array(16))
  for (const [key, value] of disk) again.restore(key, value)
  again.restored()
  assert.deepEqual([again.pending(), [...again.link], again.sent, again.received], [[kept], [...LINK], 2, 1])
  assert.equal(decodeFrame(again.add(body('c')))?.seq, 3)
})
