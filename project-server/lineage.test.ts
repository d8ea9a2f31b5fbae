import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CID } from 'multiformats/cid'
import { encodeManifest, manifestCidText, type RunManifest } from '#protocol/bundle/manifest'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, bundle, offer, outputOf } from '#test/support/coordinator-parts'
import { MemoryStore } from '../sim/store.ts'
import { encodeDoneRecord } from './coordinator/bundle-records.ts'
import { fromKey } from './coordinator/keys.ts'
import { takeLost } from './lineage.ts'

const DATA = outputOf('data')
const LOST = outputOf('lost')
const OTHER = outputOf('left by another')
const TASK = `${batchId(1)}.3`

function setUp() {
  const store = new MemoryStore()
  store.write(0, [
    { key: fromKey('owner', LOST.toString()), value: encodeDoneRecord(TASK) },
    { key: fromKey('another', OTHER.toString()), value: encodeDoneRecord(TASK) }
  ])
  let looks = 0
  const content = {
    check: async (root: CID) => {
      looks++
      return root.equals(DATA)
    },
    locate: (_root: CID, path?: string) => (path === 'here' ? '/x' : undefined),
    resolve: (root: CID) => root,
    sizeOf: () => 3
  }
  const take = (change: Partial<RunManifest>) => takeLost(bundle('x', change), 'owner', { content, store })
  return { take, looks: () => looks }
}

const input = (root: CID, more: Partial<RunManifest['dependencies'][number]> = {}) => ({ name: 'in', root, path: '', executables: [], ...more })

describe('what a bundle names as data', () => {
  it('stays as it is while it is here, each looked at once', async () => {
    const { take, looks } = setUp()
    const dependencies = [input(DATA, { path: 'here' }), input(DATA, { name: 'again', path: 'here' })]
    const { bundle: same, list } = await take({ dependencies })
    assert.deepEqual([same.cid, list], [bundle('x', { dependencies }).cid, []])
    assert.equal(looks(), 1)
  })

  it('is taken from the task that left it when it is gone', async () => {
    const { take } = setUp()
    const { bundle: bare, list } = await take({ dependencies: [input(LOST, { path: 'a/b' }), input(DATA, { name: 'kept' })] })
    assert.deepEqual(list, [{ name: 'in', of: TASK, from: 0, count: 0, part: 'output', path: 'a/b' }])
    assert.deepEqual(
      bare.manifest.dependencies.map(({ name }) => name),
      ['kept']
    )
    assert.equal(bare.cid, manifestCidText(encodeManifest(bare.manifest)))
    assert.deepEqual(bare.data, [{ root: DATA.toString(), within: null, bytes: 3 }])
  })

  it('is refused by name when nobody can compute it again: uploaded, left for another client, or brought with executables', async () => {
    const { take } = setUp()
    const cases: readonly [Partial<RunManifest>, RegExp][] = [
      [{ dependencies: [input(outputOf('uploaded'))] }, /the data of input in, .*: upload it first/],
      [{ dependencies: [input(OTHER)] }, /upload it first/],
      [{ dependencies: [input(LOST, { executables: ['run.sh'] })] }, /upload it first/],
      [{ engine: 'docker', image: LOST }, /image .*: import it first/],
      [{ dependencies: [input(DATA, { path: 'gone' })] }, /has no gone/]
    ]
    for (const [change, message] of cases) await assert.rejects(take(change), { code: 'missing_content', message })
  })

  it('is known by the newest task of its client that left it and is ready', async () => {
    const at = await new CoordinatorWorld().start()
    const node = at.join('n', offer(1))
    for (const id of [1, 2]) {
      at.submit(batchId(id), [bundle('x')], { minQuorum: 1, targetResults: 1, force: true })
      at.work(node, { output: 'left' })
    }
    assert.deepEqual(at.store.peek(fromKey('owner', outputOf('left').toString())), encodeDoneRecord(`${batchId(2)}.0`))
  })
})
