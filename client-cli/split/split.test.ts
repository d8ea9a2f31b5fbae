import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { gatheredName } from '#protocol/bundle/sources'
import { ClientError } from '../errors.ts'
import { cutter, parseSplit, partPath, type Split } from './split.ts'

/** The parts of `text` when it arrives in pieces of these sizes. */
function partsOf(text: string, split: Split, sizes: readonly number[] = [text.length]): string[] {
  const bytes = Buffer.from(text)
  const cut = cutter(split, bytes.length)
  const cuts: number[] = []
  for (let at = 0, turn = 0; at < bytes.length; turn++) {
    const size = Math.max(1, sizes[turn % sizes.length] ?? 1)
    cuts.push(...cut.push(bytes.subarray(at, at + size)))
    at += size
  }
  const ends = [...cuts.filter((end) => end < bytes.length), bytes.length]
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end).toString())
}

const lines = (count: number): Split => ({ kind: 'lines', lines: count })
const parts = (count: number): Split => ({ kind: 'parts', parts: count })
const text = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '\n', 'é'), maxLength: 12 })).map((all) => all.join(''))
const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 5 })

describe('split', () => {
  it('cuts by lines and keeps a last line without a newline', () => {
    assert.deepEqual(partsOf('1\n2\n3\n4\n5', lines(2)), ['1\n2\n', '3\n4\n', '5'])
  })
  it('cuts into parts of about equal size at ends of lines', () => {
    assert.deepEqual(partsOf('11\n22\n33\n44\n', parts(2)), ['11\n22\n', '33\n44\n'])
    assert.deepEqual(partsOf('one long line', parts(4)), ['one long line'])
  })
  it('never loses, adds or moves a byte, and cuts only after a newline, however the input arrives', () => {
    fc.assert(
      fc.property(text, sizes, fc.integer({ min: 1, max: 9 }), fc.boolean(), (input, pieces, count, byLines) => {
        fc.pre(input.length > 0)
        const split = byLines ? lines(count) : parts(count)
        const all = partsOf(input, split, pieces)
        assert.equal(all.join(''), input)
        assert.ok(all.every((part) => part.length > 0))
        assert.ok(all.slice(0, -1).every((part) => part.endsWith('\n')))
        assert.deepEqual(all, partsOf(input, split))
        if (!byLines) assert.ok(all.length <= count)
        else for (const part of all.slice(0, -1)) assert.equal(part.split('\n').length - 1, count)
      })
    )
  })
  it('makes no part of a text of many lines larger than its share and one line', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('a', 'bb', 'ccc'), { minLength: 1, maxLength: 200 }), fc.integer({ min: 1, max: 20 }), (words, count) => {
        const input = words.map((word) => `${word}\n`).join('')
        const share = Math.ceil(input.length / count)
        assert.ok(partsOf(input, parts(count)).every((part) => part.length <= share + 4))
      })
    )
  })
  it('reads its option and says what it should look like', () => {
    assert.deepEqual(parseSplit('lines=100'), lines(100))
    assert.deepEqual(parseSplit('parts=7'), parts(7))
    for (const wrong of ['lines', 'lines=0', 'parts=-1', 'parts=1e9', 'parts=99999999', 'bytes=5', '']) assert.throws(() => parseSplit(wrong), ClientError)
  })
  it('names parts so that they sort as they count, in folders when there are many', () => {
    assert.equal(partPath(7), '000/000007')
    assert.equal(partPath(12_344), '012/012344')
    assert.equal(gatheredName(7, 4096), '0007')
    assert.equal(gatheredName(12_344, 4097), '012/012344')
  })
})
