import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { KnownPairs } from './known-pairs.ts'
import { KNOWN_PAIRS_MAX } from './policy.ts'
import type { Change } from './ports.ts'

/** A store in memory, as far as this needs one. */
function disk() {
  const records = new Map<string, Uint8Array>()
  return {
    records,
    write(changes: readonly Change[]): void {
      for (const { key, value } of changes) value === null ? records.delete(key) : records.set(key, value)
    },
    async *range(from: string, to: string) {
      for (const [key, value] of [...records].sort(([a], [b]) => (a < b ? -1 : 1))) if (key >= from && key < to) yield [key, value] as const
    }
  }
}

it('what a program answered of two outputs is known whichever is named first, over restarts, and of that program alone', async () => {
  const votes = fc.constantFrom('x', 'y', 'z', 'x y')
  const told = fc.array(fc.record({ bundle: fc.constantFrom('p', 'q'), a: votes, b: votes, agree: fc.boolean() }), { maxLength: 30 })
  await fc.assert(
    fc.asyncProperty(told, async (all) => {
      const store = disk()
      const model = new Map<string, boolean>()
      let known = new KnownPairs()
      for (const { bundle, a, b, agree } of all) {
        store.write(known.set(bundle, { a, b, agree }))
        model.set(`${bundle}:${[a, b].sort().join('|')}`, agree)
        if (agree) known = await KnownPairs.load(store)
      }
      for (const bundle of ['p', 'q', 'r'])
        for (const a of ['x', 'y', 'z', 'x y'])
          for (const b of ['x', 'y', 'z', 'x y']) assert.equal(known.get(bundle, a, b), model.get(`${bundle}:${[a, b].sort().join('|')}`))
    }),
    { numRuns: 50 }
  )
})

it('keeps so many answers, and the oldest is forgotten, also on disk', async () => {
  const store = disk()
  const known = new KnownPairs()
  for (let pair = 0; pair <= KNOWN_PAIRS_MAX; pair++) store.write(known.set('p', { a: 'a', b: `b${pair}`, agree: true }))
  assert.equal(store.records.size, KNOWN_PAIRS_MAX)
  const again = await KnownPairs.load(store)
  for (const one of [known, again]) assert.deepEqual([one.get('p', 'a', 'b0'), one.get('p', 'a', 'b1')], [undefined, true])
})
