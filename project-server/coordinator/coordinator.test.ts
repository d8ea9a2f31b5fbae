import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { batchId, bundle, CoordinatorWorld } from '#test/support/coordinator'
import { decodeTaskRecord, taskKey } from './records.ts'

const A = batchId(1)

async function world(): Promise<CoordinatorWorld> {
  return new CoordinatorWorld().start()
}

/** As it is stored when it is terminal, as it is in memory before. */
function status(at: CoordinatorWorld, task: string): string {
  const live = at.coordinator.task(task)
  if (live !== undefined) return live.state
  const bytes = at.store.peek(taskKey(task))
  return bytes === undefined ? 'unknown' : decodeTaskRecord(bytes).state
}

describe('a task', () => {
  it('is leased, started, agreed on by two and ready', async () => {
    const at = await world()
    const ann = at.join('ann')
    const bob = at.join('bob')
    at.submit(A, [bundle('x')])
    assert.deepEqual([...ann.leases.keys()], [`${A}.0.1`])
    assert.deepEqual([...bob.leases.keys()], [`${A}.0.2`])
    at.work(ann, { output: 'four' })
    assert.equal(status(at, `${A}.0`), 'running')
    at.work(bob, { output: 'four' })
    assert.equal(status(at, `${A}.0`), 'ready')
    assert.deepEqual(at.receipts.get(`${A}.0`)?.results.length, 2)
    assert.deepEqual(ann.released, [`${A}.0.1`])
  })
})
