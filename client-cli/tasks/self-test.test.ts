import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import type { DifferenceView, NodeView, TaskView } from '#protocol/owner/messages'
import { differenceLines, isSame, twoSets } from './self-test.ts'

const node = (id: string, more: Partial<NodeView> = {}): NodeView =>
  ({ id, state: 'online', engines: ['process'], platform: 'linux/amd64', ...more }) as NodeView
const task = (of: string): TaskView => ({ id: 'k.0', output: 'bafy', replicas: [{ node: of, verdict: 'valid' }] }) as unknown as TaskView

describe('F17: a self-test', () => {
  it('is made on two sets of nodes that have nobody in common, for every population', () => {
    const nodes = fc.uniqueArray(fc.integer({ min: 0, max: 300 }), { minLength: 2, maxLength: 200 }).map((ids) => ids.map((id) => node(`${id}`)))
    fc.assert(
      fc.property(nodes, (all) => {
        const [one, two] = twoSets(all, 'process')
        assert.ok(one.length > 0 && two.length > 0 && one.length <= 64 && two.length <= 64)
        assert.deepEqual(
          one.filter((id) => two.includes(id)),
          []
        )
      })
    )
  })

  it('leaves out who agreed already while there are two others, and nodes that cannot run it always', () => {
    const all = [node('a'), node('b'), node('c'), node('gone', { state: 'lost' }), node('docker', { engines: ['docker'] })]
    assert.deepEqual(twoSets(all, 'process', new Set(['a'])), [['b'], ['c']])
    assert.deepEqual(
      twoSets(all, 'process', new Set(['a', 'b']))
        .flat()
        .sort(),
      ['a', 'b', 'c']
    )
    assert.throws(() => twoSets([node('a')], 'process'), /two nodes/)
  })

  it('says which files differ, why, and what to do', () => {
    const rule = '*.csv: rel=0.000001 abs=1e-9'
    const found: DifferenceView = {
      more: false,
      files: [
        { path: 'x/a.csv', what: 'differs', bytesA: 1, bytesB: 1, hint: { kind: 'numbers', message: 'only numbers differ', rule } },
        { path: 'tmp', what: 'only_b', bytesA: 0, bytesB: 2048 }
      ],
      stdout: { path: '', what: 'differs', bytesA: 1, bytesB: 1, hint: { kind: 'time', message: 'line 1: a date' } }
    }
    assert.deepEqual(differenceLines(found, { a: task('ann'), b: task('bob'), compareStdout: true }), [
      'the outputs of ann and bob differ:',
      '  x/a.csv: only numbers differ',
      '  tmp: only the second left it (2.0 KiB)',
      '  what it prints: line 1: a date',
      `numbers that are close agree with --compare "${rule}"`,
      'hosts of one kind mostly agree to the last digit: --same-class cpu',
      'a file that does not matter is left out with --compare "NAME: ignore"',
      'what it prints does not count with --ignore-stdout'
    ])
    assert.deepEqual(differenceLines({ files: [], more: false, near: 2 }, { a: task('ann'), b: task('bob'), compareStdout: true }), [
      `outputs on ann and bob that agree: ${task('ann').output}, 2 files within what --compare allows`
    ])
    assert.equal(isSame({ ...found, files: [] }, false), true)
    assert.equal(isSame({ ...found, files: [] }, true), false)
  })
})
