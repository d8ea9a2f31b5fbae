import assert from 'node:assert/strict'
import { it } from 'node:test'
import { NONE, withOne } from './lists.ts'

it('a list grows in place, and the empty one that all share never', () => {
  const one = withOne<number>(NONE, 1)
  assert.deepEqual([one, withOne<number>(NONE, 2)], [[1], [2]])
  assert.equal(withOne(one, 3), one)
  assert.deepEqual([one, NONE], [[1, 3], []])
})
