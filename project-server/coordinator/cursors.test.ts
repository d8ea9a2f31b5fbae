import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Cursors } from './cursors.ts'

describe('cursors', () => {
  it('are what they were if every one beyond a task were set back to it at once', () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('set' as const), node: fc.nat(4), order: fc.nat(99) }),
      fc.record({ kind: fc.constant('back' as const), order: fc.nat(99) })
    )
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const cursors = new Cursors()
        const plain = [0, 0, 0, 0, 0]
        for (const one of steps) {
          if (one.kind === 'set') {
            cursors.set(`${one.node}`, one.order)
            plain[one.node] = one.order
          } else {
            cursors.setBack(one.order)
            for (const [node, order] of plain.entries()) plain[node] = Math.min(order, one.order)
          }
          assert.deepEqual(
            plain.map((_, node) => cursors.get(`${node}`)),
            plain
          )
        }
      })
    )
  })

  it('stay right over many set-backs', () => {
    const cursors = new Cursors()
    cursors.set('slow', 5)
    for (let order = 10; order < 10_000; order++) {
      cursors.set('fast', order + 1)
      cursors.setBack(order)
      assert.deepEqual([cursors.get('slow'), cursors.get('fast')], [5, order])
    }
  })
})
