import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { PROFILES } from '../faults/profiles.ts'
import { drawStackCase } from '../stack/case.ts'
import { parseCase } from './case-file.ts'

describe('the file of a case', () => {
  it('is read as it was written, whatever the seed, and whatever was found before', () => {
    for (const { draw } of Object.values(PROFILES))
      for (let seed = 1; seed <= 30; seed++) {
        const one = draw(seed)
        assert.deepEqual(parseCase(JSON.stringify(one)), { level: 'protocol', case: JSON.parse(JSON.stringify(one)) })
      }
    for (let seed = 1; seed <= 30; seed++) {
      const one = drawStackCase(seed, 8 + seed)
      assert.deepEqual(parseCase(JSON.stringify(one)), { level: 'stack', case: one })
    }
    const found = readFileSync(join(import.meta.dirname, '..', 'regressions.jsonl'), 'utf8')
      .trim()
      .split('\n')
    for (const line of found) parseCase(JSON.stringify(JSON.parse(line).case))
  })

  it('is refused with what is wrong, and where', () => {
    const node = { name: 'n', role: 'honest', slots: 1, delayMs: 0, jitterMs: 0, loss: 0, patienceMs: 1, clockOffsetMs: 0, clockPerMille: 1000, joinsMs: 0 }
    const task = { kind: 'plain', name: 't', runMs: 1, needsInput: false }
    const batch = { atMs: 0, parts: 1, tasks: [task], policy: {} }
    const good = { seed: 1, nodes: [node], hostile: 0, batches: [batch], faults: [], faultsMs: 1000 }
    parseCase(JSON.stringify(good))
    const refusals: readonly (readonly [changes: object, says: string])[] = [
      [{ seed: 'x' }, 'seed: a whole number is expected, not "x"'],
      [{ nodes: undefined }, 'nodes: a list is expected, not nothing'],
      [{ nodes: [7] }, 'nodes[0]: a map is expected, not 7'],
      [{ nodes: [node, { ...node, role: 'good' }] }, 'nodes[1].role: one of honest, wrong, colluding, copying is expected, not "good"'],
      [{ nodes: [{ ...node, unruly: { lost: 2 } }] }, 'nodes[0].unruly.lost: a share from 0 to 1 is expected, not 2'],
      [{ batches: [{ ...batch, tasks: [{ ...task, runMs: -1 }] }] }, 'batches[0].tasks[0].runMs: a whole number from 0 is expected, not -1'],
      [{ batches: [{ ...batch, policy: { minQuorum: 3, targetResults: 2 } }] }, 'batches[0].policy: the target of 2 replicas cannot reach a quorum of 3'],
      [{ batches: [{ ...batch, policy: null }] }, 'batches[0].policy: a map is expected, not null']
    ]
    for (const [changes, says] of refusals) assert.throws(() => parseCase(JSON.stringify({ ...good, ...changes })), { message: says })
    const unknown = { ...good, faults: [{ atMs: 0, kind: 'rain', target: 0, forMs: 0, amount: 0 }] }
    assert.throws(() => parseCase(JSON.stringify(unknown)), /^Error: faults\[0\]\.kind: one of cut, .* is expected, not "rain"$/)
    const stack = drawStackCase(1, 8)
    const stackRefusals: readonly (readonly [changes: object, says: RegExp])[] = [
      [{ keepers: stack.keepers.slice(1) }, /^Error: keepers: 3 at least are expected, not 2$/],
      [{ keepers: [7] }, /^Error: keepers\[0\]: a map is expected, not 7$/],
      [{ server: undefined }, /^Error: server: a map is expected, not nothing$/],
      [{ pinned: [0, 'x'] }, /^Error: pinned\[1\]: a whole number from 0 is expected, not "x"$/],
      // Of the other level.
      [
        { faults: [{ atMs: 0, kind: 'disk_full', target: 0, forMs: 0, amount: 0 }] },
        /^Error: faults\[0\]\.kind: one of cut, cut_unheard, .* is expected, not "disk_full"$/
      ]
    ]
    for (const [changes, says] of stackRefusals) assert.throws(() => parseCase(JSON.stringify({ ...stack, ...changes })), says)
  })
})
