import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { Ask, decodeReachAsk, decodeSeen, Seen, UDP_BYTES, udpAnswer, udpAsk, udpSeen } from './messages.ts'

const id = new Uint8Array(16).fill(7)
const other = new Uint8Array(16).fill(8)

it('says over UDP where a question came from, to who asked, in no more bytes', () => {
  const answer = udpAnswer(udpAsk(id), '2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff', 65_535)
  assert.ok(answer !== undefined && answer.length <= UDP_BYTES)
  assert.equal(udpSeen(answer, id), '2001:db8:aaaa:bbbb:cccc:dddd:eeee:ffff 65535')
  assert.equal(udpSeen(answer, other), undefined)
  assert.equal(udpAnswer(udpAsk(id).subarray(1), '5.5.5.5', 1), undefined)
  assert.equal(udpAnswer(new Uint8Array(UDP_BYTES), '5.5.5.5', 1), undefined)
  assert.equal(udpAnswer(udpAsk(id), '5.5.5.5', 0), undefined)
})

it('reads questions and answers within their bounds, and throws at no bytes', () => {
  const seen = { address: '5.5.5.5', nowMs: 1, open: true, udpPort: 443, busy: false }
  assert.deepEqual(decodeSeen(Seen.encode(seen)), seen)
  assert.deepEqual(decodeReachAsk(Ask.encode({ port: 443 })), { port: 443 })
  assert.equal(decodeReachAsk(Ask.encode({ port: 65_536 })), undefined)
  assert.equal(decodeSeen(Seen.encode({ ...seen, address: 'x'.repeat(65) })), undefined)
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 120 }), (bytes) => {
      decodeReachAsk(bytes)
      decodeSeen(bytes)
      udpAnswer(bytes, '5.5.5.5', 1)
      udpSeen(bytes, id)
    })
  )
})
