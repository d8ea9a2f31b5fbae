import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { KeyFilter } from './key-filter.ts'

describe('a filter of keys', () => {
  it('never says no of a key that was added, however many parts it has', () =>
    fc.assert(
      fc.property(fc.uniqueArray(fc.string()), fc.integer({ min: 1, max: 8 }), (keys, firstKeys) => {
        const filter = new KeyFilter(firstKeys)
        for (const key of keys) filter.add(key)
        return keys.every((key) => filter.mayHave(key))
      })
    ))

  it('says no of nearly all that were not, in two bytes or so for each that was', () => {
    const [keys, firstKeys] = [20_000, 1_000]
    const filter = new KeyFilter(firstKeys)
    assert.equal(filter.mayHave('k/0'), false)
    // They differ in little, and their hashes must not.
    for (let key = 0; key < keys; key++) filter.add(`k/${key}`)
    let wrong = 0
    for (let key = keys; key < 2 * keys; key++) if (filter.mayHave(`k/${key}`)) wrong++
    assert.ok(wrong < 0.03 * keys, `${wrong} of ${keys}`)
    assert.ok(filter.bytes <= 3 * keys, `${filter.bytes} bytes`)
  })

  it('takes no more room for what it has', () => {
    const filter = new KeyFilter(10)
    for (let round = 0; round < 100; round++) filter.add('the same')
    assert.equal(filter.bytes, new Uint32Array(Math.ceil((10 * 12) / 32)).byteLength)
  })
})
