import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { OldestFirst } from './oldest-first.ts'

type Kind = 'set' | 'renew' | 'delete' | 'take' | 'keep' | 'clear'

describe('a map that gives up the oldest', () => {
  it('does so whatever was set, set again and deleted before', () => {
    const key = fc.nat(12)
    const kinds: readonly Kind[] = ['set', 'set', 'renew', 'delete', 'take', 'keep', 'clear']
    const step = fc.record({ kind: fc.constantFrom(...kinds), key })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const map = new OldestFirst<number, number>()
        let model: (readonly [number, number])[] = []
        for (const [at, one] of steps.entries()) {
          if (one.kind === 'take') assert.deepEqual(map.takeOldest(), model.shift())
          else if (one.kind === 'keep') {
            const taken = model.slice(0, Math.max(0, model.length - one.key))
            assert.deepEqual(
              map.keep(one.key),
              taken.map(([key]) => key)
            )
            model = model.slice(taken.length)
          } else if (one.kind === 'clear') {
            map.clear()
            model = []
          } else if (one.kind === 'set') {
            map.set(one.key, at)
            model = model.some(([key]) => key === one.key) ? model.map((entry) => (entry[0] === one.key ? [one.key, at] : entry)) : [...model, [one.key, at]]
          } else {
            model = model.filter(([key]) => key !== one.key)
            if (one.kind === 'delete') map.delete(one.key)
            else {
              map.renew(one.key, at)
              model.push([one.key, at])
            }
          }
          assert.deepEqual([...map], model)
        }
      })
    )
  })
})
