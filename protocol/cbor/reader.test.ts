import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import * as dagCbor from '@ipld/dag-cbor'
import fc from 'fast-check'
import { cidOfBytes, DAG_PB } from '../content/cid.ts'
import { readCbor } from './reader.ts'

const cid = fc.uint8Array({ maxLength: 8 }).map((bytes) => cidOfBytes(DAG_PB, bytes))
const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 80 }), fc.constant('\ufffd'))
const key = fc.oneof(fc.string({ maxLength: 6 }), text).filter((one) => one !== '__proto__')
const { item } = fc.letrec((tie) => ({
  item: fc.oneof(
    { maxDepth: 4 },
    fc.oneof(fc.maxSafeInteger(), text, fc.uint8Array({ maxLength: 300 }), fc.boolean(), fc.constant(null), cid),
    fc.array(tie('item'), { maxLength: 5 }),
    fc.dictionary(key, tie('item'), { maxKeys: 5, noNullPrototype: true })
  )
}))

function read(bytes: Uint8Array): unknown {
  try {
    return readCbor(bytes)
  } catch (error) {
    // CID.decode has errors of its own.
    assert.ok(error instanceof Error)
    return undefined
  }
}

describe('reading dag-cbor', () => {
  it('reads what the general encoder writes', () => {
    fc.assert(fc.property(item, (one) => assert.deepEqual(plain(readCbor(dagCbor.encode(one))), plain(one))))
  })

  it('takes changed bytes only when they are canonical, and then as the general decoder does', () => {
    fc.assert(
      fc.property(item, fc.nat(), fc.nat(255), fc.boolean(), (one, place, byte, cut) => {
        const bytes = dagCbor.encode(one)
        const at = place % bytes.length
        const changed = cut ? bytes.slice(0, at) : bytes.map((old, index) => (index === at ? byte : old))
        const found = read(changed)
        if (found === undefined) return
        assert.deepEqual(plain(found), plain(dagCbor.decode(changed)))
        assert.deepEqual([...dagCbor.encode(found)], [...changed])
      }),
      { numRuns: 1000 }
    )
  })

  it('refuses a second spelling of a CID', () => {
    const bytes = dagCbor.encode(cidOfBytes(DAG_PB, Uint8Array.of(1)))
    const at = bytes.length - 36
    for (const [place, byte] of [
      [at, 0],
      [at + 3, 31]
    ] as const)
      assert.throws(() => readCbor(bytes.map((old, index) => (index === place ? byte : old))))
  })

  it('refuses a second spelling, an end that never comes and what is too deep', () => {
    const wrong = [
      '1800',
      '190001',
      '1a00000001',
      '1b0000000000000001',
      'a2616201616101',
      'a2616101616101',
      'a26261610161620a',
      '9f01ff',
      '0101',
      '61ff',
      '1bffffffffffffffff',
      'f97e00',
      'f7',
      'd90101',
      'c100',
      ''
    ]
    for (const hex of wrong) assert.throws(() => readCbor(Buffer.from(hex, 'hex')), TypeError, hex)
    assert.throws(() => readCbor(new Uint8Array(100_000).fill(0x81)), TypeError)
    assert.throws(() => readCbor(dagCbor.encode({ ['__proto__']: 1, a: 2 })), TypeError)
  })
})

/** CIDs of either making, as text. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (_, one) => (one instanceof Uint8Array ? { bytes: [...one] } : (one as unknown))))
}
