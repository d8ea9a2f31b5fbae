import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { SmallMap } from './small-map.ts'

it('answers what a Map does, and in the same order', () => {
  const key = fc.constantFrom('a', 'b', 'c')
  const act = fc.oneof(
    fc.record({ kind: fc.constant('set' as const), key, value: fc.nat(9) }),
    fc.record({ kind: fc.constantFrom('delete' as const, 'clear' as const), key, value: fc.constant(0) })
  )
  fc.assert(
    fc.property(fc.array(act), (acts) => {
      const small = new SmallMap<string, number>()
      const map = new Map<string, number>()
      for (const { kind, key: one, value } of acts) {
        if (kind === 'set') for (const each of [small, map]) each.set(one, value)
        else if (kind === 'delete') assert.equal(small.delete(one), map.delete(one))
        else for (const each of [small, map]) each.clear()
        assert.deepEqual([...small], [...map])
        assert.deepEqual([small.size, small.has(one), small.get(one)], [map.size, map.has(one), map.get(one)])
      }
      assert.deepEqual([small.keys(), small.values()], [[...map.keys()], [...map.values()]])
    })
  )
})
