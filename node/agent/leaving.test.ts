import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { type Affairs, Leaving } from './leaving.ts'
import { BYE_MS, DRAIN_RELEASE_MS, PARK_LEAVE_MS, PARK_QUIT_MS } from './policy.ts'

const IDLE: Affairs = { waits: true, atWork: false, saves: false, settled: false, released: false, parked: 'none', connected: true }

describe('a node that goes', () => {
  it('says good-bye at once when nothing holds it, and may go when that is known', () => {
    const leaving = new Leaving()
    const affairs = { ...IDLE, settled: true, released: true }
    assert.equal(leaving.next(affairs, 0), 'bye')
    assert.equal(leaving.next(affairs, 0), undefined)
    leaving.said()
    assert.equal(leaving.next({ ...affairs, settled: false }, 1), undefined)
    assert.deepEqual([leaving.next(affairs, 2), leaving.next(affairs, 3)], ['done', undefined])
  })

  it('waits for the project, and begins to wait anew when it had work meanwhile', () => {
    const leaving = new Leaving()
    assert.equal(leaving.next(IDLE, 0), undefined)
    assert.equal(leaving.next({ ...IDLE, atWork: true }, 1), undefined)
    assert.equal(leaving.next(IDLE, 2), undefined)
    assert.equal(leaving.next(IDLE, 1 + DRAIN_RELEASE_MS), undefined)
    assert.equal(leaving.next(IDLE, 2 + DRAIN_RELEASE_MS), 'bye')
    assert.equal(leaving.next(IDLE, 2 + DRAIN_RELEASE_MS + BYE_MS), 'done')
  })

  it('is done once and says good-bye once at most, and is done in the end whatever happens', () => {
    const affairs = fc.record({
      waits: fc.boolean(),
      atWork: fc.boolean(),
      saves: fc.boolean(),
      settled: fc.boolean(),
      released: fc.boolean(),
      parked: fc.constantFrom<Affairs['parked']>('all', 'some', 'none'),
      connected: fc.boolean()
    })
    fc.assert(
      fc.property(fc.array(fc.tuple(affairs, fc.nat(5_000)), { maxLength: 50 }), affairs, (steps, last) => {
        const leaving = new Leaving()
        const heard: ('bye' | 'done')[] = []
        let nowMs = 0
        const look = (at: Affairs): void => {
          const next = leaving.next(at, nowMs)
          if (next !== undefined) heard.push(next)
        }
        for (const [at, passMs] of steps) {
          nowMs += passMs
          look(at)
        }
        for (const passMs of [0, Math.max(DRAIN_RELEASE_MS, PARK_LEAVE_MS), Math.max(BYE_MS, PARK_QUIT_MS)]) {
          nowMs += passMs
          look({ ...last, atWork: false, saves: false })
        }
        assert.deepEqual(heard, heard.length === 1 ? ['done'] : ['bye', 'done'])
      })
    )
  })
})
