import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { TURN_MS_MIN, TURN_TREES_MAX, TURNS_AT_NODE, TURNS_AT_PROJECT } from './policy.ts'
import { Turns } from './turns.ts'

const always = (): boolean => true

function ask(
  turns: Turns,
  node: string,
  holders: readonly string[] = [],
  more: Partial<Parameters<Turns['ask']>[0]> = {},
  nowMs = 0
): string | null | undefined {
  return turns.ask({ root: 'tree', bytes: 1, node, holders, isFetching: always, canReach: always, ...more }, nowMs)
}

describe('D11: whose turn it is to fetch what many need', () => {
  it('two fetch from the project, others wait for one who has it; who has it gives it to two at a time', () => {
    const turns = new Turns()
    assert.deepEqual(
      ['a', 'b', 'c'].map((node) => ask(turns, node)),
      [null, null, undefined]
    )
    assert.deepEqual(
      ['c', 'd', 'e'].map((node) => ask(turns, node, ['a'])),
      ['a', 'a', undefined]
    )
    assert.equal(ask(turns, 'e', ['a', 'b']), 'b')
    assert.equal(ask(turns, 'f', [], { isFetching: (node) => node !== 'a' }), null)
  })

  it('who asks again has given its turn back; who takes too long, or does not need it any more, has lost it', () => {
    const turns = new Turns()
    for (let times = 0; times < 5; times++) assert.equal(ask(turns, 'a'), null)
    ask(turns, 'b')
    assert.equal(ask(turns, 'c', [], {}, TURN_MS_MIN - 1), undefined)
    assert.equal(ask(turns, 'c', [], {}, TURN_MS_MIN), null)
    turns.leave('tree', 'c')
    assert.equal(turns.trees, 0)
  })

  it('nobody waits for those whom it cannot reach, and no more trees are remembered than are bounded', () => {
    const turns = new Turns()
    for (const node of ['a', 'b', 'c', 'd']) assert.equal(ask(turns, node, [], { canReach: () => false }), null)
    for (let tree = 0; tree < 2 * TURN_TREES_MAX; tree++) ask(turns, 'a', [], { root: `${tree}` })
    assert.equal(turns.trees, TURN_TREES_MAX)
  })

  it('in rounds all have it, and the project gave it a few times, however many they are', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), (count) => {
        const turns = new Turns()
        const has = new Set<string>()
        let waiting = Array.from({ length: count }, (_, index) => `n${index}`)
        let fromProject = 0
        let rounds = 0
        while (waiting.length > 0) {
          const given = new Map<string, number>()
          const now = waiting.filter((node) => {
            const from = ask(turns, node, [...has], { isFetching: (one) => !has.has(one) })
            if (typeof from === 'string') given.set(from, (given.get(from) ?? 0) + 1)
            if (from === null) fromProject++
            return from !== undefined
          })
          assert.ok([...given.values()].every((children) => children <= TURNS_AT_NODE))
          for (const node of now) has.add(node)
          waiting = waiting.filter((node) => !has.has(node))
          rounds++
        }
        assert.ok(rounds <= 2 + Math.log2(count + 1))
        assert.ok(fromProject <= TURNS_AT_PROJECT)
      })
    )
  })
})
