import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Rates } from './rates.ts'

describe('the rate of a peer', () => {
  it('lets through no more than a burst and what a second allows, whatever comes when (Q06)', () => {
    const asks = fc.array(fc.record({ passMs: fc.nat({ max: 500 }), cost: fc.integer({ min: 1, max: 20 }) }), { minLength: 1, maxLength: 300 })
    fc.assert(
      fc.property(asks, fc.integer({ min: 1, max: 100 }), fc.integer({ min: 20, max: 200 }), (list, perSecond, burst) => {
        const rates = new Rates({ perSecond, burst })
        let nowMs = 1_000
        let taken = 0
        for (const { passMs, cost } of list) {
          nowMs += passMs
          if (rates.take('a', cost, nowMs)) taken += cost
          assert.ok(taken <= burst + ((nowMs - 1_000) * perSecond) / 1000 + 1e-6)
        }
        // The same of one that waits as long as it is told.
        const paced = new Rates({ perSecond, burst })
        let atMs = 1_000
        let done = 0
        for (const { cost } of list) {
          done += cost
          atMs += paced.charge('a', cost, atMs)
          assert.ok(done <= burst + ((atMs - 1_000) * perSecond) / 1000 + 1e-6)
        }
      })
    )
  })

  it("is its own: what one asks takes nothing from another's", () => {
    const rates = new Rates({ perSecond: 10, burst: 5 })
    for (let asked = 0; asked < 1_000; asked++) rates.charge('flood', 1, 0)
    assert.equal(rates.charge('other', 1, 0), 0)
    assert.equal(rates.take('another', 5, 0), true)
    assert.equal(rates.take('flood', 1, 1_000), false)
  })

  it('is forgotten of those that ask no more', () => {
    const rates = new Rates({ perSecond: 10, burst: 5 })
    for (let peer = 0; peer < 100_000; peer++) rates.take(`${peer}`, 1, peer)
    // Kept would be those that owe nothing; one that owes is not let off.
    for (let asked = 0; asked < 100; asked++) rates.charge('flood', 1, 100_000)
    for (let peer = 0; peer < 5_000; peer++) rates.take(`again ${peer}`, 1, 100_001)
    assert.equal(rates.take('flood', 1, 100_002), false)
  })
})
