import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { TokenBucket } from './token-bucket.ts'

const SINCE_MS = 1e6

describe('a token bucket', () => {
  it('has what a count in whole numbers says, whatever is taken or charged when, and however its clock is set', () => {
    const uses = fc.record({ passMs: fc.integer({ min: -500, max: 2_000 }), cost: fc.integer({ min: 1, max: 30 }), owes: fc.boolean() })
    fc.assert(
      fc.property(fc.array(uses, { maxLength: 200 }), fc.integer({ min: 1, max: 100 }), fc.integer({ min: 1, max: 50 }), (list, burst, perSecond) => {
        const bucket = new TokenBucket({ burst, perSecond }, SINCE_MS)
        // In thousandths.
        let [left, nowMs, latestMs] = [burst * 1000, SINCE_MS, SINCE_MS]
        for (const { passMs, cost, owes } of list) {
          nowMs += passMs
          left = Math.min(burst * 1000, left + Math.max(0, nowMs - latestMs) * perSecond)
          latestMs = Math.max(latestMs, nowMs)
          const after = left - cost * 1000
          if (owes) {
            assert.ok(Math.abs(bucket.charge(cost, nowMs) - Math.max(0, -after / perSecond)) < 1e-6)
            left = after
          } else {
            const taken = bucket.take(cost, nowMs)
            // When it is just enough, rounding decides.
            if (after !== 0) assert.equal(taken, after > 0)
            if (taken) left = after
          }
          if (left < burst * 1000) assert.equal(bucket.isFull(nowMs), false)
        }
        assert.ok(bucket.isFull(latestMs + Math.ceil((burst * 1000 - left) / perSecond) + 1))
      })
    )
  })

  it('owes nothing to who waits as long as it says', () => {
    const bucket = new TokenBucket({ burst: 5, perSecond: 10 }, 0)
    assert.deepEqual([bucket.charge(5, 0), bucket.charge(1, 0), bucket.charge(2, 0)], [0, 100, 300])
    assert.equal(bucket.take(1, 399), false)
    assert.equal(bucket.charge(1, 400), 0)
  })
})
