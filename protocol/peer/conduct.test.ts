import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import {
  BREACH_COST,
  CALLED,
  CALLER,
  CALLS,
  Conduct,
  EXCESS_COST,
  FORGOTTEN_MS,
  OWN_SHARE,
  PLACES_MAX,
  Places,
  REFUSED_MS,
  REFUSED_MS_MAX,
  Restraint
} from './conduct.ts'

const PEER = '12D3KooWBmwkafWE2fqfzS96VoTZgpGp6aJsF4N7eysLGTrHBcdh'
const RELAY = '/ip4/203.0.113.1/tcp/4600/p2p/12D3KooWRm8J3iL796zPFi2EtGGtUJn58AG67gcqzMFHZnnsTzqD/p2p-circuit'

describe('the conduct of a peer on a connection', () => {
  it('may be anything within the allowance, and nothing that costs more than it and what has come back meanwhile', () => {
    const acts = fc.array(fc.record({ afterMs: fc.nat(2_000), act: fc.constantFrom('opens', 'exceeds', 'breaks') }), { maxLength: 200 })
    fc.assert(
      fc.property(acts, fc.integer({ min: BREACH_COST, max: 300 }), fc.integer({ min: 1, max: 50 }), (list, burst, perSecond) => {
        const conduct = new Conduct({ burst, perSecond }, 0)
        let [nowMs, spent] = [0, 0]
        for (const { afterMs, act } of list) {
          nowMs += afterMs
          spent += { opens: 1, exceeds: EXCESS_COST, breaks: BREACH_COST }[act]
          const fine = conduct[act](nowMs)
          if (spent <= burst) assert.ok(fine, 'it had enough left')
          if (fine) assert.ok(spent <= burst + (nowMs * perSecond) / 1000, 'it had more than its allowance')
          else return
        }
      })
    )
  })

  it('is forgiven when it is slow', () => {
    const conduct = new Conduct({ burst: BREACH_COST, perSecond: 1 }, 0)
    for (let nowMs = 0; nowMs < 1e6; nowMs += BREACH_COST * 1000) assert.ok(conduct.breaks(nowMs))
  })

  it('has no more left when the clock is set back', () => {
    const conduct = new Conduct({ burst: 1, perSecond: 1 }, 1e6)
    assert.ok(conduct.opens(1e6))
    assert.equal(conduct.opens(0), false)
    assert.equal(conduct.opens(1e6 + 500), false)
  })

  it('may be five streams too many of a protocol at once, and one breach, but not two', () => {
    const caller = new Conduct(CALLER, 0)
    assert.deepEqual([caller.breaks(0), caller.breaks(0)], [true, false])
    const hasty = new Conduct(CALLER, 0)
    for (let stream = 0; stream < 5; stream++) assert.ok(hasty.exceeds(0))
  })
})

describe('restraint', () => {
  it('keeps below what the other side puts up with, however the messages are delayed by up to a second, and uses most of it', () => {
    const asked = fc.array(fc.record({ afterMs: fc.nat(200), delayMs: fc.nat(1_000) }), { minLength: 1, maxLength: 1_000 })
    fc.assert(
      fc.property(asked, fc.constantFrom(CALLER, CALLED), (list, allowance) => {
        const [own, other] = [new Restraint(allowance, 0), new Conduct(allowance, 0)]
        const arrivals: number[] = []
        let [nowMs, last] = [0, 0]
        for (const { afterMs, delayMs } of list) {
          nowMs += afterMs
          const openedMs = nowMs + own.waitMs(nowMs)
          assert.ok(openedMs >= last, 'in order')
          last = openedMs
          arrivals.push(openedMs + delayMs)
        }
        for (const atMs of arrivals.sort((a, b) => a - b)) assert.ok(other.opens(atMs))
        const mayMs = ((list.length - allowance.burst * OWN_SHARE) * 1000) / (allowance.perSecond * OWN_SHARE)
        assert.ok(last <= nowMs + Math.max(0, mayMs) + 1, 'no longer than it must')
      })
    )
  })
})

describe('the calls of a place', () => {
  it('are never more than its allowance and what came back, and none fewer', () => {
    const at = '/ip4/198.51.100.7/tcp/50000'
    const places = new Places()
    for (let call = 0; call < CALLS.burst; call++) assert.ok(places.admits(at, 0))
    assert.equal(places.admits(at, 0), false)
    assert.ok(places.admits('/ip4/198.51.100.8/tcp/50000', 0), 'others have their own')
    fc.assert(
      fc.property(fc.array(fc.nat(500), { minLength: 1, maxLength: 1_000 }), (waits) => {
        const since = 1e9
        let [nowMs, taken] = [since, CALLS.burst]
        const again = new Places()
        for (let call = 0; call < CALLS.burst; call++) again.admits(at, since)
        for (const waitMs of waits) {
          nowMs += waitMs
          const fine = again.admits(at, nowMs)
          if (fine) taken++
          const had = CALLS.burst + ((nowMs - since) * CALLS.perSecond) / 1000
          assert.ok(taken <= had + 1e-6)
          if (!fine) assert.ok(taken + 1 > had - 1e-6)
        }
      }),
      { numRuns: 20 }
    )
  })
})

describe('places that are refused', () => {
  it('are so for longer each time, up to a bound, and anew after a long while', () => {
    const places = new Places()
    const at = '/ip4/198.51.100.7/tcp/50000'
    let nowMs = 0
    for (const ms of [REFUSED_MS, 2 * REFUSED_MS, 4 * REFUSED_MS, 8 * REFUSED_MS, REFUSED_MS_MAX, REFUSED_MS_MAX]) {
      assert.equal(places.refuse(at, nowMs), ms)
      assert.equal(places.admits(at, nowMs + ms - 1), false)
      nowMs += ms
      assert.ok(places.admits(at, nowMs))
    }
    assert.equal(places.refuse(at, nowMs + FORGOTTEN_MS), REFUSED_MS)
  })

  it('are addresses whatever the port, halves of IPv6 addresses, and of those that come through a relay the peers', () => {
    const places = new Places()
    places.refuse('/ip4/198.51.100.7/tcp/50000', 0)
    places.refuse('/ip6/2001:db8:1:2:3:4:5:6/tcp/50000', 0)
    places.refuse(`${RELAY}/p2p/${PEER}`, 0)
    assert.equal(places.admits('/ip4/198.51.100.7/tcp/50001', 1), false)
    for (const same of ['/ip4/198.51.100.7', '/ip6/::ffff:198.51.100.7']) assert.ok(places.isRefused(same, 1), same)
    assert.equal(places.isRefused('/ip4/198.51.100.8', 1), false)
    assert.ok(places.admits('/ip4/198.51.100.8/tcp/50000', 1))
    assert.equal(places.admits('/ip6/2001:db8:1:2::1/tcp/1', 1), false)
    assert.ok(places.admits('/ip6/2001:db8:1:3::1/tcp/1', 1))
    assert.equal(places.admits(`${RELAY}/p2p/${PEER}`, 1), false)
    assert.ok(places.admits('/ip4/203.0.113.1/tcp/4600', 1), 'the relay may call')
  })

  it('are no more than so many', () => {
    const places = new Places()
    const at = (index: number): string => `/ip4/10.${index >> 16}.${(index >> 8) & 255}.${index & 255}/tcp/1`
    for (let index = 0; index <= PLACES_MAX; index++) places.refuse(at(index), 0)
    assert.ok(places.admits(at(0), 1))
    assert.equal(places.admits(at(2), 1), false)
    assert.equal(places.admits(at(PLACES_MAX), 1), false)
  })
})
