import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { offer } from '#test/support/coordinator-parts'
import { NodeLists, newNode } from './node.ts'
import { Watch } from './watch.ts'

describe('the watch', () => {
  it('gives every node when something of it may be over, half a second later at most, and once', () => {
    const step = fc.record({ passMs: fc.nat(2_000), file: fc.array(fc.record({ node: fc.nat(9), inMs: fc.nat(5_000) }), { maxLength: 5 }) })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
        const watch = new Watch()
        const nodes = Array.from({ length: 10 }, (_, index) => newNode(new NodeLists(), `node ${index}`, offer(1), 0))
        const dueMs = nodes.map(() => Number.POSITIVE_INFINITY)
        let nowMs = 1_000_000
        for (const { passMs, file } of steps) {
          for (const { node, inMs } of file) {
            watch.at(nodes[node] ?? assert.fail(), nowMs + inMs)
            dueMs[node] = Math.min(dueMs[node] ?? 0, nowMs + inMs)
          }
          nowMs += passMs
          const taken = watch.take(nowMs).map(({ id }) => Number(id.slice('node '.length)))
          assert.equal(new Set(taken).size, taken.length)
          for (const [node, due] of dueMs.entries()) {
            if (taken.includes(node)) assert.ok(due <= nowMs)
            else assert.ok(due > nowMs - 500)
          }
          for (const node of taken) dueMs[node] = Number.POSITIVE_INFINITY
        }
      })
    )
  })

  it('gives who has days every half a day until then', () => {
    const watch = new Watch()
    const node = newNode(new NodeLists(), 'ann', offer(1), 0)
    const dueMs = 7 * 86_400_000
    const taken: number[] = []
    for (let nowMs = 0; nowMs <= dueMs; nowMs += 1_800_000) {
      if (watch.take(nowMs).length > 0) taken.push(nowMs)
      watch.at(node, dueMs)
    }
    assert.deepEqual(taken.slice(0, 3), [43_200_000, 86_400_000, 129_600_000])
    assert.equal(taken.at(-1), dueMs)
  })

  it('gives all that are filed when the clock was set back', () => {
    const watch = new Watch()
    const [ann, bob] = [newNode(new NodeLists(), 'ann', offer(1), 0), newNode(new NodeLists(), 'bob', offer(1), 0)]
    watch.at(ann, 7_200_000)
    watch.at(bob, 7_200_000)
    assert.deepEqual(watch.take(7_100_000), [])
    assert.ok(watch.isBefore(3_600_000))
    assert.deepEqual(watch.take(3_600_000), [ann, bob])
    assert.deepEqual(watch.take(3_600_500), [])
  })
})
