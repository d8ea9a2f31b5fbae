import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { offer } from '#test/support/coordinator-parts'
import { KnownNodes } from './known-nodes.ts'
import { NodeLists, newNode } from './node.ts'

it('a node is found by its id, and none by one that is not known, however alike ids end', () => {
  // Short ones and shared endings: many would be at one place.
  const id = fc.oneof(
    fc.tuple(fc.nat(40), fc.constantFrom('', 'x', ' of many', '12D3KooW')).map(([number, ending]) => `${number}${ending}`),
    fc.nat(10_000).map((number) => `12D3KooW${number}`)
  )
  fc.assert(
    fc.property(fc.array(id, { maxLength: 600 }), fc.array(id, { maxLength: 50 }), (joining, asked) => {
      const nodes = new KnownNodes()
      const lists = new NodeLists()
      const all = new Map<string, unknown>()
      for (const one of joining) {
        if (!all.has(one)) {
          const node = newNode(lists, one, offer(1), 0)
          nodes.add(node)
          all.set(one, node)
        }
        assert.equal(nodes.get(one), all.get(one))
      }
      for (const one of [...joining, ...asked]) {
        assert.equal(nodes.get(one), all.get(one))
        assert.equal(nodes.has(one), all.has(one))
      }
      assert.deepEqual([...nodes.keys()], [...all.keys()])
      assert.deepEqual([...nodes.values()], [...all.values()])
      assert.equal(nodes.size, all.size)
    })
  )
})
