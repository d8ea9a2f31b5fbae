import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { isLanAsker, LAN_BYTES_MAX, lanAnswer, lanAsk, lanRecord } from './messages.ts'

const PROJECT = '12D3KooWD8APRYqjqvLY4qrgB4NxZi75BnWMJeCL87EUdFdfxNyd'
const OTHER = '12D3KooWEu9mzKK1LNTThU4Zeu2LUcdTFgnXFS7gLqxJhp7boEb5'
const id = new Uint8Array(16).fill(7)

it('a project answers who asks for it, with its record and no more bytes than it got', () => {
  const record = new Uint8Array(600).fill(9)
  const answer = lanAnswer(lanAsk(PROJECT, id), PROJECT, record)
  assert.ok(answer !== undefined && answer.length < LAN_BYTES_MAX)
  assert.deepEqual(lanRecord(answer, id), record)
  assert.equal(lanRecord(answer, new Uint8Array(16)), undefined)
  assert.equal(lanAnswer(lanAsk(OTHER, id), PROJECT, record), undefined)
  assert.equal(lanAnswer(lanAsk(PROJECT, id).subarray(1), PROJECT, record), undefined)
  assert.equal(lanAnswer(lanAsk(PROJECT, id), PROJECT, new Uint8Array(LAN_BYTES_MAX)), undefined)
})

it('answers neighbours alone, and not at port 0, where nothing can be sent', () => {
  assert.equal(isLanAsker('192.168.1.7', 40_000), true)
  assert.equal(isLanAsker('192.168.1.7', 0), false)
  assert.equal(isLanAsker('5.5.5.5', 40_000), false)
})

it('throws at no bytes', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 1300 }), (bytes) => {
      lanAnswer(bytes, PROJECT, new Uint8Array(1))
      lanRecord(bytes, id)
    })
  )
})
