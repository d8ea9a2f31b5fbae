import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { ComparingLine } from './comparing-line.ts'

interface Wish {
  readonly task: string
  readonly client: string
}

it('takes what waits once each: of one client in order, and no client twice while another waits that was there before', () => {
  const wish = fc.nat({ max: 30 }).map((task): Wish => ({ task: `t${task}`, client: `c${task % 4}` }))
  const act = fc.oneof(fc.record({ kind: fc.constantFrom('add' as const, 'delete' as const), wish }), fc.constant({ kind: 'take' as const }))
  fc.assert(
    fc.property(fc.array(act, { maxLength: 120 }), (acts) => {
      const line = new ComparingLine<Wish>()
      /** A model: the wishes in order, and when each client was served last. */
      let waiting: Wish[] = []
      let since = new Map<string, number>()
      for (const [now, one] of acts.entries()) {
        if (one.kind === 'take') {
          const [turn] = [...since].sort(([, a], [, b]) => a - b)
          const expected = waiting.find(({ client }) => client === turn?.[0])
          assert.deepEqual(line.take(), expected)
          waiting = waiting.filter((other) => other !== expected)
          if (expected !== undefined) since.set(expected.client, now)
        } else {
          waiting = waiting.filter(({ task }) => task !== one.wish.task)
          if (!waiting.some(({ client }) => client === one.wish.client)) since.delete(one.wish.client)
          if (one.kind === 'delete') line.delete(one.wish.task)
          else {
            line.add(one.wish)
            waiting.push(one.wish)
            if (!since.has(one.wish.client)) since.set(one.wish.client, now)
          }
        }
        since = new Map([...since].filter(([client]) => waiting.some((other) => other.client === client)))
        for (let task = 0; task <= 30; task++)
          assert.equal(
            line.has(`t${task}`),
            waiting.some((other) => other.task === `t${task}`)
          )
      }
      line.clear()
      assert.equal(line.take(), undefined)
    })
  )
})
