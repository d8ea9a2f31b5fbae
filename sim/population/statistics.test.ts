import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Random } from '../random.ts'
import { difference, estimate, isClear } from './statistics.ts'

it('95 of 100 intervals hold the true mean, however few the seeds', () => {
  for (const seeds of [2, 5, 12, 40]) {
    const random = new Random(1, seeds)
    let held = 0
    for (let turn = 0; turn < 4000; turn++) {
      const { mean, within } = estimate(Array.from({ length: seeds }, () => 7 + random.normal()))
      if (Math.abs(mean - 7) <= within) held++
    }
    assert.ok(Math.abs(held / 4000 - 0.95) < 0.015, `${held} of 4000 with ${seeds} seeds`)
  }
  assert.equal(estimate([3]).within, Number.POSITIVE_INFINITY)
})

it('pairs take out what both share', () => {
  const random = new Random(2)
  const a = Array.from({ length: 5 }, () => 100 + 30 * random.normal())
  const b = a.map((value) => value + 2 + 0.1 * random.normal())
  assert.ok(isClear(difference(a, b)))
  assert.ok(!isClear(difference(a, a)))
  assert.ok(estimate(a).within > 10)
})
