import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { replicaOf } from '../testing/samples.ts'
import { type Order, Parking } from './parking.ts'
import { PARK_AGAIN_MS, PARK_COPIES, PARK_MISSED_MS, PARKING_AT_ONCE } from './policy.ts'

const [A, B] = [replicaOf(0), replicaOf(1)]
const AFTER = 60_000

function away(neighbours: Readonly<Record<string, string>>): Parking {
  const parking = new Parking(AFTER)
  parking.meet(Object.entries(neighbours).map(([peer, network]) => ({ peer, network })))
  return parking
}

function shown(orders: readonly Order[]): string[] {
  return orders.map(({ replica, peer }) => `${replica === A ? 'A' : replica === B ? 'B' : replica} ${peer}`)
}

describe('leaving results with others', () => {
  it('waits until the project is away for long, or the node is to leave; nobody is asked when nobody is known', () => {
    const parking = away({ x: '' })
    assert.deepEqual([parking.isDue(false, AFTER - 1), parking.isDue(false, AFTER), parking.isDue(true, 0)], [false, true, true])
    assert.equal(away({}).isDue(true, AFTER), false)
  })

  it('leaves each with two, of different networks where there are such, one offer to each at a time', () => {
    const parking = away({ x: '1', y: '1', z: '2' })
    assert.deepEqual(shown(parking.orders([A, B], 0)), ['A x', 'A z', 'B y'])
    assert.deepEqual(shown(parking.orders([A, B], 0)), [])
    parking.answered({ replica: A, peer: 'x' }, 'kept', 0)
    assert.deepEqual(shown(parking.orders([A, B], 0)), ['B x'])
    parking.answered({ replica: A, peer: 'z' }, 'kept', 0)
    assert.deepEqual([parking.progress([A], 0), parking.progress([A, B], 0), parking.parked], ['all', 'some', 2])
    for (const peer of ['x', 'y']) parking.answered({ replica: B, peer }, 'kept', 0)
    assert.deepEqual([parking.progress([A, B], 0), shown(parking.orders([A, B], 0))], ['all', []])
  })

  it('asks another when one has no room or cannot be reached, the same again later, and never who refused', () => {
    const parking = away({ x: '', y: '', z: '' })
    assert.deepEqual(shown(parking.orders([A], 0)), ['A x', 'A y'])
    parking.answered({ replica: A, peer: 'x' }, 'missed', 0)
    assert.deepEqual(shown(parking.orders([A], 0)), ['A z'])
    parking.answered({ replica: A, peer: 'y' }, 'full', 0)
    parking.answered({ replica: A, peer: 'z' }, 'refused', 0)
    assert.deepEqual([shown(parking.orders([A], PARK_MISSED_MS - 1)), parking.progress([A], PARK_MISSED_MS - 1)], [[], 'none'])
    assert.deepEqual(shown(parking.orders([A], PARK_MISSED_MS)), ['A x'])
    parking.answered({ replica: A, peer: 'x' }, 'kept', PARK_MISSED_MS)
    assert.deepEqual(shown(parking.orders([A], PARK_AGAIN_MS)), ['A y'])
    parking.answered({ replica: A, peer: 'y' }, 'refused', PARK_AGAIN_MS)
    assert.deepEqual(shown(parking.orders([A], 1e15)), [])
  })

  it('whatever is answered: few are asked at once, each once at a time, and nothing is left with more than two', () => {
    const act = fc.record({ pick: fc.nat(), code: fc.constantFrom('kept', 'kept', 'full', 'busy', 'off', 'refused', 'missed'), passes: fc.nat(PARK_AGAIN_MS) })
    fc.assert(
      fc.property(fc.nat(8), fc.nat(5), fc.array(act, { maxLength: 80 }), (peers, results, acts) => {
        const parking = away(Object.fromEntries(Array.from({ length: peers }, (_, index) => [`p${index}`, `${index % 3}`])))
        const ids = Array.from({ length: results }, (_, index) => replicaOf(index))
        const open: Order[] = []
        const kept = new Map<string, Set<string>>()
        let nowMs = AFTER
        for (const { pick, code, passes } of acts) {
          const orders = parking.orders(ids, nowMs)
          for (const order of orders) {
            assert.ok(open.every(({ peer }) => peer !== order.peer))
            assert.ok(kept.get(order.replica)?.has(order.peer) !== true)
            open.push(order)
          }
          assert.ok(open.length <= PARKING_AT_ONCE)
          const [one] = open.splice(pick % Math.max(1, open.length), 1)
          nowMs += passes
          if (one === undefined) continue
          parking.answered(one, code, nowMs)
          if (code === 'kept') kept.set(one.replica, (kept.get(one.replica) ?? new Set()).add(one.peer))
          assert.ok([...kept.values()].every(({ size }) => size <= PARK_COPIES))
        }
        if (open.length === 0 && ids.length > 0 && parking.progress(ids, nowMs) === 'all') for (const id of ids) assert.equal(kept.get(id)?.size, PARK_COPIES)
      })
    )
  })
})
