import assert from 'node:assert/strict'
import { it } from 'node:test'
import { NONE, withOne, withoutAt } from './lists.ts'

it('a short list with one more is another, a long one grows in place, and the empty one that all share never does', () => {
  let list: readonly number[] = NONE
  const before: (readonly number[])[] = []
  for (let item = 0; item < 40; item++) {
    before.push(list)
    list = withOne(list, item)
    assert.equal(list.length, item + 1)
    assert.equal(list.at(-1), item)
  }
  assert.deepEqual(list, [...Array(40).keys()])
  assert.deepEqual(before[3], [0, 1, 2])
  assert.equal(before[39], list)
  assert.deepEqual(NONE, [])
})

it('the last of a list takes the place of what leaves it', () => {
  const list = [1, 2, 3]
  assert.deepEqual(withoutAt(list, 0), [3, 2])
  assert.deepEqual(withoutAt(list, 1), [3])
  assert.equal(withoutAt(list, 0), NONE)
  assert.deepEqual([list, NONE], [[3], []])
})
