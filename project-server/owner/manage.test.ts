import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Manage } from '#protocol/owner/messages'
import { batchId, bundle, CoordinatorWorld } from '#test/support/coordinator'
import { DataNames } from './data.ts'
import { manage } from './manage.ts'
import { storeViews } from './store-views.ts'

const A = batchId(1)
const T = `${A}.0`
const ONE = { minQuorum: 1, targetResults: 1 }

/** A project whose owner is answered as over the network. */
async function setUp() {
  const at = await new CoordinatorWorld().start()
  const views = storeViews(at.store, at.coordinator, { client: 'owner', all: false })
  const ports = { views, data: new DataNames().of('owner'), committer: { commit: async (event: Parameters<typeof at.apply>[0]) => at.apply(event) } }
  const open = { client: 'owner', signal: new AbortController().signal, part: async () => {} }
  const ask = (change: Partial<Manage>) => manage({ verb: 'hold', of: A, reason: '', stop: false, dryRun: false, ...change }, open, ports)
  return { at, views, ask }
}

describe('owner', () => {
  it('holds and releases what it names, and sees by whom and why it is held', async () => {
    const { at, views, ask } = await setUp()
    at.submit(A, [bundle('x'), bundle('y')], ONE)
    assert.deepEqual(await ask({ reason: 'r'.repeat(300) }), { targets: [{ kind: 'batch', id: A }] })
    const held = { by: 'owner', reason: 'r'.repeat(200), atMs: at.nowMs }
    assert.deepEqual([(await views.batch(A))?.held, (await views.task(T))?.held, (await views.why(T))?.held], [held, held, held])
    await ask({ verb: 'release', of: 'a batch' })
    assert.deepEqual([(await views.batch(A))?.held, (await views.task(T))?.held], [undefined, undefined])
    await ask({ of: T })
    assert.deepEqual(
      (await views.tasks(A, { limit: 9, after: '' })).map((task) => task.held?.by),
      ['owner', undefined]
    )
  })

  it('is told what it would do, and nothing is done', async () => {
    const { at, views, ask } = await setUp()
    at.submit(A, [bundle('x')], ONE)
    assert.deepEqual(await ask({ of: T, dryRun: true }), { targets: [{ kind: 'task', id: T }] })
    assert.equal((await views.task(T))?.held, undefined)
  })

  it('is refused what makes no sense, with what does', async () => {
    const { at, ask } = await setUp()
    at.submit(A, [bundle('x'), bundle('y')], ONE)
    await ask({})
    await assert.rejects(ask({ verb: 'release', of: T }), { code: 'not_running', message: /with its batch/ })
    await assert.rejects(ask({ verb: 'sing' }), { code: 'malformed' })
    await assert.rejects(ask({ of: 'nobody' }), { code: 'not_found' })
    at.apply({ kind: 'kill', batch: A, task: T, by: 'owner' })
    await assert.rejects(ask({ of: T }), { code: 'not_running' })
    at.apply({ kind: 'kill', batch: A, by: 'owner' })
    await assert.rejects(ask({ verb: 'release' }), { code: 'not_running', message: /is over/ })
  })
})
