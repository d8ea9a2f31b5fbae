import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { Neighbours } from './neighbours.ts'

const SECRET = Uint8Array.of(1, 2, 3)
const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 8 }), { minLength: 1, maxLength: 40 })
const everybody = { max: 6, looked: 100, isFit: () => true }

function ringOf(nodes: readonly string[], secret = SECRET): Neighbours {
  const ring = new Neighbours(secret)
  for (const node of nodes) ring.add(node)
  return ring
}

describe('the neighbours of a node', () => {
  it('are others, each once, the same whatever order they came in', () => {
    fc.assert(
      fc.property(names, (nodes) => {
        const ring = ringOf([...nodes, ...nodes])
        const reversed = ringOf([...nodes].reverse())
        for (const node of nodes) {
          const found = ring.of(node, everybody)
          assert.equal(found.length, Math.min(6, nodes.length - 1))
          assert.equal(new Set(found).size, found.length)
          assert.ok(!found.includes(node))
          assert.deepEqual(reversed.of(node, everybody), found)
        }
      })
    )
  })

  it('change by one at most when one comes or goes', () => {
    fc.assert(
      fc.property(names, fc.string({ minLength: 9, maxLength: 9 }), (nodes, other) => {
        const ring = ringOf(nodes)
        const before = nodes.map((node) => ring.of(node, everybody))
        ring.add(other)
        for (const [index, node] of nodes.entries()) assert.ok(ring.of(node, everybody).filter((peer) => before[index]?.includes(peer) !== true).length <= 1)
        ring.remove(other)
        assert.deepEqual(
          nodes.map((node) => ring.of(node, everybody)),
          before
        )
      })
    )
  })

  it('are those that are fit, and no more are looked at than may be', () => {
    const nodes = Array.from({ length: 50 }, (_, index) => `node ${index}`)
    const ring = ringOf(nodes)
    const looked: string[] = []
    const found = ring.of('node 0', { max: 3, looked: 10, isFit: (node) => looked.push(node) % 2 === 0 })
    assert.equal(found.length, 3)
    assert.deepEqual(ring.of('node 0', { max: 3, looked: 10, isFit: () => false }), [])
    assert.notDeepEqual(ringOf(nodes, Uint8Array.of(9)).of('node 0', everybody), ring.of('node 0', everybody))
  })
})
