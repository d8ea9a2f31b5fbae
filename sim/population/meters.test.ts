import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { Times } from './meters.ts'
import { difference, isClear } from './statistics.ts'

function timesOf(values: readonly number[]): Times {
  const times = new Times()
  for (const value of values) times.add(value)
  return times
}

it('quantiles are right to 5 %, rise, and end with the greatest time', () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 1, max: 1e9, noNaN: true }), { minLength: 1, maxLength: 200 }), (values) => {
      const times = timesOf(values)
      const sorted = values.toSorted((a, b) => a - b)
      const shares = [0.01, 0.1, 0.5, 0.9, 0.99, 1]
      const found = shares.map((q) => times.quantileMs(q))
      for (const [index, q] of shares.entries()) {
        const exact = sorted[Math.ceil(q * sorted.length) - 1] ?? 0
        assert.ok((found[index] ?? 0) <= exact * 1.05 && (found[index] ?? 0) >= exact / 1.05, `${found[index]} for ${exact}`)
        assert.ok(index === 0 || (found[index] ?? 0) >= (found[index - 1] ?? 0))
      }
      assert.equal(times.quantileMs(1), sorted.at(-1))
    })
  )
  assert.equal(new Times().quantileMs(0.5), 0)
})

it('runs that differ within a step do not tie, and a difference that is chance is not clear', () => {
  const run = (shift: number): number => timesOf(Array.from({ length: 1000 }, (_, index) => 3_600_000 * (1 + index / 1000) + shift)).quantileMs(0.5)
  const [a, b] = [
    [0, 30_000, -20_000, 10_000],
    [5_000, 10_000, 15_000, -25_000]
  ].map((shifts) => shifts.map(run)) as [number[], number[]]
  assert.equal(new Set([...a, ...b]).size, 7)
  const change = difference(a, b)
  assert.ok(change.within > 0)
  assert.ok(!isClear(change))
})
