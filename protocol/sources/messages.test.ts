import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { RECORD_BYTES_MAX } from '../record/record.ts'
import { ASKED_ROOTS_MAX, Ask, decodeAsk, decodeFound, Found, NEIGHBOURS_MAX, SOURCE_ADDRESSES_MAX, SOURCES_FRAME_BYTES_MAX, SOURCES_MAX } from './messages.ts'

const PEER = '12D3KooWD8APRYqjqvLY4qrgB4NxZi75BnWMJeCL87EUdFdfxNyd'
const source = { peer: PEER, addresses: ['/ip4/5.5.5.10/tcp/1'], roots: [0, 1] }

describe('asking for sources', () => {
  it('is read as it was written', () => {
    const ask = { addresses: ['/ip4/5.5.5.10/tcp/1'], roots: ['bafy', 'bafk'] }
    assert.deepEqual(decodeAsk(Ask.encode(ask)), ask)
    assert.deepEqual(decodeAsk(new Uint8Array(0)), { addresses: [], roots: [] })
    assert.deepEqual(decodeFound(Found.encode({ sources: [source] })), { sources: [source], neighbours: [] })
    const found = { sources: [], neighbours: [{ ...source, roots: [] }], record: new Uint8Array(RECORD_BYTES_MAX) }
    assert.deepEqual(decodeFound(Found.encode(found)), found)
  })
  it('is refused beyond its bounds', () => {
    const many = (count: number, text: string): string[] => Array.from({ length: count }, () => text)
    for (const ask of [
      { addresses: many(SOURCE_ADDRESSES_MAX + 1, '/a'), roots: [] },
      { addresses: [], roots: many(ASKED_ROOTS_MAX + 1, 'b') },
      { addresses: ['nowhere'], roots: [] },
      { addresses: [`/${'x'.repeat(400)}`], roots: [] },
      { addresses: [], roots: ['x'.repeat(129)] }
    ])
      assert.equal(decodeAsk(Ask.encode(ask)), undefined)
    for (const sources of [
      Array.from({ length: SOURCES_MAX + 1 }, () => source),
      [{ ...source, peer: 'ann' }],
      [{ ...source, addresses: ['x'] }],
      [{ ...source, addresses: many(SOURCE_ADDRESSES_MAX + 1, '/a') }],
      [{ ...source, roots: Array.from({ length: ASKED_ROOTS_MAX + 1 }, () => 0) }]
    ])
      for (const found of [
        { sources, neighbours: [] },
        { sources: [], neighbours: sources }
      ])
        assert.equal(decodeFound(Found.encode(found)), undefined)
    const neighbours = Array.from({ length: NEIGHBOURS_MAX + 1 }, () => ({ ...source, roots: [] }))
    assert.equal(decodeFound(Found.encode({ sources: [], neighbours })), undefined)
    assert.equal(decodeFound(Found.encode({ sources: [], neighbours: [], record: new Uint8Array(RECORD_BYTES_MAX + 1) })), undefined)
    assert.equal(decodeAsk(new Uint8Array(SOURCES_FRAME_BYTES_MAX + 1)), undefined)
  })
  it('throws at no bytes at all', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        decodeAsk(bytes)
        decodeFound(bytes)
      })
    )
  })
})
