import assert from 'node:assert/strict'
import { it } from 'node:test'
import * as dagCbor from '@ipld/dag-cbor'
import fc from 'fast-check'
import { Writer } from './writer.ts'

it('writes what the general encoder writes, byte for byte', () => {
  const writer = new Writer()
  const item = fc.oneof(
    fc.maxSafeInteger(),
    fc.string({ unit: 'grapheme', maxLength: 300 }),
    fc.string(),
    fc.uint8Array({ maxLength: 300 }),
    fc.boolean(),
    fc.constant(null)
  )
  fc.assert(
    fc.property(fc.array(item, { maxLength: 40 }), (items) => {
      writer.list(items.length)
      for (const one of items) {
        if (typeof one === 'number' || one === null) writer.int(one)
        else if (typeof one === 'string') writer.text(one)
        else if (typeof one === 'boolean') writer.flag(one)
        else writer.bytes(one)
      }
      assert.deepEqual([...writer.done()], [...dagCbor.encode(items)])
    })
  )
})
