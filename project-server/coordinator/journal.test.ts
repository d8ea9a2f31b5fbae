import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { decodeEntry, Journal } from './journal.ts'
import { JOURNAL_MOVES_MAX } from './policy.ts'

it('what happened reads as it was told, and is numbered on over restarts', () => {
  const id = fc.constantFrom('a', 'b', 'peer 1')
  const text = fc.option(fc.constantFrom('why', 'no'))
  const move = fc.record({ kind: fc.constantFrom('batch', 'task', 'replica', 'node'), id, index: fc.nat(), node: id, state: id, detail: text, actor: text })
  fc.assert(
    fc.property(fc.array(fc.array(move, { minLength: 1 })), (commits) => {
      let journal = new Journal()
      const kept: number[] = []
      let number = 0
      for (const moves of commits) {
        for (const [at, { kind, id, index, node, state, detail, actor }] of moves.entries()) {
          journal.because('kill', actor, 1_000 + at)
          if (kind === 'batch') journal.batch(id, state, detail)
          else if (kind === 'task') journal.task(id, index, state, detail)
          else if (kind === 'replica') journal.replica(id, index, 3, node, state, detail)
          else journal.node(id, state, detail)
        }
        const entry = journal.take()
        assert.ok(entry !== undefined)
        assert.deepEqual(
          decodeEntry(entry.first, entry.value),
          moves.map(({ kind, id, index, node, state, detail, actor }, at) => ({
            number: ++number,
            atMs: 1_000 + at,
            kind,
            id: kind === 'task' ? `${id}.${index}` : kind === 'replica' ? `${id}.${index}.3` : id,
            state,
            cause: 'kill',
            ...(kind === 'replica' ? { node } : {}),
            ...(actor === null ? {} : { actor }),
            ...(detail === null ? {} : { detail })
          }))
        )
        kept.push(entry.first)
        // The next life goes on where this one ended.
        journal = new Journal()
        journal.loaded([...kept], entry.value)
      }
      assert.equal(journal.take(), undefined)
    })
  )
})

it('keeps a bounded number of moves, and names each entry that goes once', () => {
  const journal = new Journal()
  const kept = new Map<number, number>()
  for (let commit = 0; commit < 1_000; commit++) {
    const count = 1 + ((commit * 7919) % 1_000)
    for (let at = 0; at < count; at++) journal.task('a', at, 'ready')
    const entry = journal.take()
    assert.ok(entry !== undefined)
    kept.set(entry.first, count)
    for (const first of entry.gone) assert.ok(kept.delete(first), `${first} went twice`)
    const moves = [...kept.values()].reduce((sum, one) => sum + one, 0)
    assert.ok(moves < JOURNAL_MOVES_MAX + 1_000, `${moves} are kept`)
    if (entry.gone.length > 0) assert.ok(moves >= JOURNAL_MOVES_MAX, `only ${moves} are kept`)
  }
})
