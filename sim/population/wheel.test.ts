import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { Wheel } from './wheel.ts'

it('gives out each timer at its step, whatever is set, cleared and set anew', () => {
  const order = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('set' as const), timer: fc.nat(20), after: fc.integer({ min: 1, max: 40 }) }) },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const), timer: fc.nat(20) }) },
    { weight: 2, arbitrary: fc.record({ kind: fc.constant('step' as const) }) }
  )
  fc.assert(
    fc.property(fc.array(order, { maxLength: 200 }), (orders) => {
      // A ring of eight: most timers go round several times.
      const wheel = new Wheel(5, 3)
      wheel.grow(21)
      const expected = new Map<number, number>()
      let now = 0
      const step = (): void => {
        now++
        const given: number[] = []
        wheel.give(now, (timer) => given.push(timer))
        const due = [...expected].filter(([, at]) => at === now).map(([timer]) => timer)
        assert.deepEqual(
          given.sort((a, b) => a - b),
          due.sort((a, b) => a - b)
        )
        for (const timer of due) expected.delete(timer)
      }
      for (const one of orders) {
        if (one.kind === 'step') step()
        else if (one.kind === 'clear') {
          wheel.clear(one.timer)
          expected.delete(one.timer)
        } else {
          wheel.set(one.timer, now + one.after)
          expected.set(one.timer, now + one.after)
          assert.equal(wheel.dueAt(one.timer), now + one.after)
        }
        assert.equal(wheel.waiting, expected.size)
      }
      for (let left = 0; left < 41; left++) step()
      assert.equal(wheel.waiting, 0)
    })
  )
})

it('a timer that another one clears or sets anew in the same step is not given out', () => {
  const wheel = new Wheel(3)
  for (const timer of [0, 1, 2]) wheel.set(timer, 5)
  const given: number[] = []
  wheel.give(5, (timer) => {
    given.push(timer)
    wheel.clear((timer + 1) % 3)
    wheel.set((timer + 2) % 3, 6)
  })
  assert.deepEqual(given, [2])
  wheel.give(6, (timer) => given.push(timer))
  assert.deepEqual(given, [2, 1])
})
