import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { BatchView } from '#protocol/owner/messages'
import { until } from '#test/support/until'
import { WATCH_MS } from '../policy.ts'
import { ManualClock } from '../testing/manual-clock.ts'
import { Changes } from './changes.ts'
import { DataNames } from './data.ts'
import type { Views } from './views.ts'
import { watch } from './watch.ts'

const ID = 'a'.repeat(26)

function setUp() {
  const clock = new ManualClock()
  const changes = new Changes()
  const view = { id: ID, name: '', createdAtMs: 0, tasks: 2, created: 2, running: 0, validating: 0, ready: 0, failed: 0, killed: 0 }
  const views = { batch: async () => ({ ...view }), batchesByName: async () => [], batchesByPrefix: async () => [] } as unknown as Views
  const seen: BatchView[] = []
  const abort = new AbortController()
  const open = { client: 'c', signal: abort.signal, part: async ({ body }: { body?: unknown }) => void seen.push(body as BatchView) }
  return { clock, changes, view, seen, abort, watching: watch(ID, open, { views, data: new DataNames().of('c'), changes, clock }) }
}

describe('watching a batch', () => {
  it('tells each change, ten times a second at most, and ends when nothing is left to decide', async () => {
    const { clock, changes, view, seen, watching } = setUp()
    await until('the first view', () => seen.length === 1 && clock.waiting === 1)
    view.created = 1
    for (let i = 0; i < 50; i++) changes.changed(ID)
    clock.forward(WATCH_MS)
    await until('the second view', () => seen.length === 2 && clock.waiting === 1)
    clock.forward(WATCH_MS * 10)
    view.created = 0
    view.ready = 2
    changes.changed(ID)
    assert.equal((await watching).ready, 2)
    assert.equal(seen.length, 2)
  })

  it('ends when the client gives up', async () => {
    const { clock, abort, seen, watching } = setUp()
    await until('the first view', () => seen.length === 1 && clock.waiting === 1)
    abort.abort()
    await assert.rejects(watching, { code: 'unavailable' })
    assert.equal(clock.waiting, 0)
  })
})
