import assert from 'node:assert/strict'
import { it } from 'node:test'
import { benchLine } from './runner.ts'

const FIGURES = { name: 'what', unit: 's', peer: 'who', peerValue: 100 }
const isMet = (value: number, must: string): boolean => benchLine({ ...FIGURES, value, must }).met

it('a bound holds the ratio, the value, or both sides of the peer', () => {
  assert.deepEqual([isMet(80, '>= 0.8'), isMet(79, '>= 0.8')], [true, false])
  assert.deepEqual([isMet(10, 'value <= 10'), isMet(10.1, 'value <= 10')], [true, false])
  assert.deepEqual(
    [94.9, 95.1, 104.9, 105.1].map((value) => isMet(value, 'within 5 %')),
    [false, true, true, false]
  )
  assert.ok(!isMet(Number.NaN, 'within 5 %'))
  assert.deepEqual(
    [20, 40, 60].map((value) => isMet(value, 'value <= 50, ratio <= 0.3')),
    [true, false, false]
  )
  assert.throws(() => isMet(1, 'about 1'), RangeError)
  assert.throws(() => isMet(1, 'value <= 10, about 1'), RangeError)
})
