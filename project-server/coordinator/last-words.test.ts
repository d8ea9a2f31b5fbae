import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, offer, plainBundle } from '#test/support/coordinator-parts'
import { decodeLastWords, LAST_WORDS_PREFIX, LastWords, lastWordsKey } from './last-words.ts'
import { LAST_WORDS_KEPT_MAX, LAST_WORDS_OF_NODE_MAX } from './policy.ts'

const replica = (index: number): string => `${'a'.repeat(26)}.${index}.1`

describe('last words of nodes', () => {
  it('are at most so many of one node: its oldest go', () => {
    const words = new LastWords()
    const keys = Array.from({ length: LAST_WORDS_OF_NODE_MAX + 2 }, (_, index) => lastWordsKey('ann', replica(index)))
    words.add(lastWordsKey('bob', replica(0)))
    assert.deepEqual(
      keys.flatMap((key) => words.add(key)),
      keys.slice(0, 2)
    )
    assert.ok(words.has(lastWordsKey('bob', replica(0))))
    assert.ok(keys.slice(2).every((key) => words.has(key)))
  })

  it('are at most so many in all: the oldest go, whoever said them', () => {
    const words = new LastWords()
    const first = lastWordsKey('node0', replica(0))
    for (let index = 0; index < LAST_WORDS_KEPT_MAX; index += 1) assert.deepEqual(words.add(lastWordsKey(`node${index}`, replica(0))), [])
    assert.deepEqual(words.add(lastWordsKey('one more', replica(0))), [first])
  })

  it('are forgotten as they are told to be, whatever comes in which order', () => {
    const said = fc.array(fc.tuple(fc.constantFrom('ann', 'bob', 'cid'), fc.nat({ max: 30 })), { maxLength: 200 })
    fc.assert(
      fc.property(said, (all) => {
        const words = new LastWords()
        const stored = new Set<string>()
        for (const [node, index] of all) {
          const key = lastWordsKey(node, replica(index))
          if (words.has(key)) continue
          stored.add(key)
          for (const old of words.add(key)) assert.ok(stored.delete(old))
        }
        assert.equal(words.size, stored.size)
        for (const key of stored) assert.ok(words.has(key))
        for (const node of ['ann', 'bob', 'cid'])
          assert.ok([...stored].filter((key) => key.startsWith(`${LAST_WORDS_PREFIX}${node}/`)).length <= LAST_WORDS_OF_NODE_MAX)
      })
    )
  })
})

describe('what a node says after a crash', () => {
  const T = `${batchId(1)}.0`
  const textOf = (world: CoordinatorWorld, node: string, replica: string): string | undefined => {
    const bytes = world.store.peek(lastWordsKey(node, replica))
    return bytes === undefined ? undefined : decodeLastWords(bytes).log
  }

  it('is kept of what it lost, once, over restarts; of what others had it is not', async () => {
    const world = await new CoordinatorWorld().start()
    const a = world.join('a', offer(1))
    world.join('b', offer(1))
    world.submit(batchId(1), [plainBundle('1')], { minQuorum: 2, targetResults: 2 })
    assert.equal(world.states(T), 'a running, b running')
    world.giveBack(a, `${T}.1`, 'node', 'lost')
    world.apply({ kind: 'crashed', node: 'a', replicas: [1, 2].map((attempt) => ({ replica: `${T}.${attempt}`, log: 'no memory' })) })
    assert.equal(textOf(world, 'a', `${T}.1`), 'no memory')
    assert.equal(textOf(world, 'a', `${T}.2`), undefined)
    await world.start()
    world.join('a', offer(1))
    world.apply({ kind: 'crashed', node: 'a', replicas: [{ replica: `${T}.1`, log: 'another story' }] })
    assert.equal(textOf(world, 'a', `${T}.1`), 'no memory')
  })

  it('is kept of a task that ended by its crash, and of no such task from a node that never lost one', async () => {
    const world = await new CoordinatorWorld().start()
    const a = world.join('a', offer(1))
    world.submit(batchId(1), [plainBundle('1')], { minQuorum: 1, targetResults: 1, maxErrorResults: 1 })
    world.giveBack(a, `${T}.1`, 'node', 'lost')
    assert.equal(world.record(T).state, 'failed')
    world.join('b', offer(1))
    for (const node of ['a', 'b']) world.apply({ kind: 'crashed', node, replicas: [{ replica: `${T}.1`, log: 'no memory' }] })
    assert.equal(textOf(world, 'a', `${T}.1`), 'no memory')
    assert.equal(textOf(world, 'b', `${T}.1`), undefined)
  })
})
