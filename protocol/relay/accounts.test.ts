import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type Circuit, RelayAccounts } from './accounts.ts'
import { DEFAULT_RELAY_LIMITS, limitsFault, type RelayLimits } from './limits.ts'

const HOUR = 3_600_000
const book = (limits: Partial<RelayLimits> = {}): RelayAccounts => new RelayAccounts({ ...DEFAULT_RELAY_LIMITS, ...limits }, 0)

function opened(answer: Circuit | string): Circuit {
  assert.ok(typeof answer === 'object', String(answer))
  return answer
}

describe("a relay's book", () => {
  it('gives reservations up to its limits, and takes back what is over or left', () => {
    const relay = book({ reservationsMax: 3, reservationsPerNetworkMax: 2, reservationMs: 1_000 })
    assert.deepEqual(relay.reserve('ann', 'home', 0), { expiresAtMs: 1_000 })
    assert.deepEqual(relay.reserve('ann', 'home', 500), { expiresAtMs: 1_500 })
    assert.deepEqual(relay.reserve('bob', 'home', 500), { expiresAtMs: 1_500 })
    assert.equal(relay.reserve('cid', 'home', 500), 'network_full')
    assert.deepEqual(relay.reserve('cid', 'office', 600), { expiresAtMs: 1_600 })
    assert.equal(relay.reserve('dan', 'office', 600), 'reservations_full')
    relay.release('bob')
    assert.deepEqual(relay.reserve('dan', 'office', 600), { expiresAtMs: 1_600 })
    assert.equal(relay.counts(1_500).reservations, 2)
    assert.equal(relay.counts(1_600).reservations, 0)
    assert.deepEqual(relay.counts(1_600).refused, { network_full: 1, reservations_full: 1 })
  })

  it('carries connections to peers with a reservation only, and so many', () => {
    const relay = book({ circuitsMax: 3, circuitsPerPeerMax: 2, reservationMs: 1_000 })
    assert.equal(relay.open('ann', 'bob', 0), 'no_reservation')
    relay.reserve('bob', 'home', 0)
    relay.reserve('dan', 'home', 0)
    const first = opened(relay.open('ann', 'bob', 0))
    opened(relay.open('cid', 'bob', 0))
    assert.equal(relay.open('eve', 'bob', 0), 'peer_circuits_full')
    relay.close(first, 0)
    relay.close(first, 0)
    opened(relay.open('eve', 'bob', 0))
    opened(relay.open('eve', 'dan', 0))
    assert.equal(relay.open('ann', 'dan', 0), 'circuits_full')
    assert.equal(relay.open('ann', 'bob', 1_000), 'no_reservation')
  })

  it('leaves places at a peer that many call, however often one of them does', () => {
    const relay = book()
    relay.reserve('project', 'home', 0)
    const calls = Array.from({ length: DEFAULT_RELAY_LIMITS.circuitsPerPeerMax }, () => relay.open('mallory', 'project', 0))
    assert.equal(calls.filter((call) => typeof call === 'object').length, DEFAULT_RELAY_LIMITS.callsPerPeerMax)
    assert.equal(calls.at(-1), 'peer_circuits_full')
    for (let i = 0; i < 900; i += 1) opened(relay.open(`node ${i}`, 'project', 0))
    relay.close(opened(calls[0] ?? ''), 0)
    opened(relay.open('mallory', 'project', 0))
    assert.equal(relay.open('mallory', 'project', 0), 'peer_circuits_full')
  })

  it('ends a connection at its bytes, its time, its peers hour and its own hour', () => {
    const relay = book({ circuitBytesMax: 100, circuitMsMax: 1_000, peerBytesPerHour: 150, bytesPerHour: 400 })
    for (const peer of ['bob', 'dan', 'fay']) relay.reserve(peer, peer, 0)
    const long = opened(relay.open('ann', 'bob', 0))
    assert.equal(relay.charge(long, 100, 0), undefined)
    assert.equal(relay.charge(long, 1, 0), 'circuit_bytes')
    assert.equal(relay.charge(opened(relay.open('ann', 'bob', 0)), 50, 0), 'peer_bytes')
    assert.equal(relay.open('ann', 'dan', 0), 'peer_bytes')
    assert.equal(relay.charge(opened(relay.open('cid', 'dan', 0)), 1, 1_000), 'circuit_time')
    assert.equal(relay.charge(opened(relay.open('eve', 'dan', 0)), 99, 0), undefined)
    assert.equal(relay.charge(opened(relay.open('guy', 'fay', 0)), 150, 0), 'bytes')
    assert.equal(relay.open('hal', 'fay', 0), 'bytes')
    // It comes back evenly.
    opened(relay.open('hal', 'fay', HOUR / 2))
    assert.equal(relay.counts(0).bytes, 401)
  })

  it('never carries more for a peer than its hour and one charge beyond, whatever happens in what order', () => {
    const step = fc.record({
      from: fc.constantFrom('a', 'b', 'c'),
      to: fc.constantFrom('x', 'y'),
      bytes: fc.integer({ min: 1, max: 40 }),
      afterMs: fc.nat(60_000)
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 80 }), (steps) => {
        const relay = book({ peerBytesPerHour: 100, bytesPerHour: 150, circuitsPerPeerMax: 1_000 })
        relay.reserve('x', 'x', 0)
        relay.reserve('y', 'y', 0)
        const carried = new Map<string, number>()
        let now = 0
        let all = 0
        for (const { from, to, bytes, afterMs } of steps) {
          now += afterMs
          if (now >= HOUR) break
          const circuit = relay.open(from, to, now)
          if (typeof circuit === 'string') continue
          relay.charge(circuit, bytes, now)
          relay.close(circuit, now)
          all += bytes
          for (const peer of [from, to]) carried.set(peer, (carried.get(peer) ?? 0) + bytes)
        }
        // At the most twice an hour's: what was saved up and what came back meanwhile.
        for (const bytes of carried.values()) assert.ok(bytes <= 2 * 100 + 40)
        assert.ok(all <= 2 * 150 + 40)
        assert.equal(relay.counts(now).circuits, 0)
      })
    )
  })

  it('takes limits from a file that make sense and names the one that does not', () => {
    assert.equal(limitsFault({}), undefined)
    assert.equal(limitsFault(DEFAULT_RELAY_LIMITS), undefined)
    assert.match(limitsFault({ circuits: 1 }) ?? '', /no limit "circuits"/)
    assert.match(limitsFault({ circuitsMax: -1 }) ?? '', /circuitsMax/)
    assert.match(limitsFault({ circuitBytesMax: 1 }) ?? '', /16777216/)
    assert.match(limitsFault([]) ?? '', /map/)
  })
})
